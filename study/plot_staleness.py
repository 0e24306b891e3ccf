#!/usr/bin/env python3
"""Pictures of the study of staleness. Usage: plot_staleness.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-ages.png (Figure 11), -relation.png and -rate.png (Figures 3 to 8, 12, 13). Default: what the page shows of a device, into
docs/pictures, and of host threads, as study-staleness-host-*.png."""
from matplotlib.ticker import LogLocator, NullFormatter

from picture import main, plt

import staleness
from page import first, select, values
from staleness import classes

COLOURS = {"sync": "#000000", "static": "#E69F00", "stride": "#D55E00", "ticket": "#0072B2"}


def plain(axis, subs=(1, 2, 5)):
    """Ticks at these multiples of the powers of ten, without exponents."""
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def draw_ages(results):
    grids = list(dict.fromkeys((r["dim"], r["n"]) for r in select(results, part="ages")))
    if not grids:
        return None
    figure, panels = plt.subplots(len(grids), 1, figsize=(11, 3 * len(grids)), layout="constrained", squeeze=False)
    for axes, (dim, n) in zip(panels[:, 0], grids):
        rows = [r for r in select(results, part="ages", dim=dim, n=n) if "min" in r]
        boxes = [{"med": r["median"], "q1": r["q25"], "q3": r["q75"], "whislo": r["min"], "whishi": r["max"], "mean": r["mean"]} for r in rows]
        drawn = axes.bxp(boxes, showfliers=False, showmeans=True, patch_artist=True, widths=0.6,
                         meanprops={"marker": "D", "markersize": 3, "markerfacecolor": "white", "markeredgecolor": "black"},
                         medianprops={"color": "black"})
        for patch, r in zip(drawn["boxes"], rows):
            patch.set_facecolor(COLOURS[r["assignment"]])
            patch.set_alpha(0.6)
        axes.set_yscale("symlog", linthresh=2)
        axes.set_yticks([age for age in (-100, -10, 0, 1, 10, 100) if axes.get_ylim()[0] < age < axes.get_ylim()[1]])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.axhline(1, color="#999999", linewidth=0.7)
        axes.set_ylabel("age")
        axes.set_title(f"{dim}D, {n}^{dim}: whiskers least and most, diamonds means (1: as synchronous Jacobi; below 0: ahead)", fontsize=10)
        axes.set_xticks(range(1, len(rows) + 1),
                        [f"{r['assignment']}\n{r['order']}\n{r['workers']}" + (f" for {r['blocks']}" if r["assignment"] == "static" and r["workers"] < r["blocks"] else "")
                         for r in rows], fontsize=7.5)
    panels[-1, 0].set_xlabel("assignment, order, workers (static: for how many blocks, where there are more)")
    return figure


def draw_relation(results):
    rows = select(results, part="relation") + select(results, part="ages")
    rows = [r for r in rows if "worth_unrecorded" in r and r["age"] > 0]
    if not rows:
        return None
    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    most = 1.03 * max(r["age"] for r in rows)
    line = [0.3 + 0.01 * (most - 0.3) * i for i in range(101)]
    axes.plot(line, [1 / x for x in line], color="#999999", label="1 / mean age")
    alone, several = (lambda r: r["workers"] == 1), (lambda r: r["workers"] > 1)
    kinds = [("sync", bool, "x", "synchronous"), ("ticket", alone, "o", "ticket, one worker"), ("ticket", several, "^", "ticket, several"),
             ("static", bool, "s", "static"), ("stride", lambda r: classes(r) == 1, "D", "stride, one class"),
             ("stride", lambda r: 1 < classes(r) < r["blocks"], "v", "stride, several classes"),
             ("stride", lambda r: classes(r) == r["blocks"], "*", "stride, a worker to every block")]
    for assignment, belongs, marker, words in kinds:
        shown = [r for r in select(rows, assignment=assignment) if belongs(r)]
        if shown:
            axes.plot([r["age"] for r in shown], [r["worth_unrecorded"]["median"] for r in shown], marker, color=COLOURS[assignment], markersize=5,
                      label=words, markerfacecolor="none")
    axes.set_yscale("log")
    axes.set_xlim(0.3, most)
    plain(axes.yaxis, (1, 1.5, 2, 3, 5, 7))
    axes.set_xlabel("mean age over all couplings")
    axes.set_ylabel("a pass is worth so many of synchronous Jacobi's")
    axes.legend(frameon=False, fontsize=8, loc="best")
    return figure


def draw_rate(results):
    grids = []
    for dim in values(select(results, part="rate"), "dim"):  # of each dimension the middle one and the last
        sizes = values(select(results, part="rate", dim=dim), "n")
        grids += [(dim, n) for n in dict.fromkeys((sizes[(len(sizes) - 1) // 2], sizes[-1]))]
    if not grids:
        return None
    figure, panels = plt.subplots(3, len(grids), figsize=(4.4 * len(grids), 10.6), layout="constrained", squeeze=False)
    for (dim, n), top, middle, bottom in zip(grids, *panels):
        for assignment, colour in COLOURS.items():
            for fold, style in ((1, "-"), (4, "--"), (16, ":")):
                r = first(results, part="rate", dim=dim, n=n, assignment=assignment, fold=fold)
                if r:
                    label = assignment if first(results, part="rate", assignment=assignment, fold=4) is None else f"{assignment}, {fold}-fold"
                    top.loglog(r["passes"], [1e6 * t / p for t, p in zip(r["seconds"], r["passes"])], style, color=colour, marker=".", label=label)
                    middle.loglog(r["passes"], r["residual"], style, color=colour, marker=".")
                    bottom.loglog([1e3 * t for t in r["seconds"]], r["residual"], style, color=colour, marker=".")
        for axes in (top, middle, bottom):
            plain(axes.yaxis)
        top.set_title(f"{dim}D, {n}^{dim}", fontsize=10)
        top.set_xlabel("passes")
        middle.set_xlabel("passes")
        bottom.set_xlabel("ms")
    panels[0][0].set_ylabel("us a pass")
    for row in panels[1:]:
        row[0].set_ylabel("residual / first residual")
    panels[0][0].set_ylim(bottom=panels[0][0].get_ylim()[0] / 2.5)  # room for the legend
    panels[0][0].legend(frameon=False, fontsize=7, ncol=3, loc="lower center")
    return figure


PICTURES = {"ages": draw_ages, "relation": draw_relation, "rate": draw_rate}

if __name__ == "__main__":
    main(__doc__, staleness, PICTURES, dpi=90)
