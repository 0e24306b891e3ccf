#!/usr/bin/env python3
"""Finds the best relaxation weights: runs the smoothers demo over a range of weights and prints a table in Markdown.
docs/weights.md is made from its output. Usage: omega.py DEMO_FOLDER"""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

SIZES = {1: "4096", 2: "512", 3: "64"}
WEIGHTS = [1 + 0.05 * i for i in range(9)]
ROWS = [("red_black", 1), ("async", 1), ("async", 2)]


@functools.lru_cache(None)
def factors_of(demo, folder, dim, centering, restriction, sweeps, omega):
    """The convergence factor of every smoother with this weight."""
    size = int(SIZES[dim]) - (centering == "vertex")
    path = folder / "out.json"
    subprocess.run([demo, "--dim", str(dim), "--n", str(size), "--centering", centering, "--restriction", restriction,
                    "--omega", f"{omega:.2f}", "--local-sweeps", str(sweeps), "--cycles", "15", "--max-cycles", "1",
                    "--deterministic", "--device", "host", "--quiet", "--json", path], check=False, stdout=subprocess.DEVNULL)
    return {row["name"]: row["factor"]["median"] for row in json.loads(path.read_text())["smoothers"]}


def main():
    demo = pathlib.Path(sys.argv[1]) / "smoothers"
    print("| transfers | axes | smoother | best weight | factor | " + " | ".join(f"{w:.2f}" for w in WEIGHTS) + " |")
    print("|---|---|---|---|---|" + "---|" * len(WEIGHTS))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for centering, restriction, title in (("vertex", "average", "vertices, full weighting"),
                                              ("cell", "average", "cells, averaging"), ("cell", "adjoint", "cells, adjoint")):
            for dim in SIZES:
                for smoother, sweeps in ROWS:
                    factors = [factors_of(demo, folder, dim, centering, restriction, sweeps, w)[smoother]
                               for w in WEIGHTS]
                    best = min(range(len(WEIGHTS)), key=factors.__getitem__)
                    label = f"{smoother}, {sweeps} local sweep{'s' if sweeps > 1 else ''}" if smoother == "async" else smoother
                    print(f"| {title} | {dim} | {label} | **{WEIGHTS[best]:.2f}** | {factors[best]:.3f} | "
                          + " | ".join(f"{f:.3f}" for f in factors) + " |", flush=True)


main()
