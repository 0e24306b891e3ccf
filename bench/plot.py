#!/usr/bin/env python3
"""Bars of the bytes per unknown at triad speed, with their spread. Usage: plot.py FILE.json [OUT.png]"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SHOWN = ("residual", "v11_", "fmg", "solve_", "hypre", "fftw")  # without the setups, which are much smaller or larger


def main(path, out):
    data = json.loads(pathlib.Path(path).read_text())
    rows = [r for r in data["results"] if "bytes_at_triad" in r and r["name"].startswith(SHOWN) and "setup" not in r["name"]]
    if not rows:
        sys.exit(f"plot.py: {path} holds no times")
    value = [r["bytes_at_triad"] for r in rows]
    scale = [v / r["median"] for v, r in zip(value, rows)]
    spread = [[s * (r["median"] - r["min"]) for s, r in zip(scale, rows)],
              [s * (r["max"] - r["median"]) for s, r in zip(scale, rows)]]
    figure, axes = plt.subplots(figsize=(8, 0.6 + 0.3 * len(rows)), layout="constrained")
    axes.barh(range(len(rows)), value, xerr=spread, color="#4477aa", ecolor="#666666")
    axes.set_yticks(range(len(rows)), [r["name"] for r in rows])
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel(f"bytes per unknown at triad speed ({data['triad']['median']:.1f} GB/s, commit {data['commit']})")
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else str(pathlib.Path(sys.argv[1]).with_suffix(".png")))
