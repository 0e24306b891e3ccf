#!/usr/bin/env python3
"""Pictures of study_relaxation from its JSON file. Usage: plot_relaxation.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-spread.png (Figure 5), -sweeps.png (Table 4), -iterations.png (Figures 6, 7), -calls.png (Figure 8) and -time.png (Figure 9), each
from the first file that has something to show. Default: what the page shows, into docs/pictures."""
from picture import PALETTE, grid, main, plt

import relaxation
from page import first, measured
from relaxation import COLUMNS, FIGURE_9, METHODS, TABLE_2, TABLE_3, TABLE_4

# wide gaps: what lies on another curve lets it show
STYLE = {"async-(1)": (0, (7, 7)), "async-(5), stale": (0, (2, 6)), "CG": "--", "multigrid": "-."}


def finish(axes, title, across):
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(across)
    grid(axes)


def draw_spread(results):
    cases = [("Fv1", TABLE_2, "Table 2"), ("Trefethen_20000", TABLE_3, "Table 3")]
    if not all(any(any(r["variance"]) for r in measured(results, part="spread", matrix=matrix)) for matrix, _, _ in cases):
        return None  # nothing to show where all runs are the same
    figure, panels = plt.subplots(3, 2, figsize=(10, 10), layout="constrained", sharex="col")
    for column, (matrix, paper, table) in enumerate(cases):
        free, wait = (first(results, part="spread", matrix=matrix, method="async-(5)", wait=w) for w in (0, 1))
        twin = first(results, part="spread", matrix=matrix, method="async-(5), stale")
        up, middle, down = (row[column] for row in panels)
        up.fill_between(free["iterations"], free["min"], free["max"], color=PALETTE[0], alpha=0.25, linewidth=0)
        up.semilogy(free["iterations"], free["average"], color=PALETTE[0], label=f"nothing waits, {free['runs']} runs: average, min to max")
        up.semilogy(wait["iterations"], wait["average"], "--", color=PALETTE[1], label=f"waiting after every iteration, {wait['runs']} runs: average")
        up.semilogy(twin["iterations"], twin["average"], ":", color=PALETTE[2], label="deterministic twin")
        up.semilogy(list(paper), [row[0] for row in paper.values()], "o", color="black", markersize=3, label="paper: average")
        for r, colour, style in ((free, PALETTE[0], "-"), (wait, PALETTE[1], "--")):
            points = [(i, h - l, (h - l) / a) for i, l, h, a in zip(r["iterations"], r["min"], r["max"], r["average"]) if h > l]
            at, absolute, relative = zip(*points)
            middle.semilogy(at, absolute, style, color=colour)
            down.semilogy(at, relative, style, color=colour)
        for axes, name in ((middle, "abs. var."), (down, "rel. var.")):
            axes.semilogy(list(paper), [row[COLUMNS.index(name)] for row in paper.values()], "o", color="black", markersize=3)
        theirs = "Fv1" if matrix == "Fv1" else "Trefethen_2000"
        finish(up, f"stencil, {free['n']}^{free['dim']} (paper: {theirs}, {table})", "")
        finish(middle, "largest - smallest (paper: Figure 5 (c), (d))", "")
        finish(down, "(largest - smallest) / average (paper: Figure 5 (e), (f))", "iterations")
    panels[0][0].legend(frameon=False, fontsize=8)
    panels[0][0].set_ylabel("residual / first residual")
    return figure


