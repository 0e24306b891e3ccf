#!/usr/bin/env python3
"""Fills the tables of docs/performance.md, docs/notes/media.md, docs/notes/cublas.md and docs/notes/variants.md from the files in bench/results,
writes bench/results/checks.md, and draws docs/pictures/gpu-growth.png.
Usage: study.py [--check] [--results FOLDER] [--docs FOLDER] [--picture FILE]
--check writes nothing and fails where a page is not what the results make of it. A table stands between the lines
<!-- NAME --> and <!-- end -->."""
import argparse
import json
import pathlib
import re
import sys

from checks_page import checks_page

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOT_YET = "*Not measured yet: `{} bench/results/{}`, then `python3 bench/study.py`, put it here.*"
BLOCKS = "async_blocks"  # in double, with blocks of a given shape: for staleness alone
PALETTE = ["#0072B2", "#D55E00", "#009E73"]


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value, digits=3):
    """In plain notation, with that many significant digits."""
    if value is None:
        return ""
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.1e}"
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in text else text


def origin(data):
    return (f"{data['device']}, driver {data['driver']}, copy {data['copy']['median'] / 1e12:.3g} TB/s, commit {data['commit']}, "
            f"{data['date'][:10]}.")


def size_name(row):
    return f"{row['n']:.0e}".replace("e+0", "e") if row["dim"] == 1 else f"{row['n']}^{row['dim']}"


# --- bench_gpu -------------------------------------------------------------------------------------------------------


def rows_table(bench):
    rows = []
    for r in bench["results"]:
        spread = f"{number(r['median'])} ({number(r['min'])} - {number(r['max'])})" if r["runs"] > 1 else number(r["median"])
        rows.append([f"`{r['name']}`", f"{spread} {r['unit']}", number(r.get("fraction_of_copy"), 2), number(r.get("factor"), 2),
                     number(r.get("cycles")), number(r.get("tolerance")), number(r.get("floor"), 2), r.get("status", "")])
    head = ["row", "median (min - max)", "fraction of copy", "factor", "cycles", "tolerance", "floor", "ended"]
    floors = dict.fromkeys(r["floor_of"] for r in bench["results"] if "floor_of" in r)
    return f"{origin(bench)} Floors are those of {', or '.join(floors)}.\n\n" + table(head, rows)


# --- the study -------------------------------------------------------------------------------------------------------


class Study:
    """The rows by method and size, in the order in which they were measured."""

    def __init__(self, data):
        self.data = data
        self.rows = [r for r in data["results"] if not r["method"].startswith("growth")]
        self.growth = [r for r in data["results"] if r["method"].startswith("growth")]
        self.methods = list(dict.fromkeys(r["method"] for r in self.rows if not r["method"].startswith(BLOCKS)))
        self.sizes = list(dict.fromkeys((r["dim"], r["n"]) for r in self.rows))
        self.at = {(r["method"], r["dim"], r["n"]): r for r in self.rows}

    def solved(self, method, size):
        """The row, or None where it was not measured or did not reach the tolerance."""
        row = self.at.get((method, *size))
        return row if row and row["status"] == "ok" else None

    def fastest(self, size):
        rows = [row for row in (self.solved(m, size) for m in self.methods) if row]
        return min(rows, key=lambda r: r["median"]) if rows else None

    def head(self):
        return ["size", "tolerance", "floor", *[m.replace("_", " ") for m in self.methods]]

    def by_size(self, cell):
        rows = []
        for size in self.sizes:
            there = [self.at[m, *size] for m in self.methods if (m, *size) in self.at]
            told = next((r for r in there if "tolerance" in r), {})
            cells = [cell(self.at[m, *size], size) if (m, *size) in self.at else "" for m in self.methods]
            rows.append([size_name(there[0]), number(told.get("tolerance")), number(told.get("floor"), 2), *cells])
        return rows


def time_table(study):
    def cell(row, size):
        if row["status"] != "ok":
            return row["status"]
        text = f"{number(row['median'])} ({row['cycles']})"
        return f"**{text}**" if row is study.fastest(size) else text
    return origin(study.data) + "\n\n" + table(study.head(), study.by_size(cell))


def cycle_table(study):
    def cell(row, _):
        if row["status"] == "skipped":
            return "skipped"
        return f"{number(row['factor'], 2)}; {number(row['cycle_ms'])}; {number(row['cycle_fraction_of_copy'], 2)}"
    return table(study.head(), study.by_size(cell))


