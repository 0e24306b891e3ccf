#!/usr/bin/env python3
"""Runs study_order on small sizes and checks its numbers against what must hold, then what it says of bad input.
Usage: test_order.py PROGRAM"""
import sys

from checking import bad_input, check, conclude, measure
import order
from page import first, select


def near(a, b, words, within=1e-4):
    check(a and b and abs(a["median"] / b["median"] - 1) <= within, f"{words}: {a} and {b}")


def sequential(results):
    """One block of whole lines after the other, unknown by unknown: the sequential sweep."""
    for dim in (1, 2, 3):
        same = {"part": "elimination", "dim": dim}
        sweep = first(results, smoother="gauss_seidel", **same)
        near(first(results, order="natural", **same)["factor"], sweep["factor"], f"{dim}D: natural order, one in flight; Gauss-Seidel")
        moved = first(results, order="backward", **same)["factor"]["median"]
        check(abs(moved / sweep["factor"]["median"] - 1) > 1e-3, f"{dim}D: the order backward does nothing: {moved}")


def model(results):
    """With one block in flight it is the library's on one thread, with all of them the stale twin, with a colour of single unknowns
    red-black."""
    for dim in (1, 2, 3):
        for overlap in (0, 1):
            same = {"dim": dim, "overlap": overlap, "sweeps": 2}
            twin = first(results, part="order", smoother="stale twin", **same)["factor"]
            check(twin["max"] - twin["min"] <= 1e-12, f"{dim}D, overlap {overlap}: the stale twin depends on the order: {twin}")
            flights = order.flight_rows(results, "model")
            for name in [*order.ORDERS, order.TURNING]:
                rows = select(flights, order=name, **same)
                near(rows[-1]["factor"], twin, f"{dim}D, overlap {overlap}, {name}: all in flight; stale twin")
                one = first(results, part="order", smoother="async", in_flight=1, order=name, **same)
                if overlap == 0 and one: # with overlap the library's first pass on coarse levels is the stale one
                    near(rows[0]["factor"], one["factor"], f"{dim}D, {name}: one in flight")
    for dim in (2, 3):
        board = first(results, part="flight", smoother="model", dim=dim, block=1)
        red_black = first(results, part="flight", smoother="red_black", dim=dim)
        near(board["factor"], red_black["factor"], f"{dim}D: a chess board of unknowns; red_black")


def freshness(results):
    """Without overlap staleness costs, with overlap little; half of the blocks of two colours in flight lose nothing in 3D."""
    flights = order.flight_rows(results, "model")
    for dim, least in ((1, 1.4), (2, 3), (3, 2)):
        def factor(name, overlap, at, dim=dim):
            return select(flights, dim=dim, overlap=overlap, order=name)[at]["factor"]["median"]

        check(factor("natural", 0, -1) > least * factor("natural", 0, 0), f"{dim}D: staleness costs nothing: {factor('natural', 0, -1)}")
        check(factor("natural", 1, -1) < 1.8 * factor("natural", 1, 0), f"{dim}D: overlap does not help: {factor('natural', 1, -1)}")
        check(factor("two-colour", 0, 2) < factor("natural", 0, 2), f"{dim}D: two colours are no better than the natural order")


def times(results):
    rows = select(results, part="locality")
    check(len(rows) == 4 * 8, f"{len(rows)} rows of locality")
    check(all(r["sweep_seconds"]["min"] > 0 for r in rows), "no time of a sweep")
    check(all(r["cycle_seconds"]["min"] > 0 for r in select(results, part="order")), "no time of a cycle")


def flying(dim, n, fold, factor, **more):
    middle = {"median": factor, "min": factor, "max": factor}
    return {"part": "flight", "smoother": "async", "where": "device", "dim": dim, "n": n, "order": "natural", "overlap": 0, "block": 8, "blocks": 4096,
            "in_flight": 0, "factor": middle, "cycle_seconds": {"median": 1e-3, "min": 1e-3, "max": 1e-3}, **({"oversubscription": fold} if fold else {}),
            **more}


def pages():
    """The page of a device: a row for every grid and number of thread blocks, with the paper's values, and the reasons of empty cells."""
    fakes = [flying(2, 127, 0, 0.25), *[flying(dim, n, fold, 0.125 * dim, residual=[0.5]) for dim, n in ((2, 2047), (3, 127)) for fold in (16, 1, 0)],
             flying(3, 127, 1, 0.0625, overlap=1, residual=[0.5, 0.25])]
    rows = [[c.strip() for c in row.split("|")[1:-1]] for row in order.room_table(fakes).split("\n")[2:]]
    check([row[:4] for row in rows] == [
        ["127^2", "0", "all that fit", "0.25"], ["2047^2", "0", "1 a multiprocessor", "0.25"], ["2047^2", "0", "16 a multiprocessor", "0.25"],
        ["2047^2", "0", "all that fit", "0.25"], ["127^3", "0", "1 a multiprocessor", "0.375"], ["127^3", "0", "16 a multiprocessor", "0.375"],
        ["127^3", "0", "all that fit", "0.375"], ["127^3", "1", "1 a multiprocessor", "0.0625"]], f"blocks in flight: {rows}")
    check([row[-1] for row in rows] == ["", "", "", "", "8.00e-04", "1.35e-03", "", ""], f"the paper's residuals: {rows}")
    check("| 127^3 | 1 | 1 a multiprocessor | 0.83 |" in order.pace_table(fakes), f"1 ms a factor 1 / 16: {order.pace_table(fakes)}")
    check("| 127^3 | 0 | 1 a multiprocessor | 2.35 |  |  | 84.6 |" in order.pace_table(fakes), f"the paper's pace: {order.pace_table(fakes)}")
    large = {"part": "locality", "dim": 2, "n": 4095, "order": "natural", "block": 256, "skipped": "params.block = 256 x 256 x 1: too large"}
    words = order.locality_table([large])
    check("| 4095^2 | 256^2 | - |" in words and words.endswith("\n\nLeft out: params.block = 256 x 256 x 1: too large."), f"a block that does not fit: {words}")


def everything(folder):
    pages()
    results = measure(folder, "--threads", "1", lines=100)["results"]  # chance plays no part
    sequential(results)
    model(results)
    freshness(results)
    times(results)
    bad_input(folder, 100, "order elimination flight locality", "elimination")


if __name__ == "__main__":
    sys.exit(conclude(everything))
