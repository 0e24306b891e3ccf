#!/usr/bin/env python3
"""Runs study_staleness on small sizes and checks ages, counts and the worth of a pass against theory, then what it says of bad input.
Usage: test_staleness.py PROGRAM"""
import math
import sys

from checking import bad_input, check, conclude, measure
from page import select


def coupling_age(r):
    """One worker: blocks before are one pass ahead of blocks behind. Mean over couplings, half of those between blocks being fresh."""
    n, dim = r["n"], r["dim"]
    shape = [int(x) for x in r["block"].split(" x ")]
    between = inside = 0
    for size in shape:
        cuts = math.ceil(n / size) - 1  # planes between blocks
        between += cuts * n ** (dim - 1)
        inside += (n - 1 - cuts) * n ** (dim - 1)
    return (inside + between / 2) / (inside + between)


def ages(results):
    measured = select(results, part="ages") + select(results, part="relation")
    check(len(select(results, part="ages")) == 38 and len(measured) == 86, f"{len(measured)} settings")
    check({r["every"] for r in measured} == {1, 16}, "passes recorded: all where there are few, one in 16 where there are many")
    for r in measured:
        words = f"{r['dim']}D, {r['assignment']}, {r['order']}, {r['workers']} workers: {r}"
        check(r["updates"] == r["wanted"], f"updates: {words}")
        check(r["workers"] <= r["blocks"], f"more workers than blocks: {words}")
        both = r.get("worth"), r.get("worth_unrecorded")
        check(not all(both) or both[0]["runs"] == both[1]["runs"] == (1 if r["workers"] == 1 else 3), f"runs with and without a recorder: {words}")
        if r["assignment"] == "sync" or r["workers"] == 1:  # which nothing disturbs
            check(all(both) and both[0] == both[1], f"recording changes values: {words}")
        if r["blocks"] == 1:
            check("min" not in r, f"ages of no neighbours: {words}")
            continue
        check(-r["passes"] <= r["min"] and r["max"] <= r["passes"], f"ages out of range: {words}")
        if r["assignment"] == "sync":
            check(r["min"] == r["max"] == r["mean"] == r["age"] == 1 and r["fresh"] == 0 and r["twice"] == 0, f"not 1: {words}")
            check(abs(r["worth"]["median"] - 1) < 0.02, f"not worth 1: {words}")
        if r["assignment"] == "ticket":  # whoever is late holds one ticket
            check(r["max"] <= r["workers"], f"older than there are workers: {words}")
        if r["assignment"] == "ticket" and r["workers"] == 1:
            check((r["min"], r["max"], r["twice"]) == (0, 1, 0), f"one worker: not 0 and 1: {words}")
            check(abs(r["age"] - coupling_age(r)) < 1e-3, f"mean {r['age']}, theory {coupling_age(r)}: {words}")
            check(abs(r["worth"]["median"] * r["age"] - 1) < 0.15, f"a pass is worth {r['worth']['median']}, theory {1 / r['age']}: {words}")
            if r["part"] == "relation":  # long enough for the slowest mode alone
                rate = math.log(math.cos(math.pi / (r["n"] + 1))) / r["age"]
                check(abs(math.log(r["factor"]) / rate - 1) < 0.1, f"factor {r['factor']}, theory {math.exp(rate)}: {words}")
            if r["part"] == "ages":
                check(r["mean"] == r["median"] == r["fresh"] == 0.5 and r["ahead"] == 0, f"not half of them fresh: {words}")


def others(results):
    rates = select(results, part="rate")
    check([r["fold"] for r in select(rates, assignment="ticket")] == [1, 2, 4, 8, 16], "folds")
    for r in rates:
        check(len(r["passes"]) == len(r["seconds"]) == len(r["residual"]) == 3, f"points: {r}")
        check(all(low <= middle <= high for low, middle, high in zip(r["seconds_min"], r["seconds"], r["seconds_max"])), f"seconds: {r}")
        check(all(0 < low <= middle <= high < 1 for low, middle, high in zip(r["residual_min"], r["residual"], r["residual_max"])), f"residual: {r}")
        check(r["assignment"] != "sync" or r["residual_min"] == r["residual_max"], f"synchronous runs differ: {r}")
    recorded = select(results, part="recording")
    check({r["assignment"] for r in recorded} == {"sync", "static", "stride", "ticket"}, "recording")
    check(all(r["every"] == 16 and r["sparse_ratio"]["runs"] == r["ratio"]["runs"] == 9 for r in recorded), "recording one pass in 16")
    kinds = ["2_3", "3_2", "3_3", "3_4", "4_3", "4_4"]
    check([r["connection"] for r in select(results, part="connections", assignment="ticket")] == kinds, "kinds of connections")
    rows = select(results, part="smoother")
    check(len(rows) == 52, f"{len(rows)} smoothers")
    for r in rows:
        check(0 < r["cycle_factor"]["max"] < (0.5 if r["overlap"] == 0 else 0.1), f"factor: {r}")
        stale = r["assignment"] == "sync"
        check(not stale or (r["age"] == 1 and r["fresh"]["max"] == 0), f"the twin is not stale: {r}")
        check(stale or r["workers"] > 1 or r["fresh"]["min"] == r["fresh"]["max"] == 0.5, f"one worker: not half fresh: {r}")


def everything(folder):
    for threads in (2, 1, 3):
        data = measure(folder, "--threads", str(threads), lines=100)
        check(data["threads"] == threads, f"{data['threads']} threads")
        ages(data["results"])
        others(data["results"])
    bad_input(folder, 8, "ages connections relation rate recording smoother", "recording")


if __name__ == "__main__":
    sys.exit(conclude(everything))
