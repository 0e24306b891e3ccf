#!/usr/bin/env python3
"""Pictures of study_faults from its JSON. Usage: plot_faults.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-relaxation.png (Figure 10) and PREFIX-cycles.png. Default: what the page shows, into docs/pictures."""
from picture import PALETTE, grid, main, plt

import faults
from faults import KINDS, MATRICES, level_name, merged, shape
from page import first, select, values

RECOVERIES = ["undisturbed", "recover-(10)", "recover-(20)", "recover-(30)", "no recovery"]

# On a device that holds all blocks at once both are the same line: a narrow one on a broad one.
LINES = [("async-(5)", "-", {"linewidth": 4, "alpha": 0.45}), ("async-(5), stale", ":", {"linewidth": 1.5})]


def draw_relaxation(results):
    shown = [(matrix, dim) for matrix, dim in MATRICES if any("history" in r for r in select(results, matrix=matrix, dim=dim))]
    if not shown:
        return None
    figure, panels = plt.subplots(1, len(shown), figsize=(4.3 * len(shown), 4.4), layout="constrained", sharey=True, squeeze=False)
    for axes, (matrix, dim) in zip(panels[0], shown):
        for colour, recovery in zip(PALETTE, RECOVERIES):
            for method, line, look in LINES:
                r = first(results, part="relaxation", matrix=matrix, dim=dim, method=method, lost="blocks", recovery=recovery)
                if r and "history" in r:
                    axes.semilogy(r["history"], line, color=colour, label=recovery if line == "-" else None, **look)
        axes.axvline(10, color="#999999", linewidth=0.8)
        axes.set_title(f"for {matrix}: {dim}D, {shape(r)} (paper: Figure 10)", fontsize=10)
        axes.set_xlabel("passes")
        grid(axes)
    panels[0][0].set_ylabel("residual / first residual")
    panels[0][0].legend(frameon=False, fontsize=8)
    for method, line, look in LINES:
        panels[0][-1].plot([], [], line, color="black", label=method, **look)
    panels[0][-1].legend(frameon=False, fontsize=8)
    return figure


def draw_cycles(results):
    rows = select(results, part="multigrid")
    if not rows:
        return None
    figure, panels = plt.subplots(1, len(KINDS), figsize=(4 * len(KINDS), 4.4), layout="constrained", sharey=True)
    most = max(max(r["extra"], default=0) for r in rows)
    for axes, kind in zip(panels, KINDS):
        levels = sorted(set(values(select(rows, kind=kind), "level")))
        width = 0.85 / len(levels)
        for number, level in enumerate(levels):
            extra, lost, count = merged(select(rows, kind=kind, level=level))
            heights = [100 * sum(t for more, t in extra.items() if max(more, 0) == x) / count for x in range(most + 1)] + [100 * lost / count]
            places = [x + (number - (len(levels) - 1) / 2) * width for x in range(most + 2)]
            axes.bar(places, heights, 0.92 * width, color=PALETTE[number % len(PALETTE)], label=f"level {level_name(level)}, {count}" if level >= 0 else f"{count}")
        axes.set_xticks(range(most + 2), [*map(str, range(most + 1)), "div."])
        axes.set_title(kind, fontsize=10)
        axes.set_xlabel("extra cycles; div.: reported as diverged")
        axes.legend(frameon=False, fontsize=8, title="faults", title_fontsize=8)
        axes.grid(True, axis="y", color="#cccccc", linewidth=0.7)
        axes.set_axisbelow(True)
    panels[0].set_ylabel("% of the faults")
    return figure


PICTURES = {"relaxation": draw_relaxation, "cycles": draw_cycles}


if __name__ == "__main__":
    main(__doc__, faults, PICTURES, dpi=100)