def ratio(row, other, name):
    return number(row[name] / other[name], 2)


def faster(own, other):
    """1 if the first is faster by more than the spread, -1 if the second is, otherwise 0."""
    spread = max(own["max"] - own["min"], other["max"] - other["min"])
    gain = other["median"] - own["median"]
    return (gain > spread) - (-gain > spread)


def against_table(study):
    """Compares the default smoother with the best synchronous one."""
    synchronous = [m for m in study.methods if not m.startswith("async")]
    rows, won, lost = [], [], []
    for size in study.sizes:
        own = study.solved("async", size)
        others = [r for r in (study.solved(m, size) for m in synchronous) if r]
        if not own or not others:
            continue
        best = min(others, key=lambda r: r["median"])
        {1: won, -1: lost}.get(faster(own, best), []).append(size_name(own))
        rows.append([size_name(own), best["method"].replace("_", " "), ratio(best, own, "median"), ratio(best, own, "cycles"),
                     ratio(best, own, "cycle_ms"), ratio(own, best, "cycle_fraction_of_copy")])
    names = ", ".join(m.replace("_", " ") for m in synchronous)
    words = (f"The default is compared with the fastest of these: {names}. It is faster, by more than the spread, at "
             f"{', '.join(won) or 'no size'}. It is slower at {', '.join(lost) or 'no size'}.")
    head = ["size", "best synchronous", "its time / async's", "its cycles / async's", "its ms per cycle / async's",
            "async's fraction of copy / its"]
    return words + "\n\n" + table(head, rows)


def factors_table(study, variants):
    rows = []
    for size in study.sizes:
        there = [study.at.get((m, *size)) for m, _ in variants]
        if any(r and r["status"] != "skipped" for r in there):
            name = size_name(next(r for r in there if r))
            rows.append([name, *[f"{number(r['factor'], 2)} ({r['cycles']})" if r and r["status"] != "skipped" else "" for r in there]])
    return table(["size", *[f"{words}: factor (cycles)" for _, words in variants]], rows) if rows else "*Not measured yet.*"


def stale_table(study):
    every = [("async", "newest values"), ("async_two_colour", "newest, two-colour order"), ("async_deterministic", "stale twin"),
             ("async_overlap0", "newest, no overlap"), ("async_overlap0_two_colour", "newest, no overlap, two-colour order")]
    return factors_table(study, [v for v in every if v[0] in study.methods])


def fresh_table(study):
    return factors_table(study, [(BLOCKS, "newest values"), (f"{BLOCKS}_deterministic", "stale twin")])


def growth_table(study):
    rows = []
    for n in dict.fromkeys(r["n"] for r in study.growth):
        at = {r["method"]: r for r in study.growth if r["n"] == n}
        solve, create, fmg = (at.get(m) for m in ("growth", "growth_create", "growth_fmg"))
        if not solve or solve["status"] == "skipped":
            rows.append([f"{n}^3", solve["skipped"] if solve else "", *[""] * 7])
            continue
        unknowns = solve["unknowns"]
        rows.append([f"{n}^3", number(solve["median"]), number(solve["cycles"]), number(1e6 * solve["median"] / unknowns),
                     number(solve["cycle_ms"]), number(solve["cycle_fraction_of_copy"], 2), number(create and create["median"]),
                     number(fmg.get("median")) if fmg else "", f"{number(solve['solver_bytes'] / 1e9)} ({solve['solver_bytes'] / unknowns:.3g})"])
    head = ["size", "solve, ms", "cycles", "solve, ns per unknown", "cycle, ms", "fraction of copy", "create, ms",
            "full multigrid, ms", "solver's memory, GB (bytes per unknown)"]
    picture = "![Time of a solve, of full multigrid and of create against the number of unknowns](pictures/gpu-growth.png)"
    return table(head, rows) + "\n\n" + picture


def draw(study, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for method, words, colour, marker in zip(("growth", "growth_fmg", "growth_create"), ("solve", "full multigrid", "create"), PALETTE, "os^"):
        rows = [r for r in study.growth if r["method"] == method and "median" in r]
        unknowns = [r["unknowns"] for r in rows]
        style = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.6, "label": words}
        left.loglog(unknowns, [r["median"] for r in rows], **style)
        right.loglog(unknowns, [1e6 * r["median"] / r["unknowns"] for r in rows], **style)
    left.set_ylabel("ms")
    right.set_ylabel("ns per unknown")
    for axes in (left, right):
        axes.set_xlabel("unknowns (3D)")
        axes.grid(True, which="major", color="#cccccc", linewidth=0.7)
        axes.legend(frameon=False, fontsize=9)
    figure.suptitle(f"Default solver, {study.data['device']}, commit {study.data['commit']}", fontsize=11)
    figure.savefig(path, dpi=120)
    plt.close(figure)


