#!/usr/bin/env python3
"""Pictures of the study of block orders. Usage: plot_order.py [FILE.json ...] [-o PREFIX]
Draws PREFIX-sweeps.png (factor over local sweeps, of a host: all orders are one on a device), -flight.png (over blocks in flight, the
model, of a host's file), -room.png (factor and time over a device's thread blocks in flight), -pace.png (its residual over time, as in
the paper's Figure 3) and -locality.png (time over blocks).
Default: what the page shows, into docs/pictures."""
from matplotlib.ticker import LogLocator, NullFormatter

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


def logarithmic(axes):
    """Labels both axes. The second one has plain numbers."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    grid(axes)


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


PROCESSORS, FITTING = 132, 4  # of the H200; thread blocks without overlap that find room on each


def abscissa(record):
    """How many thread blocks may be in flight; None where that is up to the device."""
    fold, in_flight = order.room_of(record)
    resident = record["blocks"] if record["blocks"] <= PROCESSORS else None
    return PROCESSORS * fold or in_flight or resident


def draw_room(results):
    """The largest grid of every dimension: the factor above, the time of a cycle below. Curves with overlap are dashed."""
    seen = [dict(r, at=abscissa(r), ms={key: 1e3 * r["cycle_seconds"]["median"] for key in ("median", "min", "max")})
            for r in order.flight_rows(results, "async") if "factor" in r and abscissa(r)]
    if not seen:
        return None
    dims = values(seen, "dim")
    figure, lines = plt.subplots(2, len(dims), figsize=(4 * len(dims), 6.6), layout="constrained", sharex="col", sharey="row", squeeze=False)
    for column, dim in zip(lines.T, dims):
        rows = [r for r in select(seen, dim=dim) if r["n"] == max(values(select(seen, dim=dim), "n"))]
        for axes, name in zip(column, ("factor", "ms")):
            for flying in order.FLYING:
                curve(axes, select(rows, order=flying, overlap=0), "at", name, flying, color=COLOUR[flying])
                curve(axes, select(rows, order=flying, overlap=1), "at", name, f"{flying}, overlap 1", color=COLOUR[flying], linestyle="--")
            logarithmic(axes)
        column[0].set_title(f"{order.size(rows[0])}, {rows[0]['blocks']} blocks", fontsize=10)
        column[1].set_xlabel("thread blocks that may be in flight")
    lines[0][0].set_ylabel("factor a cycle, V(1,1)")
    lines[1][0].set_ylabel("ms a cycle, medians")
    lines[1][-1].legend(frameon=False, fontsize=8)
    return figure


def draw_pace(results):
    """The paper's Figure 3. Without overlap; a panel for every grid and order, a curve for every number of thread blocks up to what fits."""
    seen = [r for r in order.flight_rows(results, "async") if "residual" in r and r["overlap"] == 0 and order.room_of(r)[0] <= FITTING]
    grids = order.settings(seen, "dim", "n")
    if not seen:
        return None
    figure, lines = plt.subplots(len(grids), 3, figsize=(12, 3.4 * len(grids)), layout="constrained", sharex="row", sharey="row", squeeze=False)
    for line, wanted in zip(lines, grids):
        for axes, name in zip(line, order.FLYING):
            rows = select(order.of_setting(seen, ("dim", "n"), wanted), order=name)
            for colour, r in zip(PALETTE, sorted(rows, key=lambda r: (order.room_of(r) == (0, 0), order.room_of(r)))):
                axes.plot([1e3 * r["cycle_seconds"]["median"] * i for i in range(len(r["residual"]) + 1)], [1, *r["residual"]], marker="o",
                          markersize=3, linewidth=1.4, color=colour, label=order.room_name(order.room_of(r)))
            axes.set_yscale("log")
            axes.set_title(f"{order.size(rows[0])}, {name}", fontsize=10)
            grid(axes)
        line[0].set_ylabel("residual, relative")
    for axes in lines[-1]:
        axes.set_xlabel("ms, medians")
    lines[0][-1].legend(frameon=False, fontsize=8, title="thread blocks", title_fontsize=8)  # where the curves leave room
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
        logarithmic(axes)
        axes.set_xlabel("unknowns along a block")
        axes.set_title(f"{order.size(rows[0])}, {rows[0]['where']}", fontsize=10)
    line[0].set_ylabel("seconds a smoothing step")
    line[-1].legend(frameon=False, fontsize=8)
    return figure


PICTURES = {"sweeps": draw_sweeps, "flight": draw_flight, "room": draw_room, "pace": draw_pace, "locality": draw_locality}


if __name__ == "__main__":
    main(__doc__, order, PICTURES, dpi=80)
