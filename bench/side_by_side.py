#!/usr/bin/env python3
"""Two builds side by side: runs a program of bench/ of both alternately, compares the medians of every row, and exits 1
where a row of B is slower than its limit allows.

  side_by_side.py BUILD_A BUILD_B PROGRAM [options] [-- options of the program]
  side_by_side.py before/build build bench_gpu --json speed.json
  side_by_side.py before/build build bench_cpu --rows 'solve|v11' -- --threads 2 --n 128

A round runs A and B once each, and every other round B first. A row's time is the median over the rounds of the program's own
medians. B / A is the ratio of these medians on a GPU. On the host, whose speed drifts, it is the median of the rounds' ratios.
Limits: 1.10 for create, else 1.05 on the host, 1.02 on a GPU from 1 ms up and 1.04 below. What is no time has no limit.
Exit code: 0 all within their limits, 1 a row over or missing in one build, 2 a program failed, 77 no device."""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
KNOWN = {"bench_gpu": "h200.json", "bench_gpu_study": "h200-study.json", "bench_gpu_cublas": "h200-cublas.json",
         "bench_cpu": "cpu.json"}
LIMIT_CREATE, LIMIT_HOST, LIMIT_LONG, LIMIT_SHORT = 1.10, 1.05, 1.02, 1.04
LONG = 1e-3  # seconds from which a row is a long one
SECONDS = {"s": 1, "ms": 1e-3}  # units of time
NO_DEVICE, NO_SUCH_ROW = 77, 2  # exit codes of the programs


def limit_of(program, name, unit, median):
    """The allowed slowdown of a row; None: the row is not a time."""
    if unit not in SECONDS:
        return None
    if name.startswith("create"):
        return LIMIT_CREATE
    if program == "bench_cpu":
        return LIMIT_HOST
    return LIMIT_LONG if median * SECONDS[unit] >= LONG else LIMIT_SHORT


def names_of(program, pattern, results=HERE / "results"):
    """The rows of the program's recorded results whose names the pattern matches."""
    data = json.loads((results / KNOWN[program]).read_text())
    names = [r["name"] for r in data["results"] if re.search(pattern, r["name"])]
    if not names:
        sys.exit(f"side_by_side.py: --rows {pattern}: no row of {results / KNOWN[program]} has such a name")
    return names


def read_rows(path):
    """The file's head, and its measured rows by name. A program that fails in a row says so in the row's status."""
    data = json.loads(path.read_text())
    return data, {r["name"]: r for r in data["results"] if "median" in r}


