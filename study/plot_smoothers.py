#!/usr/bin/env python3
"""Pictures of study_smoothers from its JSON. Usage: plot_smoothers.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-condition.png (Figures 4, 5), -size.png (Figure 6), -breakdown.png (Figure 7) and -start.png, each from the first file that
has something to show. Default: what the page shows, into docs/pictures."""
from picture import PALETTE, grid, main, plt

import smoothers
from page import first, measured, number, select, values

WHOLE = "#999999"
STEPS = [1, 2, 4, 8]
STYLE = {"gauss_seidel": "-", "async-2011": "--", "async-2011, damped": ":"}


def history(axes, record, **style):
    points = [(i, left) for i, left in enumerate(record["history"]) if left > 0]
    axes.semilogy(*zip(*points), **style)


def finish(axes, title):
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("cycles")
    grid(axes)


def methods_legend(axes):
    for method, line in STYLE.items():
        axes.plot([], [], color="black", linestyle=line, label=method)
    axes.legend(frameon=False, fontsize=8)


def sizes(rows):
    return ", Gauss-Seidel ".join(smoothers.size_of(r) for r in sorted(rows, key=lambda r: -r["n"]) if r is first(rows, n=r["n"]))


def draw_condition(results):
    rows = select(results, part="condition", start="random f", dim=1)
    if not any("history" in r for r in rows):
        return None
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
    for axes, steps in zip(panels, (1, 2)):
        for colour, eps in zip(PALETTE, values(rows, "eps")):
            for r in select(rows, steps=steps, eps=eps):
                if "history" in r:
                    label = f"eps = {eps:.0e}" if r["method"] == "gauss_seidel" else None
                    history(axes, r, color=colour, linestyle=STYLE[r["method"]], linewidth=1.4, label=label)
        finish(axes, f"{'one smoothing step' if steps == 1 else 'two smoothing steps'} (paper: Figure {3 + steps})\nn = {sizes(rows)}")
    panels[0].set_ylabel("residual / first residual")
    panels[0].legend(frameon=False, fontsize=8)
    methods_legend(panels[1])
    return figure


def draw_size(results):
    rows = select(results, part="size", dim=1)
    if not any("history" in r for r in rows):
        return None
    figure, axes = plt.subplots(figsize=(6, 4.2), layout="constrained")
    for colour, n in zip(PALETTE, values(rows, "n")):
        axes.plot([], [], color=colour, label=f"n = {smoothers.size_of(first(rows, n=n))}")
        for r in select(rows, n=n):
            if "history" in r:
                history(axes, r, color=colour, linestyle=STYLE[r["method"]], linewidth=1.4)
    finish(axes, "two grids, two smoothing steps, eps = 1e-3 (paper: Figure 6)")
    axes.set_ylabel("residual / first residual")
    for method, line in STYLE.items():
        axes.plot([], [], color="black", linestyle=line, label=method)
    axes.legend(frameon=False, fontsize=8)
    return figure


def draw_breakdown(results):
    """The steps that all columns have; a run that was stopped has not all of them."""
    rows, columns = measured(results, part="breakdown", dim=1), smoothers.shown(results)
    steps = [s for s in STEPS if all(first(rows, column=c, steps=s) for c in columns)]
    if not steps:
        return None
    figure, axes = plt.subplots(figsize=(10, 4.4), layout="constrained")
    width = 0.8 / len(columns)
    for c, column in enumerate(columns):
        for s, count in enumerate(steps):
            r = first(rows, column=column, steps=count)
            at, bottom = s + (c - (len(columns) - 1) / 2) * width, 0
            if "smoother_seconds" not in r:
                bottom = r["seconds"]["median"]
                axes.bar(at, bottom, 0.92 * width, color=WHOLE)
            for name, colour in zip(smoothers.PARTS, PALETTE):
                height = r.get(name, {}).get("median", 0)
                axes.bar(at, height, 0.92 * width, bottom=bottom, color=colour)
                bottom += height
            words = f" {column}, {r['cycles']['median']:.0f} cycles, {number(r['seconds']['median'], 2)} s"
            axes.text(at, bottom, words, rotation=90, ha="center", va="bottom", fontsize=6.5)
    for words, colour in zip(smoothers.PART_NAMES, PALETTE):
        axes.bar([0], [0], color=colour, label=words)
    if not all("smoother_seconds" in first(rows, column=c) for c in columns):
        axes.bar([0], [0], color=WHOLE, label="whole, no clock")
    axes.set_xticks(range(len(steps)), [f"{s} step{'s' if s > 1 else ''}" for s in steps])
    axes.set_ylim(0, 1.75 * max(first(rows, column=c, steps=s)["seconds"]["median"] for c in columns for s in steps))
    axes.set_ylabel("seconds until the residual is 1e-6 of f")
    missing = "" if steps == STEPS else f", {' and '.join(str(s) for s in STEPS if s not in steps)} steps not measured"
    asleep = ", host's threads sleep while they wait" if rows[0]["passive"] else ""
    axes.set_title(f"10-level V cycle, n = {smoothers.size_of(rows[0])}, condition number estimate 1e6 (paper: Figure 7){missing}{asleep}", fontsize=9)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def draw_start(results):
    rows = select(results, part="start", start="random u", steps=1)
    if not any("history" in r for r in rows):
        return None
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.4), layout="constrained", sharey=True)
    shown = ["gauss_seidel", "async-2011", "async-2011, stale", "async-2011, damped", "async-2011, red-black", "async-2011, red-black, overlap 1", "async"]
    for axes, dim in zip(panels, (1, 2, 3)):
        for colour, method in zip(PALETTE, shown):
            r = first(rows, dim=dim, method=method)
            if r and "history" in r:
                stale = method.endswith("stale")  # drawn upon the same in flight, which may be under it
                history(axes, r, color=colour, linestyle=":" if stale else "-", linewidth=2.5 if stale else 1.5, label=method)
        n = first(rows, dim=dim)["n"]
        finish(axes, f"{dim}D, {n}^{dim}, V(1,1), random u" if dim > 1 else f"1D, n = {n}, V(1,1), random u")
        axes.set_ylim(1e-16, 2)
    panels[0].set_ylabel("residual / first residual")
    panels[0].legend(frameon=False, fontsize=7, loc="upper right", bbox_to_anchor=(1, 0.93), labelspacing=0.3)
    return figure


PICTURES = {"condition": draw_condition, "size": draw_size, "breakdown": draw_breakdown, "start": draw_start}


if __name__ == "__main__":
    main(__doc__, smoothers, PICTURES, dpi=110)
