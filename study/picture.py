"""Shared by the pictures of the study: colours, and a main program that draws them."""
import argparse
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import page  # noqa: E402

# Okabe and Ito's colours, told apart also by the colour-blind
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999"]


def grid(axes):
    axes.grid(True, which="major", color="#cccccc", linewidth=0.7)


def main(words, module, pictures, dpi):
    """Each picture, a function from the results of one file to a figure or None, from the first file that has something to show. Unless
    files are named: those of the page, and what the module has APART, by label."""
    stem = pathlib.Path(module.PAGE).stem
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("-o", "--output", default=str(page.ROOT / "docs/pictures" / stem))
    given = parser.parse_args()
    sets = {given.output: given.files or page.files_of(module, page.RESULTS)}
    if not given.files:
        sets |= {f"{given.output}-{label}": [page.RESULTS / file] for label, file in getattr(module, "APART", {}).items()}
    for output, paths in sets.items():
        there = page.read(module, paths)
        if not there:
            sys.exit(f"study/results has none of {', '.join(module.FILES)}")
        for name, draw in pictures.items():
            made = ((draw(data["results"]), data) for data in there)
            figure, data = next(((f, data) for f, data in made if f), (None, None))
            if figure:
                figure.savefig(f"{output}-{name}.png", dpi=dpi, metadata={"Source": "; ".join(page.sources(data))})
                plt.close(figure)
