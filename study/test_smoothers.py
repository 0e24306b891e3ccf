#!/usr/bin/env python3
"""Runs study_smoothers on small sizes and checks its numbers against theory, then what it says of bad input.
Usage: test_smoothers.py PROGRAM"""
import cmath
import json
import math
import pathlib
import sys
import tempfile

from checking import bad_input, check, conclude, killed, measure
import page
import smoothers
from page import first, select


def two_grid(eps, steps):
    """Two-grid factor of lexicographic Gauss-Seidel for tridiag(-1, 2 + eps, -1) by Fourier analysis, done here from scratch: full
    weighting, linear interpolation, the coarse operator with h = 2."""
    worst = 0
    for k in range(1, 512):
        low = math.pi / 2 * k / 512
        pair = (low, low - math.pi)
        a = [2 + eps - 2 * math.cos(t) for t in pair]
        smooth = [(cmath.exp(1j * t) / (2 + eps - cmath.exp(-1j * t))) ** steps for t in pair]
        weight = [(1 + math.cos(t)) / 2 for t in pair]
        coarse = (2 - 2 * math.cos(2 * low)) / 4 + eps
        m = [[smooth[i] * ((i == j) - weight[i] * weight[j] * a[j] / coarse) * smooth[j] for j in range(2)] for i in range(2)]
        trace, determinant = m[0][0] + m[1][1], m[0][0] * m[1][1] - m[0][1] * m[1][0]
        root = cmath.sqrt(trace * trace / 4 - determinant)
        worst = max(worst, abs(trace / 2 + root), abs(trace / 2 - root))
    return worst


def factors(results):
    space = [r for r in select(results, part="condition", start="random u") if r["dim"] > 1]
    check([(r["dim"], r["steps"]) for r in space] == [(2, 1), (2, 2), (3, 1), (3, 2)], f"in 2D and 3D: {space}")
    for r in space:
        check(0.75 < r["factor"]["median"] / r["predicted_factor"] < 1.02, f"{r['dim']}D, {r['steps']} steps: {r['factor']}, {r['predicted_factor']}")
    results = select(results, dim=1)
    seen = select(results, part="condition", method="gauss_seidel", start="random u")
    check(len(seen) == 4, f"{len(seen)} measurements from a random u, wanted 4")
    for r in seen:
        theory = two_grid(r["eps"], r["steps"])
        check(abs(r["factor"]["median"] / theory - 1) < 0.1, f"eps {r['eps']}, {r['steps']} steps: {r['factor']}, theory {theory}")
        check(0.85 < r["predicted_factor"] / theory < 1.02, f"eps {r['eps']}: gmg_plan() says {r['predicted_factor']}, theory {theory}")
    for r in select(results, part="condition", method="async-2011", eps=1e-2):
        check(r["lowest"]["median"] > 1e-5, f"undamped sweeps do not stall: {r['lowest']}")
    for r in select(results, part="condition", method="async-2011, damped"):
        check(r["lowest"]["median"] < 1e-12 and r["mean_factor"]["max"] < 0.05, f"damped sweeps do not converge: {r['mean_factor']}")


def completion():
    """A file of Gauss-Seidel alone goes into the device's, in the places of its rows at the size that the host was spared."""
    def row(part, method, n, eps, device=True):
        return {"part": part, "method": method, "n": n, "eps": eps, "dim": 1, "steps": 1, "start": "random f", "device": device}

    device = {"results": [row("condition", "gauss_seidel", 5, 1e-4), row("condition", "async-2011", 9, 1e-4), row("size", "async-2011", 9, 1e-3)]}
    host = {"results": [row("condition", "gauss_seidel", 5, 1e-4, False), row("condition", "async-2011", 5, 1e-4, False)]}
    full, size = {"results": [row("condition", "gauss_seidel", 9, 1e-4)]}, {"results": [row("size", "gauss_seidel", 9, 1e-3)]}
    made = smoothers.complete([device, full, host, size])
    check(made == [device, host] and len(host["results"]) == 2 and host["results"][0]["n"] == 5, f"files: {made}")
    check([(r["part"], r["method"], r["n"]) for r in device["results"]] == [("condition", "gauss_seidel", 9), ("condition", "async-2011", 9),
          ("size", "async-2011", 9), ("size", "gauss_seidel", 9)], f"rows: {device['results']}")
    check([file for file, _ in device["also"]] == [full, size] and not host.get("also"), "origins")
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, name) for name in ("device", "figure")]
        for path, data in zip(paths, (device, full)):
            path.write_text(json.dumps({"device": "one", "results": data["results"]}))
        check([len(f["results"]) for f in page.read(smoothers, paths)] == [4], "what page.py and the pictures read")


