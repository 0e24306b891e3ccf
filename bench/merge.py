#!/usr/bin/env python3
"""Merges runs of the bench programs into one file and adds the ratios that the targets speak of.
Usage: merge.py OUT FIRST OTHER...   The header is FIRST's; records that OTHER holds replace FIRST's of the same name, their
samples pooled over all of OTHER, so that solvers which are compared were measured in alternation.
       merge.py --ratios OUT FIRST OTHER...   The header is FIRST's; the samples of a record are pooled over all files, and ratios
added. For programs that measure no triad.
       merge.py --rows OUT FIRST OTHER...   The header is FIRST's, the records are those of all."""
import json
import math
import pathlib
import statistics
import sys

# name, slower, faster, least, aim: how many times faster gmg should be
RATIOS = [
    ("hypre / gmg", "hypre_{n}", "solve_async_{n}", 6, 12),
    ("hypre / gmg red_black", "hypre_{n}", "solve_red_black_{n}", 6, 12),
    ("hypre / gmg, cell-wise beta", "hypre_beta_{n}", "solve_beta_{n}", 4, None),
    ("FFTW / gmg full multigrid", "fftw_{n}", "fmg_{n}", None, None),
]
QUIET = 0.8  # a triad below this fraction of the median: other programs were running, which slows MPI most
SAME_SOLUTION = 1e-6  # solutions of solvers that stop at 1e-8 agree to this relative difference


def pool(files):
    """Records by name, samples of all files together."""
    pooled = {}
    for data in files:
        for record in data["results"]:
            if record["name"] in pooled and "samples" in record:
                pooled[record["name"]]["samples"] += record["samples"]
            else:
                pooled.setdefault(record["name"], record)
    return pooled


def finish(record, triad=None):
    """Recomputes the statistics from the samples."""
    if "samples" not in record:
        return
    values = record["samples"]
    record.update(median=statistics.median(values), min=min(values), max=max(values), runs=len(values))
    if record["unit"] == "s" and triad:
        record["bytes_at_triad"] = record["median"] * triad * 1e9 / math.prod(record["n"])
        if "bytes" in record:
            record["fraction_of_triad"] = record["bytes"] / record["bytes_at_triad"]


def ratios(records):
    sizes = sorted({r["n"][0] for r in records.values()})
    for n in sizes:
        for name, slower, faster, least, aim in RATIOS:
            a, b = records.get(slower.format(n=n)), records.get(faster.format(n=n))
            if not a or not b or "median" not in a or "median" not in b:
                continue
            row = {"name": f"{name}, {n}^3", "ratio": a["median"] / b["median"], "least": least, "aim": aim}
            # the spread of a quotient: worst / best and best / worst
            row.update(min=a["min"] / b["max"], max=a["max"] / b["min"])
            if a["f"] == b["f"] and "solution_norm" in a and "solution_norm" in b:
                row["solutions_differ_by"] = abs(a["solution_norm"] / b["solution_norm"] - 1)
                if row["solutions_differ_by"] > SAME_SOLUTION:
                    sys.exit(f"merge.py: {name}, {n}^3: the solvers disagree about the solution")
            yield row


def write(out, base):
    pathlib.Path(out).write_text(json.dumps(base, indent=1) + "\n")
    for row in base["ratios"]:
        wanted = f", wanted {row['least']} at least" if row["least"] else ""
        print(f"{row['name']}: {row['ratio']:.2f} ({row['min']:.2f} - {row['max']:.2f}){wanted}")


def main(out, first, others):
    base = json.loads(pathlib.Path(first).read_text())
    others = [json.loads(pathlib.Path(p).read_text()) for p in others]
    if "triad" not in base:
        sys.exit(f"merge.py: {first} has no triad: it must be bench_cpu's")
    records = pool([base])
    records.update(pool(others))
    for record in records.values():
        finish(record, base["triad"]["median"])
    base["program"] = "compare.sh"
    base["results"] = list(records.values())
    base["ratios"] = list(ratios(records))
    slowest = min(r["triad_before"] / d["triad"]["median"]
                  for d in [base] + others if "triad" in d for r in d["results"] if "triad_before" in r)
    base["quiet"] = slowest >= QUIET
    write(out, base)
    if not base["quiet"]:
        print(f"the machine was not quiet: the triad fell to {100 * slowest:.0f} % of its median; the ratios flatter gmg")


def compare(out, files):
    base, *others = [json.loads(pathlib.Path(p).read_text()) for p in files]
    records = pool([base] + others)
    for record in records.values():
        finish(record)
    base.update(program="compare.sh", results=list(records.values()), ratios=list(ratios(records)))
    for row in base["ratios"]: # the targets are for bench_cpu
        row.update(least=None, aim=None)
    write(out, base)


def join(out, first, others):
    base = json.loads(pathlib.Path(first).read_text())
    for other in others:
        base["results"] += json.loads(pathlib.Path(other).read_text())["results"]
    pathlib.Path(out).write_text(json.dumps(base, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--rows":
        sys.exit(join(sys.argv[2], sys.argv[3], sys.argv[4:]))
    if len(sys.argv) > 3 and sys.argv[1] == "--ratios":
        sys.exit(compare(sys.argv[2], sys.argv[3:]))
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
