#!/usr/bin/env python3
"""Pictures of the study of block orders. Usage: plot_order.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-sweeps.png (factor over local sweeps, of a host: all orders are one on a device), -flight.png (over blocks in flight, the
model, of a host's file), -room.png (factor and time over a device's thread blocks in flight) and -locality.png (time over blocks).
Default: what the page shows, into docs/pictures."""
from picture import PALETTE, grid, main, plt

import order
from page import select, values

COLOUR = dict(zip([*order.ORDERS, order.TURNING], PALETTE))


def curve(axes, rows, key, name, label, **style):
    points = sorted((r[key], r[name]) for r in rows if name in r)
    if not points:
        return
    at = [x for x, _ in points]
    axes.plot(at, [y["median"] for _, y in points], marker="o", markersize=3.5, linewidth=1.4, label=label, **style)
    axes.fill_between(at, [y["min"] for _, y in points], [y["max"] for _, y in points], color=style["color"], alpha=0.2, linewidth=0)


def panels(seen, words, draw):
    """A panel for every dimension and overlap."""
    figure, lines = plt.subplots(2, 3, figsize=(12, 7), layout="constrained", sharex="col")
    for line, overlap in zip(lines, (0, 1)):
        for axes, dim in zip(line, (1, 2, 3)):
            rows = select(seen, dim=dim, overlap=overlap)
            n = min(values(rows, "n"))
            draw(axes, select(rows, n=n))
            axes.set_title(f"{order.size({'n': n, 'dim': dim})}, overlap {overlap}", fontsize=10)
            grid(axes)
            axes.set_ylim(0, 1.06 * axes.dataLim.y1)
            if overlap:
                axes.set_xlabel(words)
    for line in lines:
        line[0].set_ylabel("factor a cycle, V(1,1)")
    lines[1][0].legend(frameon=False, fontsize=8)  # where the curves leave room
    return figure


def draw_sweeps(results):
    def draw(axes, rows):
        for name in order.ORDERS:
            curve(axes, select(rows, smoother="async", in_flight=0, order=name), "sweeps", "factor", name, color=COLOUR[name])
        curve(axes, select(rows, smoother="stale twin"), "sweeps", "factor", "all in flight (stale twin)", color="black", linestyle="--")
        axes.set_xticks(values(rows, "sweeps"))

    seen = [] if order.has_device(results) else select(results, part="order")
    return panels(seen, "local sweeps", draw) if seen else None


def draw_flight(results):
    def draw(axes, rows):
        for name, colour in COLOUR.items():
            curve(axes, select(rows, order=name), "in_flight", "factor", name, color=colour)
        axes.set_xscale("log", base=2)

    seen = [] if order.has_device(results) else order.flight_rows(results, "model")
    return panels(seen, "blocks in flight", draw) if seen else None


PROCESSORS = 132  # of the H200


def draw_room(results):
    seen = order.flight_rows(results, "async")
    if not seen:
        return None
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    n = max(values(seen, "n"))
    for name in order.FLYING:
        rows = [{"at": r["in_flight"] or PROCESSORS * r["oversubscription"], "factor": r["factor"],
                 "ms": {key: 1e3 * r["cycle_seconds"]["median"] for key in ("median", "min", "max")}}
                for r in select(seen, n=n, order=name, overlap=0) if "factor" in r]
        curve(left, rows, "at", "factor", name, color=COLOUR[name])
        curve(right, rows, "at", "ms", name, color=COLOUR[name])
    for axes, words in ((left, "factor a cycle, V(1,1)"), (right, "ms a cycle, medians")):
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, 1.06 * axes.dataLim.y1)
        axes.set_xlabel("thread blocks that may be in flight")
        axes.set_ylabel(words)
        axes.set_title(f"{n}, overlap 0", fontsize=10)
        grid(axes)
    left.legend(frameon=False, fontsize=8)
    return figure


def draw_locality(results):
    seen = select(results, part="locality")
    if not seen:
        return None
    dims = values(seen, "dim")
    figure, line = plt.subplots(1, len(dims), figsize=(4.2 * len(dims), 3.8), layout="constrained", squeeze=False)
    line = line[0]
    for axes, dim in zip(line, dims):
        rows = select(seen, dim=dim)
        for name in order.ORDERS:
            curve(axes, select(rows, order=name), "block", "sweep_seconds", name, color=COLOUR[name])
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("unknowns along a block")
        axes.set_title(order.size(rows[0]), fontsize=10)
        grid(axes)
    line[0].set_ylabel("seconds a smoothing step")
    line[0].legend(frameon=False, fontsize=8)
    return figure


PICTURES = {"sweeps": draw_sweeps, "flight": draw_flight, "room": draw_room, "locality": draw_locality}


if __name__ == "__main__":
    main(__doc__, order, PICTURES, dpi=80)
