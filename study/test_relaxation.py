#!/usr/bin/env python3
"""Runs study_relaxation on fewer runs and iterations and checks its numbers against theory, then what it says of bad input.
Usage: test_relaxation.py PROGRAM"""
import json
import math
import sys

from checking import bad_input, check, conclude, measure
import relaxation
from page import first, select
from relaxation import reached_at, stale_factor


def close(a, b, tolerance, words):
    check(abs(a / b - 1) <= tolerance, f"{words}: {a}, wanted {b} within {tolerance:g}")


def spreads(results):
    for matrix, marks in (("Fv1", 15), ("Trefethen_20000", 10)):
        free, wait = (first(results, part="spread", matrix=matrix, method="async-(5)", wait=w) for w in (0, 1))
        twin = first(results, part="spread", matrix=matrix, method="async-(5), stale")
        check(twin["runs"] == 20 and twin["max"] == twin["min"] == twin["average"] and not any(twin["variance"]), f"{matrix}: the twin varies")
        for r in (free, wait):
            check(r["runs"] == 20 and len(r["iterations"]) == marks, f"{matrix}: {r['runs']} runs, {len(r['iterations'])} marks")
            for i in range(marks):
                low, middle, high = r["min"][i], r["average"][i], r["max"][i]
                check(0 < low <= middle * (1 + 1e-7) and middle <= high * (1 + 1e-7), f"{matrix}, {r['iterations'][i]}: {low} {middle} {high}")
                # the variance of 20 values between these ends
                most = (high - low) ** 2 * 20 / 19 / 4 * 1.001
                check((high - low) ** 2 / (2 * 19) * 0.999 <= r["variance"][i] <= most, f"{matrix}, {r['iterations'][i]}: variance {r['variance'][i]}")
        # who waits after every iteration never has older values than the twin: its error is at most the twin's, unknown by unknown
        for i in range(marks):
            check(wait["max"][i] <= 1.3 * twin["max"][i] + 1e-15, f"{matrix}, {wait['iterations'][i]}: {wait['max'][i]}, twin {twin['max'][i]}")
        check(wait["average"][5] < 0.9 * twin["average"][5], f"{matrix}: newer values do not help")
    twin = first(results, part="spread", matrix="Fv1", method="async-(5), stale")
    close((twin["average"][6] / twin["average"][3]) ** (1 / 30), stale_factor(98, twin["eps"], 1, 5), 5e-3, "Fv1, twin, lines")


def local_sweeps(results):
    for k in range(1, 10):
        free = first(results, part="sweeps", method=f"async-({k})")
        twin = first(results, part="sweeps", method=f"async-({k}), stale")
        theory = stale_factor(99, twin["eps"], 4, k)
        close(1 - twin["factor"]["median"], 1 - theory, 0.02, f"1 - factor of async-({k}), stale")
        # a thread that the system takes off its core leaves blocks behind, and their residuals high, so single runs may be slower
        check(free["factor"]["median"] < theory + 1e-4 and free["factor"]["max"] < 1, f"async-({k}): {free['factor']}, stale {theory}")
        check(free["seconds_per_iteration"]["min"] > 0, f"async-({k}): {free['seconds_per_iteration']}")
    close(first(results, part="sweeps", method="async-(1), stale")["factor"]["median"], 0.9993, 2e-5, "async-(1), stale: is not Jacobi")


def curves(results):
    def solver(matrix, method):
        return first(results, part="solvers", matrix=matrix, method=method)

    # blocks of one unknown: the twin is Jacobi however often it sweeps, a single thread (few unknowns) Gauss-Seidel
    for method, same in (("async-(5), stale", "Jacobi"), ("async-(5)", "Gauss-Seidel"), ("async-(1)", "Gauss-Seidel")):
        for a, b in zip(solver("Chem97ZtZ", method)["residual"], solver("Chem97ZtZ", same)["residual"]):
            check(abs(a - b) <= 2e-4 * b + 1e-14, f"Chem97ZtZ: {method} {a}, {same} {b}")
    for matrix in ("Chem97ZtZ", "Fv1", "Fv2", "Fv3", "Trefethen_20000"):
        jacobi = solver(matrix, "Jacobi")
        rho, dim, n = jacobi["rho"], jacobi["dim"], jacobi["n"]
        close(2 * dim * math.cos(math.pi / (n + 1)) / (2 * dim + jacobi["eps"]), rho, 1e-6, f"{matrix}: eps")
        close(jacobi["factor"]["median"], rho, 5e-3, f"{matrix}: Jacobi")
        check(rho**2 - 0.02 < solver(matrix, "Gauss-Seidel")["factor"]["median"] < rho**2 + 0.03, f"{matrix}: Gauss-Seidel")
        cg, kappa = solver(matrix, "CG"), (1 + rho) / (1 - rho)
        most = math.sqrt(kappa) / 2 * math.log(2 * math.sqrt(kappa) / 1e-10) + 1
        check(most / 4 < reached_at(cg, "iterations") < most, f"{matrix}: CG {reached_at(cg, 'iterations')}, bound {most}")
        check(all(r < 2 * 10.0 ** -(i + 1) for i, r in enumerate(cg["reached"][:11])), f"{matrix}: CG reached {cg['reached']}")
        check(reached_at(solver(matrix, "multigrid"), "iterations") < 9, f"{matrix}: multigrid")
        check(all(r["seconds_per_iteration"]["min"] > 0 for r in select(results, part="solvers", matrix=matrix) if "factor" in r), f"{matrix}: times")
    for matrix in ("Fv1", "Fv3", "Trefethen_20000"):
        order = [1 - solver(matrix, m)["factor"]["median"] for m in ("Jacobi", "async-(1)", "async-(5), stale", "async-(5)")]
        check(all(a < b * 1.05 for a, b in zip(order, order[1:])), f"{matrix}: 1 - factor of Jacobi, async-(1), async-(5) stale, async-(5): {order}")


def paper():
    """The paper's tables are copied correctly, because their columns fit each other. The standard errors of Table 2 are of 400 runs."""
    for name, table, runs in (("Table 2", relaxation.TABLE_2, 400), ("Table 3", relaxation.TABLE_3, 1000)):
        for at, (average, most, least, absolute, relative, variance, error) in table.items():
            check(least < average < most and abs(absolute - (most - least)) < 2e-4 * most, f"{name}, {at}: {average} {most} {least} {absolute}")
            close(absolute / average, relative, 0.02, f"{name}, {at}: rel. var.")
            close(math.sqrt(variance / runs), error, 2e-3, f"{name}, {at}: st. error")


def everything(folder):
    paper()
    results = measure(folder, "--threads", "2", lines=60)["results"]
    check(sum(len(json.dumps(r)) for r in results) < 100000, "a large file")
    spreads(results)
    local_sweeps(results)
    curves(results)
    check(len(first(results, part="timing", method="async-(5)")["iterations"]) == 8, "times over the number of iterations")
    for name, make in relaxation.TABLES.items():
        elsewhere = name in ("large", "stand-ins")  # of larger grids, and of a device's file
        check(elsewhere or "|" in (make(results) or ""), f"table {name} is empty")
    bad_input(folder, 100, "spread sweeps large timing solvers", "timing")


if __name__ == "__main__":
    sys.exit(conclude(everything))
