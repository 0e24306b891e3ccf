#!/usr/bin/env python3
"""Pictures of what the demo programs write: convergence histories from JSON reports, slices from HDF5 files.

  plot.py history FILE.json [FILE.json ...] -o OUT.png
  plot.py slice FILE.h5 [--dataset u] [--axis 2] [--index K] -o OUT.png
  plot.py media FILE.json FILE.h5 -o OUT.png
"""
import argparse
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.axes_grid1 import make_axes_locatable

# The palette of Okabe and Ito for colour-blind readers, without yellow, which is too pale for lines.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = "osD^vPX"
AXIS_NAMES = "xyz"


class PlotError(Exception):
    """An input that cannot be drawn; its text is for the user."""


def read_json(path):
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except OSError as error:
        raise PlotError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise PlotError(f"{path}: not a JSON file ({error})") from error
    if not isinstance(data, dict):
        raise PlotError(f"{path}: not a report")
    return data


def problem_text(report):
    problem = report.get("problem", {})
    if not problem.get("n"):
        return ""
    size = " x ".join(str(n) for n in problem["n"])
    return f"{problem.get('dim', len(problem['n']))}D, {size}, {problem.get('centering', '')}-centred"


def factor_text(factor):
    return "" if factor is None else f", factor {factor:.2g}"


def curves_of(path, report):
    """Yields (label, [histories]) of a report, a comparison of smoothers or a sweep of shifts."""
    if "smoothers" in report:
        for row in report["smoothers"]:
            if row.get("histories"):
                yield row["name"] + factor_text(row.get("factor", {}).get("median")), row["histories"]
    elif "sweep" in report:
        for row in report["sweep"]:
            yield f"σ = {row['shift']:.0e}" + factor_text(row.get("factor")), [row["history"]]
    elif "history" in report:
        name = report.get("params", {}).get("smoother", "")
        label = f"{os.path.basename(path)}: {name}" if name else os.path.basename(path)
        yield label + factor_text(report.get("factor")), [report["history"]]
    else:
        raise PlotError(f"{path}: has neither \"history\" nor \"smoothers\" nor \"sweep\"")


def relative(history):
    """Residuals divided by the first one. Values that are not finite and positive are left out, because the axis is logarithmic."""
    if not history or not history[0]:
        return [], []
    points = [(i, r / history[0]) for i, r in enumerate(history) if r is not None and r > 0]
    return [p[0] for p in points], [p[1] for p in points]


def draw_history(arguments):
    reports = [(path, read_json(path)) for path in arguments.files]
    curves = [curve for path, report in reports for curve in curves_of(path, report)]
    figure, axes = plt.subplots(figsize=(7.2, 4.8))
    colours = PALETTE
    if len(curves) > len(PALETTE):
        colours = plt.get_cmap("viridis")([i / len(curves) for i in range(len(curves))])
    drawn = 0
    for number, (label, histories) in enumerate(curves):
        for run, history in enumerate(histories):  # runs of one smoother share its colour
            cycles, residuals = relative(history)
            if not cycles:
                continue
            axes.semilogy(cycles, residuals, color=colours[number], marker=MARKERS[number % len(MARKERS)], markersize=4,
                          linewidth=1.6, alpha=1 if run == 0 else 0.35, label=label if run == 0 else None)
            drawn += 1
    if not drawn:
        raise PlotError("no history with a residual above zero")
    texts = {problem_text(report) for _, report in reports}
    axes.set_title(f"Convergence: {texts.pop()}" if len(texts) == 1 and "" not in texts else "Convergence", fontsize=11)
    axes.set_xlabel("cycle")
    axes.set_ylabel("residual relative to the first, ‖r‖₂ / ‖r₀‖₂")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(True, which="major", color="#cccccc", linewidth=0.7)
    axes.grid(True, which="minor", color="#eeeeee", linewidth=0.4)
    beside = len(curves) > len(PALETTE)
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if beside else {"loc": "best"}
    axes.legend(frameon=False, fontsize=8 if beside else 9, **place)
    return figure


def read_field(path, name):
    """The dataset with its mesh widths and origin in the order of the array's axes (slowest first)."""
    import h5py  # only slices need it
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise PlotError(f"{path}: no such file or not HDF5") from error
    with file:
        if name not in file:
            raise PlotError(f"{path}: no dataset '{name}'; there are: {', '.join(file)}")
        data = file[name]
        count = len(data.shape)
        if not 1 <= count <= 3:
            raise PlotError(f"{path}: '{name}' has {count} axes, not 1 to 3")
        h = list(data.attrs.get("h", [1.0] * count))[::-1]
        origin = list(data.attrs.get("origin", [0.0] * count))[::-1]
        return data[...], h, origin


def draw_line(arguments, axes, data, h, origin):
    x = [origin[0] + i * h[0] for i in range(len(data))]
    axes.plot(x, data, color=PALETTE[0], linewidth=1.6, marker="." if len(data) <= 100 else None)
    axes.set_xlabel("x")
    axes.set_ylabel(arguments.dataset)
    axes.set_title(f"{arguments.dataset} on {len(data)} unknowns", fontsize=11)
    axes.grid(True, color="#cccccc", linewidth=0.7)