def starts(results):
    """The sizes; the stall, and the cures, in one, two and three dimensions."""
    def factor(dim, method, steps=1):
        return first(results, part="start", start="random u", dim=dim, steps=steps, method=method)["factor"]

    sizes = {(r["dim"], r["n"]) for r in select(results, part="size")}
    check(sizes == {(1, 4095), (2, 31), (3, 15)} and len(select(results, part="size")) == 9, f"sizes: {sizes}")
    check(factor(1, "async-2011")["min"] > 0.97, f"1D: {factor(1, 'async-2011')}")
    for steps in (1, 2):
        stale, theory = factor(2, "async-2011, stale", steps)["median"], smoothers.stall(2, steps)
        check(abs(stale / theory - 1) < 0.03, f"2D, {steps} steps, stale: {stale}, theory {theory}")
        stale, theory = factor(3, "async-2011, stale", steps)["median"], smoothers.stall(3, steps)
        check(0.9 < stale / theory < 1.4, f"3D, {steps} steps, stale: {stale}, theory {theory}")
    for dim, undamped in ((2, 0.7), (3, 0.2)):
        check(factor(dim, "async-2011")["median"] > undamped, f"{dim}D: {factor(dim, 'async-2011')}")
    for start in ("random f", "f = 1"):
        stalls = first(results, part="start", start=start, dim=1, steps=2, method="async-2011")
        check(stalls["status"] == "GMG_NOT_CONVERGED" and stalls["lowest"]["min"] > 1e-2, f"1D, {start}: {stalls}")
    check(factor(2, "async-2011, overlap 1")["median"] > 0.7, "overlap alone is no cure")
    for dim, most in ((1, 0.06), (2, 0.07), (3, 0.09)):
        for cure in ("async-2011, damped", "async-2011, red-black", "async-2011, damped, overlap 1", "async-2011, red-black, overlap 1", "async"):
            check(factor(dim, cure)["max"] < most, f"{dim}D, {cure}: {factor(dim, cure)}")


def times(results):
    """Gauss-Seidel and the host's async are there, what needs a device says so; the parts of a time add up to the whole."""
    for part, levels in (("table", (2, 3, 4, 5)), ("breakdown", (10,))):
        for count in levels:
            rows = select(results, part=part, levels=count)
            seen = {(r["dim"], r["column"]) for r in rows}
            check(seen == {(dim, column) for dim in (1, 2, 3) for column in smoothers.TIMED}, f"{part}, {count} levels: {seen}")
            for r in rows:
                there = "device" not in r["column"] and "offloaded" not in r["column"]
                check(there or r.get("skipped") == "no device", f"{r['column']}: {r}")
                if not there:
                    continue
                check(r["status"] == "GMG_OK" and r["smoother_seconds"]["min"] > 0, f"{r['column']}: {r['status']}")
                check(r["smoother_seconds"]["min"] + r["coarse_seconds"]["min"] <= 1.01 * r["seconds"]["max"], f"{r['column']}: more than the whole")
                check(r["grid_seconds"]["min"] > 0 and "transfer_seconds" not in r, f"{r['column']}: grid operations or transfer")
    check(all(r["levels_made"] == 3 for r in select(results, part="table", levels=3) if "levels_made" in r), "levels made")


def everything(folder):
    results = measure(folder, lines=100)["results"]
    completion()
    factors(results)
    starts(results)
    times(results)
    killed(folder)
    bad_input(folder, 1000, "condition size table breakdown start figure4 figure5 figure6", "size")


if __name__ == "__main__":
    sys.exit(conclude(everything))