def draw_sweeps(results):
    free = [first(measured(results, part="sweeps", method=f"async-({k})")) for k in range(1, 10)]
    large = [first(measured(results, part="large", method=f"async-({k})")) for k in range(1, 10)]
    twin = [first(measured(results, part="sweeps", method=f"async-({k}), stale")) for k in range(1, 10)]
    if not all(free) or not all(twin):
        return None
    one = [r["seconds_per_iteration"]["median"] for r in free]
    ks = list(range(1, 10))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    left.plot(ks, [TABLE_4[k][-1] / TABLE_4[1][-1] for k in ks], "o", color="black", markersize=4, label="paper, Fv3")
    left.plot(ks, [s / one[0] for s in one], color=PALETTE[0], label=f"stencil, {free[0]['n']}^2")
    if all(large):
        seconds = [r["seconds_per_iteration"]["median"] for r in large]
        left.plot(ks, [s / seconds[0] for s in seconds], color=PALETTE[1], label=f"stencil, {large[0]['n']}^2")
    left.plot(ks, ks, ":", color="#999999", label="as much as the arithmetic")
    left.set_ylabel("time / time of async-(1)")
    right.plot(ks, [1 - r["factor"]["median"] for r in free], color=PALETTE[0], label="async-(k)")
    right.plot(ks, [1 - r["factor"]["median"] for r in twin], "--", color=PALETTE[2], label="deterministic twin")
    theory = [1 - relaxation.stale_factor(r["n"], r["eps"], r["block"][1], k) for k, r in zip(ks, twin)]
    right.plot(ks, theory, "x", color="black", markersize=5, label="theory for the twin")
    right.plot(ks, [k * theory[0] for k in ks], ":", color="#999999", label="k Jacobi iterations")
    right.set_ylabel("1 - reduction of an iteration")
    for axes, title in ((left, "cost of local sweeps (paper: Table 4)"), (right, "what they bring")):
        finish(axes, title, "local sweeps k")
        axes.legend(frameon=False, fontsize=8)
    return figure


def draw_curves(results, across, title):
    if not measured(results, part="solvers"):
        return None
    figure, panels = plt.subplots(2, 2, figsize=(10, 7.6), layout="constrained")
    for axes, matrix in zip(panels.flat, FIGURE_9):
        last = 0
        for colour, method in zip(PALETTE, METHODS):
            r = first(measured(results, part="solvers", matrix=matrix, method=method))
            if not r:
                continue
            points = [(x, y) for x, y in zip(*relaxation.curve(r, across)) if y > 1e-15 and x > 1e-6]
            axes.semilogy(*zip(*points), color=colour, linestyle=STYLE.get(method, "-"), linewidth=1.4, label=method)
            last = max(last, relaxation.reached_at(r, across) or 0)
        r = first(measured(results, part="solvers", matrix=matrix))
        axes.set_ylim(1e-13, 2)
        if across == "seconds" or matrix == "Fv3":
            axes.set_xscale("log")
        elif last:
            axes.set_xlim(0, 1.1 * last)
        size = f"{r['n']}^{r['dim']}" if r["dim"] > 1 else f"{r['n']}"
        finish(axes, f"stencil for {matrix}, {size} {title}", across)
        axes.set_ylabel("residual / first residual")
    panels.flat[2].legend(frameon=False, fontsize=8)
    return figure


def draw_iterations(results):
    return draw_curves(results, "iterations", "(paper: Figures 6, 7)")


def draw_calls(results):
    records = measured(results, part="timing")
    if not records:
        return None
    figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
    for colour, r in zip(PALETTE, records):
        axes.fill_between(r["iterations"], r["least"], r["most"], color=colour, alpha=0.25, linewidth=0)
        axes.loglog(r["iterations"], r["seconds_per_iteration"], "o-", color=colour, markersize=3, label=f"{r['method']}, {r['where']}")
    axes.set_xticks(r["iterations"], [str(i) for i in r["iterations"]], minor=False)
    axes.minorticks_off()
    finish(axes, f"stencil for Fv3, {r['n']}^{r['dim']}: median, smallest to largest (paper: Figure 8)", "iterations in a call")
    axes.set_ylabel("seconds an iteration")
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_time(results):
    return draw_curves(results, "seconds", "(paper: Figure 9)")


PICTURES = {"spread": draw_spread, "sweeps": draw_sweeps, "iterations": draw_iterations, "calls": draw_calls, "time": draw_time}


if __name__ == "__main__":
    main(__doc__, relaxation, PICTURES, dpi=100)