def run_once(program, build, options, at):
    """One run: its head and rows."""
    command = [str(build / "bench" / program), "--json", str(at), *options]
    at.unlink(missing_ok=True)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == NO_DEVICE:
        print(done.stderr.strip(), file=sys.stderr)
        sys.exit(NO_DEVICE)
    if done.returncode not in (0, NO_SUCH_ROW) or not at.exists():
        print(f"side_by_side.py: {' '.join(command)}: exit code {done.returncode}\n{done.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    return read_rows(at)


def side(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "rounds": values}


def spread(s):
    return (s["max"] - s["min"]) / s["median"] if s["median"] else 0


def ratio_of(program, a, b):
    pairs = list(zip(a["rounds"], b["rounds"]))
    if program == "bench_cpu" and len(a["rounds"]) == len(b["rounds"]) and all(x for x, _ in pairs):
        return statistics.median(y / x for x, y in pairs)
    return b["median"] / a["median"] if a["median"] else 1


def compare(program, rounds):
    """Rows in the order of A's first run, from [(rows of A, rows of B), ...]."""
    names = list(dict.fromkeys(name for both in rounds for rows in both for name in rows))
    compared = []
    for name in names:
        runs = [[both[which][name] for both in rounds if name in both[which]] for which in range(2)]
        row = {"name": name, "unit": (runs[0] or runs[1])[0]["unit"]}
        compared.append(row)
        if not runs[0] or not runs[1]:
            row["missing"] = "b" if runs[0] else "a"
            continue
        a, b = (side([r["median"] for r in which]) for which in runs)
        row.update(a=a, b=b, ratio=ratio_of(program, a, b), spread=max(spread(a), spread(b)))
        row["limit"] = limit_of(program, name, row["unit"], a["median"])
        row["over"] = row["limit"] is not None and row["ratio"] > row["limit"]
        cycles = [sorted({r["cycles"] for r in which if "cycles" in r}) for which in runs]
        if cycles[0] != cycles[1]:
            row["cycles"] = cycles
    return compared


def failed(rows):
    return [r["name"] for r in rows if r.get("over") or "missing" in r]


def verdict(row):
    if "missing" in row:
        return f"not in {row['missing'].upper()}"
    words = ["over" if row["over"] else "ok" if row["limit"] else ""]
    if "cycles" in row:
        a, b = (" or ".join(map(str, c)) for c in row["cycles"])
        words.append(f"cycles {a} -> {b}")
    return ", ".join(w for w in words if w)


def table(rows):
    lines = ["| row | A | B | B / A | spread | limit | |", "|---|---|---|---|---|---|---|"]
    for r in rows:
        if "missing" in r:
            lines.append(f"| `{r['name']}` | | | | | | {verdict(r)} |")
            continue
        limit = f"{r['limit']:.2f}" if r["limit"] else ""
        lines.append(f"| `{r['name']}` | {r['a']['median']:.4g} {r['unit']} | {r['b']['median']:.4g} | {r['ratio']:.3f} "
                     f"| {100 * r['spread']:.1f} % | {limit} | {verdict(r)} |")
    return "\n".join(lines)


def read_options(arguments):
    own, rest = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, rest = arguments[:at], arguments[at + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", type=pathlib.Path, metavar="BUILD_A")
    parser.add_argument("b", type=pathlib.Path, metavar="BUILD_B")
    parser.add_argument("program", choices=KNOWN, metavar="PROGRAM", help=", ".join(KNOWN))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", metavar="REGEX", help="these rows alone, of those in bench/results")
    parser.add_argument("--budget", type=float, metavar="SECONDS",
                        help="no round is begun that would end later; one is run at least")
    parser.add_argument("--commits", metavar="A,B", help="what the builds are of, for the file")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="written after every round")
    options = parser.parse_args(own)
    if options.rounds < 1:
        parser.error("--rounds: 1 at least")
    options.more = rest
    return options


def main(arguments):
    options = read_options(arguments)
    builds = (options.a, options.b)
    more = (["--only", ",".join(names_of(options.program, options.rows))] if options.rows else []) + options.more
    rounds, heads, start, longest = [], [None, None], time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.rounds):
            begun = time.monotonic()
            if options.budget and number and begun - start + longest > options.budget:
                break
            both = [None, None]
            for which in (0, 1) if number % 2 == 0 else (1, 0):
                heads[which], both[which] = run_once(options.program, builds[which], more, pathlib.Path(folder) / "run.json")
            rounds.append(both)
            now = time.monotonic()
            longest = max(longest, now - begun)
            print(f"round {number + 1} of {options.rounds}: {now - begun:.0f} s", file=sys.stderr, flush=True)
            rows = compare(options.program, rounds)
            if options.json:
                head = {"program": options.program, "a": str(options.a), "b": str(options.b), "options": more,
                        "rounds": len(rounds), "seconds": round(now - start, 1),
                        "commits": options.commits.split(",") if options.commits else [h.get("commit") for h in heads]}
                head.update({k: heads[0][k] for k in ("device", "driver", "machine", "threads") if k in heads[0]})
                options.json.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
    where = heads[0].get("device") or heads[0].get("machine", "")
    print(f"{options.program}, {where}, A: {options.a}, B: {options.b}, {len(rounds)} rounds in turn, "
          f"{time.monotonic() - start:.0f} s\n")
    print(table(rows))
    over = failed(rows)
    print(f"\n{len(rows)} rows, {len(over)} over their limits or missing" + (": " + ", ".join(over) if over else ""))
    return 1 if over or not rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
