#!/usr/bin/env python3
"""How uniform the speed of cycles is: compares every row of bench_gpu_uniformity with cubes of 2^k unknowns along an axis.

  uniformity.py MEASURED REFERENCE --json FILE [--picture FILE.png]
  uniformity.py /tmp/rows.json bench/results/h200-reference.json --json bench/results/h200-uniformity.json

A row's cost is its time over its work: cycles times unknowns of all levels, each as often as a cycle visits it. Its ratio is its
cost over that of cubes (in 2D squares) of 2^k cells with Dirichlet walls of the same type, medium and start, interpolated in the
logarithm of the number of unknowns along an axis. Of the run itself and of REFERENCE, the faster counts. The ratio of totals
compares the time of the solve per unknown instead. FILE has the worst and the median ratio at its head, and both ratios of every row."""
import argparse
import json
import math
import pathlib
import statistics


def parts(name):
    """Dimension, unknowns along an axis (a mean), whether a row can be a reference, and what must be equal in a comparison."""
    dim, size, centring, walls, kind, medium, start = name.split("_")
    n = [int(x) for x in size.split("x")]
    is_cube = len(n) == 1
    d = int(dim[0])
    along = n[0] if is_cube else math.prod(n) ** (1 / d)
    is_power = is_cube and n[0] & (n[0] - 1) == 0
    return along, is_power and centring == "cell" and walls == "dirichlet", (dim, kind, medium, start)


def costs(rows):
    """For each kind of row: the costs of cubes of 2^k, as (log n, time over work, time over unknowns)."""
    found = {}
    for r in rows:
        along, is_reference, kind = parts(r["name"])
        if is_reference:
            found.setdefault(kind, []).append((math.log(along), r["median"] / r["work"], r["median"] / r["unknowns"]))
    return {kind: sorted(points) for kind, points in found.items()}


def at(points, x, which):
    """Interpolates linearly in log n; constant beyond the ends."""
    if x <= points[0][0]:
        return points[0][which]
    for a, b in zip(points, points[1:]):
        if x <= b[0]:
            t = (x - a[0]) / (b[0] - a[0])
            return (1 - t) * a[which] + t * b[which]
    return points[-1][which]


def ratio(row, references, which, divisor):
    along, _, kind = parts(row["name"])
    x, known = math.log(along), [r[kind] for r in references if kind in r]
    known = [p for p in known if p[0][0] <= x] or known  # a reference that begins at larger sizes says nothing about small ones
    return row["median"] / row[divisor] / min(at(points, x, which) for points in known)


def picture(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(9, 5))
    groups = {}
    for r in rows:
        along, _, kind = parts(r["name"])
        groups.setdefault(" ".join(kind), []).append((along, 1e6 * r["median"] / r["work"]))
    for kind, points in sorted(groups.items()):
        axes.loglog(*zip(*sorted(points)), ".", label=kind)
    axes.set_xlabel("unknowns along an axis")
    axes.set_ylabel("ns per unknown and visit")
    axes.legend(fontsize=8)
    axes.grid(True, which="both", alpha=0.3)
    figure.savefig(path, dpi=120, bbox_inches="tight")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("measured", type=pathlib.Path)
    p.add_argument("reference", type=pathlib.Path)
    p.add_argument("--json", type=pathlib.Path, required=True)
    p.add_argument("--picture", type=pathlib.Path)
    o = p.parse_args()
    measured, reference = (json.loads(x.read_text()) for x in (o.measured, o.reference))
    rows = [r for r in measured["results"] if "median" in r]
    missing = [r["name"] for r in measured["results"] if "median" not in r]
    references = [costs(rows), costs([r for r in reference["results"] if "median" in r])]
    for r in rows:
        r["ratio"] = round(ratio(r, references, 1, "work"), 3)
        r["total_ratio"] = round(ratio(r, references, 2, "unknowns"), 3)
    worst, worst_total = (max(rows, key=lambda r: r[key]) for key in ("ratio", "total_ratio"))
    head = {"worst_ratio": worst["ratio"], "worst_row": worst["name"],
            "median_ratio": round(statistics.median(r["ratio"] for r in rows), 3),
            "worst_total_ratio": worst_total["total_ratio"], "worst_total_row": worst_total["name"], "rows_missing": missing}
    data = {**head, **{k: v for k, v in measured.items() if k != "results"}, "results": measured["results"]}
    text = json.dumps({k: v for k, v in data.items() if k != "results"}, indent=2)[:-2] + ',\n  "results": [\n'
    text += ",\n".join("    " + json.dumps(r) for r in data["results"]) + "\n  ]\n}\n"
    o.json.write_text(text)
    print(f"worst ratio {head['worst_ratio']} ({head['worst_row']}), median {head['median_ratio']}, "
          f"worst total {head['worst_total_ratio']} ({head['worst_total_row']})")
    for r in sorted(rows, key=lambda r: -r["ratio"])[:30]:
        print(f"  {r['ratio']:6.2f} {r['total_ratio']:6.2f}  {r['median']:9.4g} ms  {r['cycles']:3d}  {r['name']}")
    if o.picture:
        picture(rows, o.picture)


if __name__ == "__main__":
    main()
