#!/usr/bin/env python3
"""Pictures of the model problems, from what their demos write (docs/models.md has the commands).

  models.py gravity FILE.json FILE.h5 -o OUT.png    anomaly at the surface, potential in the ground
  models.py layers FILE.json FILE.h5 -o OUT.png     a section through the layers, iterations
  models.py screened FILE.json -o OUT.png           residuals of Jacobi with and without screening, and of multigrid
  models.py clone NAME -o OUT.png                   the four images of clone --save NAME
"""
import argparse
import sys

import plot
from plot import PALETTE, PlotError, plt, read_field, read_json

KILO = 1000  # metres


def take(report, path, *names):
    """Members of a report, or what is missing."""
    for name in names:
        if name not in report:
            raise PlotError(f"{path}: no \"{name}\"; is it what this demo writes?")
    return [report[name] for name in names]


def middle_section(path):
    """u in the plane through the middle across y, with the ends of its axes x and z."""
    data, h, origin = read_field(path, "u")
    if data.ndim != 3:
        raise PlotError(f"{path}: not a 3D field")
    ends = [(origin[i] - h[i] / 2, origin[i] + (data.shape[i] - 0.5) * h[i]) for i in range(3)]
    return data[:, data.shape[1] // 2, :], ends[2], ends[0]


def draw_gravity(arguments):
    report = read_json(arguments.json)
    profile, depth, radius, _, error = take(report, arguments.json, "profile", "depth", "radius", "density", "error_anomaly")
    section, along, up = middle_section(arguments.h5)
    half, deep = (along[1] - along[0]) / 2 / KILO, (up[1] - up[0]) / KILO
    figure, (line, ground) = plt.subplots(2, 1, sharex=True, figsize=(7.2, 6.9), gridspec_kw={"height_ratios": [1, 1.5]})
    x = [at / KILO - half for at in profile["x"]]
    line.plot(x, profile["exact"], color=PALETTE[6], linewidth=1.2, label="exact, G m d / r³")
    line.plot(x[::3], profile["anomaly"][::3], "o", color=PALETTE[1], markersize=4, label=f"gmg: within {error:.1%} of the peak")
    line.set_ylabel("anomaly at the surface [mGal]")
    line.legend(frameon=False, fontsize=9)
    line.grid(True, color="#dddddd", linewidth=0.7)
    density = f"{abs(report['density']):g} kg/m³ {'denser' if report['density'] > 0 else 'lighter'} than the ground"
    line.set_title(f"A sphere of {radius:g} m radius, {density}, {depth:g} m deep", fontsize=11)
    extent = [-half, half, deep, 0]  # depth downward
    section = 1000 * section[::-1]
    peak = max(section.min(), section.max(), key=abs)
    image = ground.imshow(section, extent=extent, cmap="viridis" if peak > 0 else "viridis_r", aspect="equal")
    levels = sorted(peak * part for part in (0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85))
    ground.contour(section, levels=levels, extent=extent, origin="upper", colors="white", linewidths=0.7, linestyles="-", alpha=0.8)
    ground.add_patch(plt.Circle((0, depth / KILO), radius / KILO, fill=False, edgecolor="white", linestyle="--", linewidth=1.4))
    ground.set_xlabel("x [km]")
    ground.set_ylabel("depth [km]")
    scale = figure.colorbar(image, cax=ground.inset_axes([0.04, 0.1, 0.22, 0.04]), orientation="horizontal")
    scale.set_label("potential [10⁻³ m²/s²]", color="white", fontsize=8, labelpad=1)
    scale.ax.xaxis.set_label_position("top")
    scale.ax.tick_params(colors="white", labelsize=8)
    return figure


def draw_layers(arguments):
    report = read_json(arguments.json)
    layers, methods = take(report, arguments.json, "layers", "methods")
    section, along, up = middle_section(arguments.h5)
    figure, (ground, bars) = plt.subplots(2, 1, figsize=(7.2, 5.4), gridspec_kw={"height_ratios": [1.4, 1]})
    image = ground.imshow(section, origin="lower", extent=[*along, *up], aspect="auto", cmap="viridis")
    for number, layer in enumerate(layers):
        bottom = up[0] + (up[1] - up[0]) * number / len(layers)
        if number:
            ground.axhline(bottom, color="white", linewidth=1)
        ground.text(along[0] + 0.02 * (along[1] - along[0]), bottom + (up[1] - up[0]) / len(layers) / 2, f"μ = {layer['mu']:g}", color="white",
                    va="center", fontsize=9)
    ground.set_xlabel("x")
    ground.set_ylabel("z")
    ground.set_title("−div(μ grad u) = cos(250 z): u in the plane y = 0.5", fontsize=11)
    figure.colorbar(image, ax=ground, label="u")
    names = {"gmg": "gmg", "diagonal_cg": "CG, diagonally\npreconditioned", "cg": "CG"}
    counts = [row["iterations"] for row in methods]
    drawn = bars.barh([names.get(row["name"], row["name"]) for row in methods], counts, color=[PALETTE[2], PALETTE[4], PALETTE[1]])
    bars.bar_label(drawn, [f" {row['iterations']}, {row['seconds']:.2g} s" for row in methods], fontsize=9)
    bars.set_xscale("log")
    bars.set_xlim(1, 6 * max(counts))
    bars.invert_yaxis()
    bars.set_xlabel(f"iterations to a residual of {report['params']['rtol']:g} ‖f‖, and time")
    return figure


def draw_screened(arguments):
    report = read_json(arguments.json)
    rows, solves = take(report, arguments.json, "single_level", "solves")
    names = {"seven_points": "seven points", "trilinear": "trilinear elements"}
    figure, axes = plt.subplots(figsize=(7.2, 4.8))
    colours = {"trilinear": PALETTE[0], "seven_points": PALETTE[1]}
    for row in rows:
        if row["eta"] not in (0, 1):  # the curve of 0.1 would cover that of 0
            continue
        sweeps = [i * row["stride"] for i in range(len(row["history"]))]
        label = f"Jacobi, {names[row['stencil']]}, η = {row['eta']:g}"
        if row["eta"]:
            label += f": {row['ratio']:.4f} times as steep"
        axes.plot(sweeps, row["history"], color=colours[row["stencil"]], linestyle="--" if row["eta"] else "-", linewidth=1.5, label=label)
    residuals = [r / solves[-1]["history"][0] for r in solves[-1]["history"]]
    axes.plot(range(len(residuals)), residuals, color=PALETTE[2], marker=".", linewidth=1.5, label=f"gmg, η = {solves[-1]['eta']:g}: {solves[-1]['cycles']} cycles")
    axes.set_yscale("log")
    axes.set_ylim(2e-12, 2)
    axes.set_xlabel("sweeps or cycles")
    axes.set_ylabel("residual relative to the first")
    size = report["problem"]["n"][0]
    axes.set_title(f"−Δu + ηu = cos(x + y) on {size}³; exact ratio of the slopes {rows[-1]['exact_ratio']:.4f}", fontsize=11)
    axes.grid(True, color="#dddddd", linewidth=0.7)
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_clone(arguments):
    parts = (("target", "the target"), ("source", "the source, enlarged"), ("pasted", "pasted"), ("blended", "cloned: one Poisson equation a colour"))
    try:
        images = [plt.imread(f"{arguments.name}-{part}.png") for part, _ in parts]
    except OSError as error:
        raise PlotError(f"{error.filename}: {error.strerror}") from error
    height, width = images[0].shape[:2]
    figure, axes = plt.subplots(2, 2, figsize=(6.7, 6.7 * height / width + 0.5))
    for place, image, (_, title) in zip(axes.flat, images, parts):
        scale = min(height / image.shape[0], width / image.shape[1])
        down, right = (height - scale * image.shape[0]) / 2, (width - scale * image.shape[1]) / 2
        if image.ndim == 3 and image.shape[2] == 4 and image[..., 3].min() < 1:  # pixels that are not cloned are drawn paler
            image = image.copy()
            image[..., 3] = 0.35 + 0.65 * image[..., 3]
        extent = [right, right + scale * image.shape[1], down + scale * image.shape[0], down]
        place.imshow(image, extent=extent, cmap="gray", vmin=0, vmax=1, interpolation="antialiased")
        place.set_xlim(0, width)
        place.set_ylim(height, 0)
        place.set_title(title, fontsize=9)
        place.axis("off")
    figure.subplots_adjust(wspace=0.03, hspace=0.12)
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(description="Draws what the demos of the model problems write.")
    commands = parser.add_subparsers(dest="command", required=True)
    rows = (("gravity", draw_gravity, ("json", "h5")), ("layers", draw_layers, ("json", "h5")), ("screened", draw_screened, ("json",)), ("clone", draw_clone, ("name",)))
    for name, draw, files in rows:
        command = commands.add_parser(name)
        for file in files:
            command.add_argument(file, metavar="NAME" if file == "name" else f"FILE.{file}")
        command.add_argument("-o", "--output", required=True, metavar="OUT.png", help="picture to write")
        command.set_defaults(draw=draw)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(plot.run(parse(sys.argv[1:]), "models.py"))
