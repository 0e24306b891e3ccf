"""The tables of docs/study-smoothers.md (page.py fills them in)."""
import math

from page import first, measured, number, select, spread, table, values

PAGE = "study-smoothers.md"
FILES = ["smoothers-device*.json", "smoothers-host-*.json", "smoothers-host.json"]
COMPARED = ["gauss_seidel", "async-2011", "async-2011, damped"]

# Table 1 of the paper: seconds of Gauss-Seidel, async-(5) and transfer, 2 to 5 levels.
PAPER = {
    10**4: [(0.00398, 0.00085, 0.01193), (0.00621, 0.00181, 0.02243), (0.00805, 0.00242, 0.03289), (0.00957, 0.00338, 0.04102)],
    10**5: [(0.03613, 0.00602, 0.02571), (0.05539, 0.00913, 0.04267), (0.06621, 0.01044, 0.05673), (0.07181, 0.01156, 0.06866)],
    10**6: [(0.36815, 0.05397, 0.10779), (0.54973, 0.08433, 0.16522), (0.64393, 0.09654, 0.20734), (0.69662, 0.10531, 0.23634)],
    10**7: [(3.62690, 0.53082, 0.85057), (5.60806, 0.80394, 1.29404), (6.48827, 0.92531, 1.53345), (6.95943, 1.00858, 1.64843)],
}


def cycles_to(record, target=1e-6):
    """Cycles until the median residual is below the target of its start."""
    history = record["history"]
    at = next((i for i, left in enumerate(history) if left <= target), None)
    return f"> {len(history) - 1}" if at is None else str(at)


def complete(files):
    """Gauss-Seidel's rows of figure4.json, ... at full size take the place of those at the size that the other files spare the host."""
    def setting(r):
        return [r.get(k) for k in ("part", "method", "dim", "steps", "eps", "start")] + [r["n"] if r["part"] == "size" else None]

    alone = [f for f in files if f["results"] and {r["method"] for r in f["results"]} == {"gauss_seidel"}]
    others = [f for f in files if f not in alone]
    for f in others:
        parts = {r["part"] for r in f["results"] if r["device"]}
        for full in alone:
            rows = {str(setting(r)): r for r in full["results"] if r["part"] in parts}
            f["results"] = [rows.pop(str(setting(r)), r) for r in f["results"]] + list(rows.values())
            if any(r["part"] in parts for r in full["results"]):
                f.setdefault("also", []).append((full, which(full["results"])))
    return others


def which(rows):
    """Which settings are Gauss-Seidel's alone: "Gauss-Seidel at n = 1e7, 1 step, eps = 1e-04, 1e-05"."""
    steps = ", ".join(f"{k} step" + "s" * (k > 1) for k in values(rows, "steps"))
    return f"Gauss-Seidel at n = {', '.join(dict.fromkeys(map(size_of, rows)))}, {steps}, eps = {', '.join(f'{e:.0e}' for e in values(rows, 'eps'))}"


def converged(record):
    if not record or "history" not in record:
        return record["skipped"] if record else ""
    return f"{spread(record, 'mean_factor', 2)}; {cycles_to(record)}; {number(record['lowest']['median'], 2)}"


def size_of(r):
    return f"{r['n']}^{r['dim']}" if r["dim"] > 1 else f"{r['n']:.0e}".replace("e+0", "e")


def condition_table(results):
    rows = []
    for r in select(results, part="condition", method="gauss_seidel", start="random f"):
        same = {"part": "condition", "eps": r["eps"], "steps": r["steps"], "dim": r["dim"]}
        random = first(results, method="gauss_seidel", start="random u", **same)
        other = first(results, method=COMPARED[1], **same)
        if not other:  # a run that was stopped
            continue
        size = size_of(r) if other["n"] == r["n"] else f"{size_of(other)}; gauss_seidel {size_of(r)}"
        rows.append([r.get("paper", "not there"), str(r["steps"]), size, f"{r['eps']:.0e}",
                     *[converged(first(results, method=m, start="random f", **same)) for m in COMPARED],
                     f"{spread(random, 'factor')}; {number(random['predicted_factor'])}" if random and "factor" in random else ""])
    head = ["paper", "steps", "n", "eps", *COMPARED, "gauss_seidel, random u: factor; predicted"]
    return table(head, rows) if rows else None


def size_table(results):
    rows = []
    for r in select(results, part="size", method=COMPARED[-1]):
        same = {"part": "size", "n": r["n"], "dim": r["dim"]}
        rows.append([size_of(r), *[converged(first(results, method=m, **same)) for m in COMPARED]])
    return table(["size", *COMPARED], rows) if rows else None


TIMED = ["gauss_seidel, host", "async-(5), host", "async-(5), offloaded", "async-(5), device", "async, host", "async, device", "async, device, no clock"]


def shown(results):
    """The columns of TIMED to show: on a device the paper's, and those that run entirely there; otherwise the host's."""
    beside_device = measured(results, column="async-(5), device")
    return [c for c in TIMED if c == TIMED[0] or c.endswith(", host") != bool(beside_device)]