# --- cuBLAS ----------------------------------------------------------------------------------------------------------

COARSEST = {"gmg_cg": "gmg: conjugate gradients", "gmg_cholesky": "gmg: Cholesky", "multigrid": "gmg: multigrid (cycles)",
            "cublas_graph": "cuBLAS, recorded as a graph", "cublas_device": "cuBLAS, scalars on the device",
            "cublas_host": "cuBLAS, scalars on the host"}


def create_table(data):
    created = [r for r in data["results"] if r["method"] == "create"]
    rows = [[r["what"], number(r["first_ms"]), f"{number(r['median'])} ({number(r['min'])} - {number(r['max'])})",
             number(r["device_bytes"] / 1e6)] for r in created]
    libraries = [f" cuBLAS's shared libraries take {number(r['library_bytes'] / 1e6)} MB." for r in created if r.get("library_bytes")]
    return (origin(data) + "".join(libraries) + "\n\n" +
            table(["created and destroyed", "first time, ms", "later, ms (min - max)", "device memory it holds, MB"], rows))


def coarsest_cell(row, least):
    if not row:
        return ""
    if row["status"] != "ok":
        return row["status"]
    text = number(1e3 * row["median"]) + (f" ({row['cycles']})" if "cycles" in row else "")
    return f"**{text}**" if row is least else text


def coarsest_table(data):
    """Compares gmg's conjugate gradients with the best variant with cuBLAS."""
    measured = [r for r in data["results"] if r["method"] in COARSEST and "median" in r]
    rows, won, lost = [], [], []
    for size in dict.fromkeys((r["dim"], r["n"]) for r in measured):
        there = {r["method"]: r for r in measured if (r["dim"], r["n"]) == size}
        solved = [r for r in there.values() if r["status"] == "ok"]
        least = min(solved, key=lambda r: r["median"], default=None)
        best = min((r for r in solved if r["method"].startswith("cublas")), key=lambda r: r["median"], default=None)
        own = next((r for r in solved if r["method"] == "gmg_cg"), None)
        name, compared = size_name({"dim": size[0], "n": size[1]}), ["", "", ""]
        if own and best:
            {1: won, -1: lost}.get(faster(own, best), []).append(name)
            compared = [ratio(best, own, "median"), number(own["residual"], 2), number(best["residual"], 2)]
        iterations = next((r["iterations"] for r in solved if r["method"].startswith("cublas")), None)
        rows.append([name, number(iterations), *[coarsest_cell(there.get(m), least) for m in COARSEST], *compared])
    spread = max((r["max"] - r["min"]) / r["median"] for r in measured)
    words = (f"gmg's conjugate gradients are compared with the fastest variant that uses cuBLAS. They are faster, by more than the spread, at "
             f"{', '.join(won) or 'no size'}. They are slower at {', '.join(lost) or 'no size'}. The widest spread of a row, smallest to "
             f"largest, is {number(100 * spread, 2)} % of its median.")
    head = ["coarsest grid", "iterations", *COARSEST.values(), "fastest with cuBLAS / gmg's conjugate gradients",
            "residual of gmg's conjugate gradients", "residual of the fastest with cuBLAS"]
    return words + "\n\n" + table(head, rows)


# --- bench_gpu_box ------------------------------------------------------------------------------------------------------

# A box stencil, the same with colours, and the 7-point (5-point) operator on the same grid: ends of the rows' names.
BOXES = [("27 points", "27_points_256", "27_points_256_colours", "7_point_256"), ("Q1", "q1_256", None, "7_point_256"),
         ("27 points", "27_points_255", None, "7_point_255"),
         ("27 points, double", "27_points_256_double", "27_points_256_double_colours", "7_point_256_double"),
         ("27 points", "27_points_64", "27_points_64_colours", "7_point_64"), ("Q1, 2D", "q1_4095", "q1_4095_colours", "5_point_4095")]


