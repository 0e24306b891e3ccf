#!/usr/bin/env python3
"""Runs study_faults on small sizes: relaxation with lost blocks against the same written in Python, what theory says of it, that every
fault happened and that no wrong answer passed; then what it says of bad input. Usage: test_faults.py PROGRAM"""
import math
import sys

from checking import bad_input, check, conclude, measure
import faults
from faults import lost_blocks
from page import first, select


def relax(n, eps, block, seed, broken, passes):
    """Residuals of async-(5) in one dimension where every block sees its neighbours as they were before the pass; `broken`: the passes in which
    lost blocks stay as they are."""
    f = [(i * 7919 % 101 - 50) / 50 for i in range(n)]
    u = [0.0] * n
    lost = lost_blocks(seed, n // block)
    diagonal = 2 + eps

    def residual():
        return math.sqrt(sum((f[i] - diagonal * u[i] + (u[i - 1] if i else 0) + (u[i + 1] if i + 1 < n else 0)) ** 2 for i in range(n)))

    start, history = residual(), [1.0]
    for p in range(passes):
        new = u[:]
        for b in range(n // block):
            if p in broken and b in lost:
                continue
            begin, end = b * block, (b + 1) * block
            x = [u[begin - 1] if begin else 0.0, *u[begin:end], u[end] if end < n else 0.0]
            for _ in range(5):
                x = [x[0], *[(f[begin + i - 1] + x[i - 1] + x[i + 1]) / diagonal for i in range(1, block + 1)], x[-1]]
            new[begin:end] = x[1:-1]
        u = new
        history.append(residual() / start)
    return history


def relaxation(results):
    for name, broken in (("undisturbed", range(0)), ("recover-(10)", range(10, 20)), ("recover-(30)", range(10, 40)), ("no recovery", range(10, 999))):
        r = first(results, part="relaxation", dim=1, method="async-(5), stale", lost="blocks", recovery=name)
        theory = relax(r["n"], r["eps"], int(r["block"][0]), int(r["seed"]), broken, min(len(r["history"]) - 1, 60))
        apart = max(abs(a / b - 1) for a, b in zip(r["history"], theory) if b > 1e-10)
        check(apart < 0.01, f"1D, {name}: residuals are {100 * apart:.1f} % away from those computed here")
    for plain, waits, never in faults.relaxation_rows(results, "blocks"):
        words = f"{plain['matrix']}, {plain['dim']}D, {plain['method']}"
        check("passes" not in never and never["last"]["min"] > 1e-6, f"{words}: converged without a quarter of its blocks")
        if plain["method"] == "async-(5), stale": # what is lost stands exactly still, so the others reach their solution
            check(never["working"]["max"] < 1e-3 * never["last"]["min"], f"{words}: residual {never['working']} where nothing is lost")
        check(0.2 < plain["share"] < 0.35, f"{words}: {plain['share']} lost")
        for w, passes in zip(waits, (10, 20, 30)):
            check(passes / 2 <= w["extra"]["min"] and w["extra"]["max"] <= passes + 5, f"{words}, {w['recovery']}: {w['extra']} passes more")
            check(abs(w["percent"]["median"] - 100 * w["extra"]["median"] / plain["passes"]["median"]) < 1e-3, f"{words}: percent")
    check(len(list(faults.relaxation_rows(results, "unknowns"))) == 6, "relaxation: rows")


def multigrid(results):
    wards = select(results, part="ward")
    check(len(wards) == 12, f"{len(wards)} wards")
    check(sum(r["faults"] for r in wards) >= 250, "too few faults")
    for r in wards:
        words = f"{r['dim']}D, {r['way']}"
        sooner = sum(times for more, times in zip(r["extra"], r["times"]) if more < 0) # converged before its fault came
        check(r["injected"] >= r["faults"] - sooner, f"{words}: {r['faults']} faults, but {r['injected']} changed anything")
        check(r["wrong"] == 0, f"{words}: {r['wrong']} wrong answers told as converged")
        check(r["misreported"] == 0, f"{words}: {r['misreported']} residuals are not what is told")
        check(r["unusable"] == 0 and r["again"] > 0, f"{words}: {r['unusable']} of {r['again']} solves afterwards failed")
        check(r["errors"] == 0 and r["not_converged"] == 0, f"{words}: {r['errors']} errors, {r['not_converged']} at the cycle limit")
        check(sum(r["times"]) == r["converged"] >= 0.75 * r["faults"], f"{words}: {r['converged']} of {r['faults']} converged")
        check(r["converged"] + r["stagnated"] + r["diverged"] == r["faults"], f"{words}: ends")
        check(max(r["extra"]) > 0, f"{words}: no fault cost anything")
        parts = select(results, part="multigrid", dim=r["dim"], way=r["way"])
        check({p["kind"] for p in parts} == set(faults.KINDS), f"{words}: kinds")
        check(sum(p["faults"] for p in parts) == r["faults"], f"{words}: sum over kinds and levels")
    for r in select(results, part="control"): # who judges is judged: wrong answers that are known to be so
        check(r["faults"] == r["said_to_converge"] == r["found_wrong"] == 14, f"wrong answers were not found: {r}")
    # a correction that is lost on the finest level leaves a cycle of smoothing alone: the cycle is lost, and what runs differ by
    extra, lost, count = faults.merged([r for r in select(results, part="multigrid", kind="correction lost", level=0) if "CG" not in r["way"]])
    check(count > 0 and lost == 0 and max(extra) in (1, 2), f"corrections lost on level 0: {extra}, {lost} lost")


def tables(results):
    """Equal rows of two methods are joined."""
    same, apart = ["async-(5)", "x"], ["async-(5), stale", "y"]
    check(faults.alike([same, ["async-(5), stale", "x"]], 0) == [["both, alike", "x"]], "rows that are alike were not joined")
    check(faults.alike([same, apart], 0) == [same, apart], "rows that differ were joined")
    plain = select(results, part="relaxation", matrix="Fv1", method="async-(5), stale", lost="blocks")
    check(len(plain) == 5, f"{len(plain)} records of Fv1's twin")
    both = [dict(r, matrix="Fv3", method=method, n=30, eps=0) for method in faults.METHODS for r in plain] # small, for passes in Python
    rows = faults.slowest_table(both).splitlines()[2:]
    check(len(rows) == 1 and rows[0].startswith("| Fv3 | both, alike | blocks |"), f"the slowest mode: {rows}")


def everything(folder):
    results = measure(folder, lines=50)["results"]
    relaxation(results)
    multigrid(results)
    tables(results)
    bad_input(folder, 100, "relaxation multigrid", "relaxation")


if __name__ == "__main__":
    sys.exit(conclude(everything))