def cut(arguments, data, h, origin):
    """A plane of a 3D field; returns it with the names, widths and origins of its two axes and a title."""
    names = list(AXIS_NAMES[: data.ndim])[::-1]
    if data.ndim == 2:
        return data, names, h, origin, arguments.dataset
    if not 0 <= arguments.axis < 3:
        raise PlotError(f"--axis {arguments.axis}: must be 0, 1 or 2")
    at = data.ndim - 1 - arguments.axis
    index = data.shape[at] // 2 if arguments.index is None else arguments.index
    if not 0 <= index < data.shape[at]:
        raise PlotError(f"--index {index}: must be from 0 to {data.shape[at] - 1}")
    title = f"{arguments.dataset} at {names[at]} = {origin[at] + index * h[at]:.4g}"
    rest = [i for i in range(3) if i != at]
    return data.take(index, axis=at), [names[i] for i in rest], [h[i] for i in rest], [origin[i] for i in rest], title


def draw_plane(arguments, figure, axes, data, h, origin):
    plane, names, h, origin, title = cut(arguments, data, h, origin)
    ends = [(origin[i] - h[i] / 2, origin[i] + (plane.shape[i] - 0.5) * h[i]) for i in range(2)]
    low, high = float(plane.min()), float(plane.max())
    signed = low < 0 < high and min(-low, high) > 0.1 * max(-low, high)
    most = max(abs(low), abs(high))
    colours = {"cmap": "RdBu_r", "vmin": -most, "vmax": most} if signed else {"cmap": "viridis"}
    image = axes.imshow(plane, origin="lower", extent=[*ends[1], *ends[0]], aspect="equal", **colours)
    beside = make_axes_locatable(axes).append_axes("right", size="4%", pad=0.12)  # as high as the picture
    figure.colorbar(image, cax=beside, label=arguments.dataset)
    axes.set_xlabel(names[1])
    axes.set_ylabel(names[0])
    axes.set_title(title, fontsize=11)


def draw_slice(arguments):
    data, h, origin = read_field(arguments.file, arguments.dataset)
    figure, axes = plt.subplots(figsize=(6.4, 5.0) if data.ndim > 1 else (7.2, 4.4))
    if data.ndim == 1:
        draw_line(arguments, axes, data, h, origin)
    else:
        draw_plane(arguments, figure, axes, data, h, origin)
    return figure


def middle_plane(path, name):
    """A 2D field, or the middle plane of a 3D field across its last axis."""
    data, _, _ = read_field(path, name)
    if data.ndim not in (2, 3):
        raise PlotError(f"{path}: '{name}' has {data.ndim} axes, not 2 or 3")
    return data if data.ndim == 2 else data[data.shape[0] // 2]


def draw_image(figure, axes, plane, title, **colours):
    image = axes.imshow(plane, origin="lower", aspect="equal", **colours)
    beside = make_axes_locatable(axes).append_axes("right", size="4%", pad=0.1)
    figure.colorbar(image, cax=beside)
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("unknown along x")
    axes.set_ylabel("unknown along y")


def draw_media(arguments):
    """A medium, the solution in it, and the convergence of the solve, side by side."""
    report = read_json(arguments.report)
    shows, problem = report.get("shows"), report.get("problem", {})
    if not shows or "history" not in report:
        raise PlotError(f"{arguments.report}: not a report of the demo media")
    medium, u = middle_plane(arguments.file, shows), middle_plane(arguments.file, "u")
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.5, 4.2))
    positive = float(medium.max()) > 0 and medium[medium > 0].max() > medium[medium > 0].min()
    scale = {"norm": LogNorm(medium[medium > 0].min(), medium.max())} if positive else {}
    draw_image(figure, left, medium, {"aspect": "largest mesh width over smallest"}.get(shows, shows), cmap="cividis", **scale)
    most = float(abs(u).max())
    draw_image(figure, middle, u, "u", cmap="RdBu_r", vmin=-most, vmax=most)
    cycles, residuals = relative(report["history"])
    right.semilogy(cycles, residuals, color=PALETTE[0], marker="o", markersize=4, linewidth=1.6)
    right.set_title(f"{report['cycles']} cycles{factor_text(report.get('factor'))}", fontsize=10)
    right.set_xlabel("cycle")
    right.set_ylabel("residual relative to the first, ‖r‖₂ / ‖r₀‖₂")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.grid(True, color="#cccccc", linewidth=0.7)
    figure.suptitle(f"{problem.get('medium')}, strength {problem.get('strength'):g}: {report.get('about')}; {problem_text(report)}", fontsize=11)
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(description="Draws what the gmg demos write.")
    commands = parser.add_subparsers(dest="command", required=True)
    history = commands.add_parser("history", help="residuals against cycles from JSON reports")
    history.add_argument("files", nargs="+", metavar="FILE.json")
    history.set_defaults(draw=draw_history)
    cutting = commands.add_parser("slice", help="a plane of a 3D field, a 2D field, or a 1D field as a line")
    cutting.add_argument("file", metavar="FILE.h5")
    cutting.add_argument("--dataset", default="u", help="name of the field (u)")
    cutting.add_argument("--axis", type=int, default=2, help="3D: axis across the plane, 0, 1 or 2 (2)")
    cutting.add_argument("--index", type=int, help="3D: index of the plane along that axis (the middle)")
    cutting.set_defaults(draw=draw_slice)
    media = commands.add_parser("media", help="a medium, the solution in it, and its convergence, from the demo media")
    media.add_argument("report", metavar="FILE.json")
    media.add_argument("file", metavar="FILE.h5")
    media.set_defaults(draw=draw_media)
    for command in (history, cutting, media):
        command.add_argument("-o", "--output", required=True, metavar="OUT.png", help="picture to write")
    return parser.parse_args(arguments)


def run(arguments, program):
    try:
        figure = arguments.draw(arguments)
        figure.tight_layout()
        figure.savefig(arguments.output, dpi=150)
    except PlotError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:  # the file cannot be written, or its suffix is not a picture format
        print(f"{program}: {arguments.output}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run(parse(sys.argv[1:]), "plot.py"))