def box_table(data):
    at = {r["name"]: r for r in data["results"]}
    rows = []
    for words, own, rival, plain in BOXES:
        cycle, solve, beside = at[f"v11_{own}"], at[f"solve_{own}"], at[f"v11_{plain}"]
        cells = [words, re.search(r"\d{2,}$|\d{2,}(?=_double$)", own)[0], number(cycle["median"]), f"{number(solve['median'])} ({solve['cycles']})", number(beside["median"]),
                 number(cycle["median"] / beside["median"])]
        colours = [at[f"v11_{rival}"], at[f"solve_{rival}"]] if rival else None
        cells += [number(colours[0]["median"]), f"{number(colours[1]['median'])} ({colours[1]['cycles']})",
                  number(colours[1]["median"] / solve["median"])] if rival else ["", "", ""]
        rows.append(cells)
    head = ["stencil", "unknowns per axis", "async: cycle, ms", "solve, ms (cycles)", "7-point cycle, ms", "cycle over 7-point",
            "Gauss-Seidel in colours: cycle, ms", "solve, ms (cycles)", "its solve over async's"]
    return f"{origin(data)}\n\n" + table(head, rows)


# --- direct solves and cycles on a GPU -------------------------------------------------------------------------------

KINDS = {"3d": "3D, double", "3d_float": "3D, float", "3d_bottom": "3D, float, one cycle", "2d": "2D, double",
         "2d_float": "2D, float", "2d_bottom": "2D, float, one cycle"}


def direct_table(data):
    """Milliseconds of direct solves and of cycles, and their ratio, for each kind and size."""
    at = {r["name"]: r for r in data["results"]}
    rows = []
    for kind, words in KINDS.items():
        sizes = sorted({int(m[1]) for name in at if (m := re.fullmatch(rf"{kind}_direct_(\d+)", name))})
        for n in sizes:
            direct, cycles = (at[f"{kind}_{way}_{n}"]["median"] for way in ("direct", "cycles"))
            rows.append([words, str(n), number(direct), number(cycles), number(direct / cycles)])
    return f"{origin(data)}\n\n" + table(["problem", "unknowns per axis", "direct, ms", "cycles, ms", "direct over cycles"], rows)


# --- gmg, hypre and FFTW on a CPU ------------------------------------------------------------------------------------

PEERS = {"solve_async": "gmg, default", "solve_async_double": "gmg, double throughout", "solve_red_black": "gmg, red-black",
         "hypre": "hypre, PFMG + CG", "fmg": "gmg, full multigrid to discretisation accuracy", "fftw": "FFTW, direct solution",
         "solve_beta": "gmg, beta 1e4 in a ball, flexible CG", "hypre_beta": "hypre, beta 1e4 in a ball"}


def peers_table(cpu):
    """Seconds of a solve, with a column for each size that all solvers have."""
    at = {r["name"]: r for r in cpu["results"]}
    sizes = sorted({int(name.rsplit("_", 1)[1]) for name in at if name.rsplit("_", 1)[0] in PEERS})
    rows = []
    for name, words in PEERS.items():
        here = [at[f"{name}_{n}"] for n in sizes]
        told = [str(r["cycles"]) for r in here] if "cycles" in here[0] else [""]
        rows.append([words, told[0] if len(set(told)) == 1 else ", ".join(told),
                     *[f"{number(r['median'])} ({number(r['min'])} - {number(r['max'])})" for r in here]])
    triad = cpu["triad"]
    words = (f"{cpu['machine']}, {cpu['cores']} cores, triad {triad['median']:.0f} GB/s ({triad['min']:.0f} - {triad['max']:.0f}), "
             f"{cpu['compiler']}, commit {cpu['commit']}, {cpu['date'][:10]}.")
    return words + "\n\n" + table(["solver", "cycles or iterations", *[f"{n}^3, s" for n in sizes]], rows)


# --- bench_media -----------------------------------------------------------------------------------------------------


MEDIA_METHODS = {"async": "async", "red_black": "red-black", "lines": "lines", "black_box": "async, black box",
                 "lines_black_box": "lines, black box"}


