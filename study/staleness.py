"""The tables of docs/study-staleness.md (page.py fills them in)."""
import math

from page import first, number, select, spread, table, values

PAGE = "study-staleness.md"
FILES = ["staleness-device*.json", "staleness-host.json"]
APART = {"host": "staleness-host.json"}  # has pictures of its own


def grid(r):
    return f"{r['n']}^{r['dim']}"


def box(r):
    return " / ".join(number(r[name]) for name in ("min", "q25", "median", "q75", "max")) if "min" in r else ""


def percent(value):
    return f"{100 * value:.0f} %"


def classes(r):
    """A stride's blocks fall into so many classes, and no worker leaves its own."""
    return math.gcd(r["blocks"], r["workers"])


def ages_table(results):
    rows = [[grid(r), r["assignment"], r["order"], str(r["workers"]), str(r["blocks"]),
             str(classes(r)) if r["assignment"] == "stride" else "", box(r), percent(r["fresh"]), percent(r["ahead"]), number(r["twice"]),
             number(r["age"], 2), number(1 / r["age"]) if r["age"] > 0 else "",
             spread(r, "worth_unrecorded", 2), spread(r, "worth", 2)]
            for r in select(results, part="ages") if "min" in r]
    head = ["grid", "assignment", "order", "workers", "blocks", "classes", "age: least / quartiles / most", "<= 0", "< 0", "out of turn",
            "mean, all couplings", "1 / mean", "worth of a pass, unrecorded", "recorded"]
    return table(head, rows) if rows else None


def connections_table(results):
    rows = []
    for kind in values(select(results, part="connections"), "connection"):
        at = {a: first(results, part="connections", connection=kind, assignment=a) for a in ("stride", "ticket")}
        rows.append([kind, *[f"{box(r)}; mean {number(r['mean'])}" for r in at.values()]])
    return table(["connection", "stride", "ticket"], rows) if rows else None


def relation_table(results):
    rows = []
    measured = select(results, part="relation")
    for dim, n, block in dict.fromkeys((r["dim"], r["n"], r["block"]) for r in measured):
        same = select(measured, dim=dim, n=n, block=block)

        def cell(assignment, fold, same=same):
            return " / ".join(spread(r, "worth_unrecorded") for r in select(same, assignment=assignment, fold=fold))

        def stride(fold, same=same):
            r = first(same, assignment="stride", fold=fold)
            return f"{cell('stride', fold)}; {number(1 / r['age'])}; {classes(r)}"

        alone = first(same, assignment="ticket", fold=0)
        many = select(same, assignment="ticket", fold=8)
        rows.append([f"{n}^{dim}", block, number(alone["age"]), number(1 / alone["age"]), cell("ticket", 0), cell("ticket", 8),
                     " / ".join(number(r["twice"]) for r in many), stride(1), stride(8)])
    head = ["grid", "block", "mean age, 1 worker", "1 / mean", "worth, unrecorded: ticket, 1 worker, natural / two-colour / random", "ticket, 8-fold",
            "out of turn", "stride; 1 / its mean; classes", "stride, 8-fold; 1 / its mean; classes"]
    return table(head, rows) if rows else None


def sooner(r, sync, at):
    """Ratio of the times at which synchronous Jacobi and the method reach the residual of synchronous Jacobi at a point. Interpolates logarithms."""
    wanted = sync["residual"][at]
    there = next((i for i, left in enumerate(r["residual"]) if left <= wanted), None)
    if there is None:
        return "not reached"
    seconds = r["seconds"][there]
    if there > 0:
        before, after = r["residual"][there - 1:there + 1]
        seconds *= (r["seconds"][there - 1] / seconds) ** (math.log(wanted / after) / math.log(before / after))
    return number(sync["seconds"][at] / seconds)


def left(r, i):
    """The residual at a point: median (min - max) of the runs."""
    return spread({"residual": {"median": r["residual"][i], "min": r["residual_min"][i], "max": r["residual_max"][i]}}, "residual")


def rate_table(results):
    rows = []
    for r in select(results, part="rate"):
        sync = first(results, part="rate", dim=r["dim"], n=r["n"], assignment="sync")
        passes = r["passes"][-1]
        us = [number(1e6 * r[name][-1] / passes) for name in ("seconds", "seconds_min", "seconds_max")]
        rows.append([grid(r), r["assignment"], str(r["workers"]), number(passes), f"{us[0]} ({us[1]} - {us[2]})",
                     number(sync["seconds"][-1] / r["seconds"][-1]), left(r, 0), left(r, 2), left(r, -1),
                     sooner(r, sync, 2), sooner(r, sync, -1)])
    head = ["grid", "assignment", "workers", "passes", "us a pass", "passes a second against sync", "residual after 10", "after 90", "after all",
            "whole residual (biased): times sooner at sync's after 90", "at sync's after all"]
    return table(head, rows) if rows else None


def recording_table(results):
    rows = [[r["assignment"], f"{grid(r)}, {r['block']}", *[spread(r, name) for name in
             ("without_seconds", "with_seconds", "ratio", "sparse_seconds", "sparse_ratio")]] for r in select(results, part="recording")]
    head = ["assignment", "grid, block", "s without", "all passes", "ratio", "one pass in 16", "ratio"]
    return table(head, rows) if rows else None


def smoother_table(results):
    rows = []
    for r in select(results, part="smoother"):
        name = "the stale twin" if r["assignment"] == "sync" else "dynamic" if r["assignment"] == "ticket" else "static"
        order = "" if r["assignment"] == "sync" else r["order"]
        rows.append([f"{grid(r)}, {r['block']}", str(r["overlap"]), name, str(r["workers"]), order, spread(r, "cycle_factor"), spread(r, "fresh", 2)])
    head = ["grid, block", "overlap", "assignment", "workers", "order", "factor of V(1,1)", "fresh neighbours"]
    return table(head, rows) if rows else None


TABLES = {"ages": ages_table, "connections": connections_table, "relation": relation_table, "rate": rate_table,
          "recording": recording_table, "smoother": smoother_table}