def timed_cell(record, name="smoother_seconds"):
    if not record or record["status"] == "skipped":
        return record["skipped"] if record else ""
    return f"{spread(record, name)}; {number(record['cycles']['median'])}"


def table_1(results):
    """The smoother's seconds, and in the last column those of the whole solve."""
    columns = shown(results)
    clocked = [c for c in columns if not c.endswith("no clock")]
    offloaded = TIMED[2] in columns
    told = any(r["dim"] == 1 for r in select(results, part="table"))
    whole = [c for c in columns if c != "async, device"]
    rows = []
    for r in select(results, part="table", column=TIMED[0]):
        n, levels = r["n"], r["levels"]
        at = {c: first(results, part="table", column=c, n=n, levels=levels, dim=r["dim"]) for c in columns}
        at = {c: at[c] or {"status": "skipped", "skipped": ""} for c in columns}  # spared
        paper = PAPER[n][levels - 2][:3 if offloaded else 1] if n in PAPER and r["dim"] == 1 else ()
        cells = [size_of(r), str(levels), *([" / ".join(map(number, paper))] if told else [])]
        for c in clocked:
            cells.append(timed_cell(at[c]))
            if c == TIMED[2]:
                cells.append(spread(at[c], "transfer_seconds"))
        rows.append([*cells, " / ".join(number(at[c]["seconds"]["median"]) if "seconds" in at[c] else at[c]["skipped"] for c in whole)])
    head = ["size", "levels", *(["paper: G.-S. / async-(5) / transfer" if offloaded else "paper: G.-S."] if told else [])]
    for c in clocked:
        head += [c, "transfer"] if c == TIMED[2] else [c]
    return table([*head, f"whole solve: {' / '.join(whole)}"], rows) if rows else None


def share(record, name):
    value = record.get(name)
    return f"{number(value['median'])} ({100 * value['median'] / record['seconds']['median']:.0f} %)" if value else ""


PARTS = ["smoother_seconds", "transfer_seconds", "grid_seconds", "coarse_seconds"]
PART_NAMES = ["smoother", "transfer", "grid operations", "coarse solver"]


def breakdown_table(results):
    columns, rows = shown(results), []
    keep = [i for i, name in enumerate(PARTS) if any(name in r for r in select(results, part="breakdown"))]
    for column in columns:
        for r in measured(results, part="breakdown", column=column):
            rows.append([column, size_of(r), str(r["levels_made"]), str(r["steps"]), number(r["cycles"]["median"]), spread(r, "seconds"),
                         *[share(r, PARTS[i]) for i in keep]])
    head = ["smoother", "size", "levels", "steps", "cycles", "seconds, whole", *[PART_NAMES[i] for i in keep]]
    return table(head, rows) if rows else None


BLOCK = {1: [512], 2: [32, 16], 3: [8, 8, 8]}


def stall(dim, steps):
    """The factor by which 5 undamped Jacobi sweeps in 2 passes before and after reduce the mode that alternates from unknown to unknown
    of a block, if the neighbours of the block do not change."""
    return (sum(math.cos(math.pi / (b + 1)) for b in BLOCK[dim]) / dim) ** (20 * steps)


def ended(record):
    """Cycles to the tolerance."""
    return ("" if record["status"] == "GMG_OK" else "> ") + spread(record, "cycles")


def start_table(results):
    beside_device = measured(results, part="start", where="device")
    rows = []
    for r in select(results, part="start", start="random u", steps=1):
        cells = []
        for steps in (1, 2):
            same = {"part": "start", "dim": r["dim"], "method": r["method"], "steps": steps}
            random, rough, smooth = (first(results, start=start, **same) for start in ("random u", "random f", "f = 1"))
            if "factor" not in random:
                cells += [random.get("skipped", "")] + [""] * (2 if steps == 1 else 1)
                continue
            theory = f", frozen neighbours {stall(r['dim'], steps):.4f}" if r["method"] == "async-2011, stale" else ""
            cells += [spread(random, "factor", 2) + theory, f"{ended(rough)}; {ended(smooth)}"]
            if steps == 1:
                cells.append(spread(rough, "seconds", 2))
        method = r["method"] + (" (on the host)" if beside_device and r["where"] == "host" else "")
        rows.append([size_of(r) if r["dim"] > 1 else number(r["n"]), method, *cells])
    head = ["size", "smoother", "V(1,1): factor, random u", "cycles, random f; f = 1", "s, random f", "V(2,2): factor", "cycles"]
    return table(head, rows) if rows else None


def on(dims, make):
    return lambda results: make([r for r in results if r["dim"] in dims])


TABLES = {"start": start_table}
for name, make in (("condition", condition_table), ("size", size_table), ("table", table_1), ("breakdown", breakdown_table)):
    TABLES[name], TABLES[f"{name}-space"] = on({1}, make), on({2, 3}, make)
