#!/usr/bin/env python3
"""Tests uniformity.py: ratios of rows of known cost, and that recorded results have every row of uniformity.txt."""
import itertools
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import uniformity  # noqa: E402


def row(size, time, work, walls="dirichlet"):
    return {"name": f"3d_{size}_cell_{walls}_double_constant_solve", "median": time, "work": work, "unknowns": work / 2}


class Ratios(unittest.TestCase):
    cubes = [row("32", 1, 10), row("128", 4, 10)]  # costs 0.1 and 0.4

    def ratio(self, of, *references):
        return uniformity.ratio(of, [uniformity.costs(r) for r in references], 1, "work")

    def test_interpolates_in_the_logarithm(self):
        self.assertAlmostEqual(self.ratio(row("64", 5, 10, "neumann"), self.cubes), 0.5 / 0.25)

    def test_boxes_count_by_their_mean_size(self):
        self.assertAlmostEqual(self.ratio(row("16x64x256", 5, 10), self.cubes), 0.5 / 0.25)

    def test_the_faster_reference_counts(self):
        self.assertAlmostEqual(self.ratio(row("32", 1, 10), self.cubes, [row("32", 1, 20)]), 2)

    def test_a_reference_of_larger_sizes_does_not(self):
        self.assertAlmostEqual(self.ratio(row("32", 1, 10), self.cubes, [row("64", 1, 20)]), 1)

    def test_totals_compare_time_per_unknown(self):
        costs = [uniformity.costs(self.cubes)]
        self.assertAlmostEqual(uniformity.ratio(row("32", 3, 10, "periodic"), costs, 2, "unknowns"), 3)

    def test_only_cubes_of_powers_are_references(self):
        self.assertEqual(uniformity.costs([row("33", 1, 10), row("32", 1, 10, "neumann"), row("32x32x64", 1, 10)]), {})


class Results(unittest.TestCase):
    def test_no_row_is_missing(self):
        lines = [line.split() for line in (HERE / "uniformity.txt").read_text().splitlines() if line and line[0] != "#"]
        wanted = {"_".join(words) for line in lines for words in itertools.product(*(w.split(",") for w in line))}
        for name in ("h200", "h100"):
            data = json.loads((HERE / "results" / f"{name}-uniformity.json").read_text())
            self.assertEqual(wanted, {r["name"] for r in data["results"]})
            self.assertEqual(data["worst_ratio"], max(r["ratio"] for r in data["results"]))


if __name__ == "__main__":
    unittest.main()