def media_table(data, dim):
    """Iterations and seconds for each medium: with the default parameters, with other smoothers, and with black box coarsening. A
    solve that did not converge has no seconds."""
    found = {r["name"].rsplit("_", 1)[0]: r for r in data["results"] if r["name"].startswith(f"{dim}d_")}
    media = [name[:-len("_default")] for name in found if name.endswith("_default")]

    def cell(row):
        return f"{row['cycles']:.0f}, {number(row['median'])}" if row["status"] == "ok" else "none"

    rows = []
    for medium in media:
        kind, strength = medium[3:].rsplit("_", 1)
        default = found[medium + "_default"]
        rows.append([f"`{kind}`", f"{float(strength):g}", default["setting"][len("smoother "):], cell(default),
                     *[cell(found[f"{medium}_{method}"]) for method in MEDIA_METHODS]])
    n = found[media[0] + "_default"]["n"][0]
    words = f"{n}^{dim} cells. {data['machine']}, {data['cores']} cores, {data['compiler']}, commit {data['commit']}, {data['date'][:10]}."
    return words + "\n\n" + table(["medium", "strength", "gmg chooses", "default: iterations, s", *MEDIA_METHODS.values()], rows)


def gpu_media_table(data):
    """What gmg chooses on a device, iterations and milliseconds, for each size of the run."""
    found = {r["name"]: r for r in data["results"]}
    names = [name[:-len("_default")].split("_", 2) for name in found if name.endswith("_default")]
    sizes, media = dict.fromkeys((dim, n) for dim, n, _ in names), dict.fromkeys(medium for _, _, medium in names)

    def cell(row):
        if row is None or "median" not in row:
            return ""
        choice = row["smoother"] + (", black box" if row["coarsening"] == "black box" else "")
        return f"{choice}: " + (f"{row['cycles']}, {number(row['median'])}" if row["status"] == "ok" else f"none ({row['status']})")

    rows = [[f"`{medium.rsplit('_', 1)[0]}`", f"{float(medium.rsplit('_', 1)[1]):g}",
             *[cell(found.get(f"{dim}_{n}_{medium}_default")) for dim, n in sizes]] for medium in media]
    words = f"{data['device']}, driver {data['driver']}, copy {data['copy']['median'] / 1e12:.2f} TB/s, commit {data['commit']}, {data['date'][:10]}."
    return words + "\n\n" + table(["medium", "strength", *[f"{n}^{dim[0]}: iterations, ms" for dim, n in sizes]], rows)


MEDIA_PEERS = {"pfmg": "PFMG", "smg": "SMG", "amg": "BoomerAMG"}
SAME_SOLUTION = 1e-4  # of solutions to 1e-8 in a medium of high contrast, relative


def total(row):
    return row["median"] + row["setup_seconds"]


def peers_of_media(data, dim):
    """gmg and the peers on each medium, set-up included, and how many times as long as gmg the fastest peer takes."""
    found = {r["name"].rsplit("_", 1)[0]: r for r in data["results"] if r["name"].startswith(f"{dim}d_")}
    media = [name[:-len("_default")] for name in found if name.endswith("_default") and name[:-len("default")] + "amg" in found]
    rows, ratios = [], []

    def cell(row):
        return f"{row['cycles']:.0f}, {number(total(row))}" if row["status"] in ("ok", "GMG_OK") else "none"

    for medium in media:
        own, peers = found[medium + "_default"], [found[f"{medium}_{peer}"] for peer in MEDIA_PEERS]
        solved = [row for row in peers if cell(row) != "none"]
        for row in solved:
            if abs(row["solution_norm"] / own["solution_norm"] - 1) > SAME_SOLUTION:
                sys.exit(f"study.py: {row['name']}: another solution than gmg's")
        least = min(total(row) for row in solved) / total(own) if cell(own) != "none" else None
        ratios.append(least or 0)
        kind, strength = medium[3:].rsplit("_", 1)
        rows.append([f"`{kind}`", f"{float(strength):g}", cell(own), *[cell(row) for row in peers], number(least)])
    slower = sum(ratio < 1 for ratio in ratios)
    words = (f"{found[media[0] + '_default']['n'][0]}^{dim} cells. gmg is the fastest on {len(ratios) - slower} of {len(ratios)} media, and 4 times as "
             f"fast as any other solver on {sum(ratio >= 4 for ratio in ratios)}. It is slower than another on {slower}.")
    return words + "\n\n" + table(["medium", "strength", "gmg", *MEDIA_PEERS.values(), "fastest of these / gmg"], rows)


def peers_of_media_origin(data):
    return f"{data['machine']}, {data['cores']} cores, {data['compiler']}, commit {data['commit']}, {data['date'][:10]}."


MEDIA_PEERS_TABLES = {"media_peers": peers_of_media_origin, "media_peers_2d": lambda data: peers_of_media(data, 2),
                      "media_peers_3d": lambda data: peers_of_media(data, 3)}
GPU_MEDIA_TABLES = {"media_gpu": gpu_media_table}
MEDIA_TABLES = {"media_2d": lambda data: media_table(data, 2), "media_3d": lambda data: media_table(data, 3)}


# --- the pages -------------------------------------------------------------------------------------------------------

DIRECT_TABLES = {"direct": direct_table}
STUDY_TABLES = {"time": time_table, "cycle": cycle_table, "against": against_table, "stale": stale_table, "fresh": fresh_table,
                "growth": growth_table}
CUBLAS_TABLES = {"create": create_table, "coarsest": coarsest_table}


# --- bench/variants.py -----------------------------------------------------------------------------------------------


def variants_table(data):
    """Ratios of medians; those with all variants are the mean of two runs."""
    full = {name: (row["median"] + data["with_again"][name]["median"]) / 2 for name, row in data["with"].items()}
    rows = []
    for variant, found in data["without"].items():
        ratios = sorted(((found[name]["median"] / full[name], name) for name in full if name in found), reverse=True)
        slower = [r for r in ratios if r[0] > 1.02]
        rows.append([f"`{variant}`", str(len(slower)), ", ".join(f"{name} {ratio:.2f}" for ratio, name in slower[:3])])
    spread = max(abs(row["median"] / data["with_again"][name]["median"] - 1) for name, row in data["with"].items())
    return (f"{origin(data['about'])} {len(full)} solves. Two runs with all variants differ by at most {100 * spread:.1f} %.\n\n" +
            table(["without", "slower", "most"], rows))


VARIANTS_TABLES = {"variants": variants_table}
BOX_TABLES = {"box": box_table}


def read(path):
    return json.loads(path.read_text()) if path.is_file() else None


def made_of(tables, data, command, file):
    return {name: make(data) if data else NOT_YET.format(command, file) for name, make in tables.items()}


def fill(path, made):
    """The text of a page with its tables."""
    page = path.read_text()
    for name, text in made.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.S)
        if len(place.findall(page)) != 1:
            sys.exit(f"study.py: {path} has no place for <!-- {name} -->, or several")
        page = place.sub(lambda m: m[1] + text + m[2], page)
    return page


def pages(results, docs, study):
    """The path of every page, and its text with the tables made from the results."""
    performance = {"rows": rows_table(read(results / "h200.json")), "peers": peers_table(read(results / "cpu.json")),
                   **made_of(BOX_TABLES, read(results / "h200-box.json"), "build/bench/bench_gpu_box --json", "h200-box.json"),
                   **made_of(DIRECT_TABLES, read(results / "h200-direct.json"), "build/bench/bench_gpu_direct --json", "h200-direct.json"),
                   **made_of(MEDIA_PEERS_TABLES, read(results / "cpu-media-hypre.json"), "bench/compare.sh media", "cpu-media-hypre.json"),
                   **made_of(STUDY_TABLES, study, "build/bench/bench_gpu_study --json", "h200-study.json")}
    variants = made_of(VARIANTS_TABLES, read(results / "h200-variants.json"), "bench/variants.py", "h200-variants.json")
    cublas = made_of(CUBLAS_TABLES, read(results / "h200-cublas.json"), "build/bench/bench_gpu_cublas --json", "h200-cublas.json")
    media = {**made_of(MEDIA_TABLES, read(results / "cpu-media.json"), "build/bench/bench_media --json", "cpu-media.json"),
             **made_of(GPU_MEDIA_TABLES, read(results / "h100-media.json"), "build/bench/bench_gpu_media --json", "h100-media.json")}
    return {docs / "notes/media.md": fill(docs / "notes/media.md", media),
            docs / "performance.md": fill(docs / "performance.md", performance),
            docs / "notes/cublas.md": fill(docs / "notes/cublas.md", cublas),
            docs / "notes/variants.md": fill(docs / "notes/variants.md", variants),
            results / "checks.md": checks_page(read(results / "h200-checks.json"))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--docs", type=pathlib.Path, default=ROOT / "docs")
    parser.add_argument("--picture", type=pathlib.Path, default=ROOT / "docs/pictures/gpu-growth.png")
    given = parser.parse_args()
    data = read(given.results / "h200-study.json")
    study = Study(data) if data else None
    for path, text in pages(given.results, given.docs, study).items():
        if not given.check:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            sys.exit(f"study.py: {path} is not what {given.results} makes of it: run python3 bench/study.py")
    if given.check:
        return
    if study and any("median" in r for r in study.growth):
        draw(study, given.picture)


if __name__ == "__main__":
    main()
