#!/usr/bin/env python3
"""Tests side_by_side.py: its limits, and whole comparisons of programs that are scripts and take given times."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import side_by_side  # noqa: E402

# writes rows of given times; a row's times are taken in turn, one a run; says which build ran, and with what
PROGRAM = '''#!{python}
import json, pathlib, sys
folder = pathlib.Path(__file__).parent
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
log = folder.parent.parent / "log"
with log.open("a") as f:
    f.write(folder.parent.name)
turn = log.read_text().count(folder.parent.name) - 1
given = json.loads((folder / "rows.json").read_text())
(folder / "options").write_text(json.dumps(options))
if "code" in given:
    print("no CUDA device", file=sys.stderr)
    sys.exit(given["code"])
only = options.get("--only", "").split(",")
rows = [{{"name": n, "unit": u, "median": t[turn % len(t)], **more}} for n, u, t, more in given["rows"]
        if only == [""] or n in only]
rows.append({{"name": "too_large", "status": "skipped", "skipped": "no memory"}})
pathlib.Path(options["--json"]).write_text(json.dumps({{"device": "a device", "commit": "c", "results": rows}}))
'''


class SideBySide(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.json = self.at / "out.json"

    def build(self, name, rows, program="bench_gpu", **more):
        bench = self.at / name / "bench"
        bench.mkdir(parents=True)
        path = bench / program
        path.write_text(PROGRAM.format(python=sys.executable))
        path.chmod(0o755)
        (bench / "rows.json").write_text(json.dumps({"rows": [r if len(r) == 4 else (*r, {}) for r in rows], **more}))

    def compare(self, *more, program="bench_gpu", code=0):
        command = [sys.executable, str(HERE / "side_by_side.py"), str(self.at / "A"), str(self.at / "B"), program, "--json",
                   str(self.json), *more]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def rows(self):
        return {r["name"]: r for r in json.loads(self.json.read_text())["rows"]}

    def test_limits(self):
        limit = side_by_side.limit_of
        self.assertEqual(limit("bench_gpu", "v11_512", "ms", 1.0), 1.02)
        self.assertEqual(limit("bench_gpu", "solve_64", "ms", 0.999), 1.04)
        self.assertEqual(limit("bench_gpu", "create_512", "ms", 7), 1.10)
        self.assertEqual(limit("bench_cpu", "solve_async_128", "s", 0.03), 1.05)
        self.assertEqual(limit("bench_cpu", "create_beta_256", "s", 0.1), 1.10)
        self.assertIsNone(limit("bench_gpu", "memory_512", "bytes/unknown", 21.8))
        self.assertIsNone(limit("bench_cpu", "triad_large_256", "GB/s", 30))

    def test_rows_are_those_of_the_results(self):
        known = side_by_side.names_of("bench_gpu", "")
        self.assertIn("v11_512", known)
        self.assertEqual(side_by_side.names_of("bench_gpu", "^v11_512$|fmg"), ["v11_512", "fmg_512", "fmg2d_8192"])
        for program in side_by_side.KNOWN:
            self.assertTrue(side_by_side.names_of(program, "."))
        with self.assertRaises(SystemExit):
            side_by_side.names_of("bench_gpu", "no such row")

    def test_medians_in_turn(self):
        self.build("A", [("v11_512", "ms", [4, 2, 3]), ("solve_64", "ms", [0.5]), ("memory_512", "bytes/unknown", [20])])
        self.build("B", [("v11_512", "ms", [3.05, 3.03, 9]), ("solve_64", "ms", [0.519]), ("memory_512", "bytes/unknown", [40])])
        said = self.compare("--rounds", "3")
        self.assertEqual((self.at / "log").read_text(), "ABBAAB")
        rows = self.rows()
        self.assertEqual((rows["v11_512"]["a"]["median"], rows["v11_512"]["b"]["median"]), (3, 3.05))
        self.assertAlmostEqual(rows["v11_512"]["ratio"], 3.05 / 3)
        self.assertAlmostEqual(rows["v11_512"]["spread"], (9 - 3.03) / 3.05)
        self.assertEqual([r["over"] for r in rows.values()], [False] * 3)
        self.assertNotIn("too_large", rows)
        self.assertIn("| `v11_512` | 3 ms | 3.05 | 1.017 | 195.7 % | 1.02 | ok |", said)
        self.assertIn("| `memory_512` | 20 bytes/unknown | 40 | 2.000 | 0.0 % |  |  |", said)

    def test_over(self):
        self.build("A", [("v11_512", "ms", [2]), ("solve_64", "ms", [0.5]), ("create_512", "ms", [7])])
        self.build("B", [("v11_512", "ms", [2.05]), ("solve_64", "ms", [0.515]), ("create_512", "ms", [7.6])])
        said = self.compare("--rounds", "1", code=1)
        self.assertIn("3 rows, 1 over their limits or missing: v11_512", said)

    def test_missing(self):
        self.build("A", [("v11_512", "ms", [2]), ("solve_64", "ms", [0.5])])
        self.build("B", [("v11_512", "ms", [2])])
        said = self.compare("--rounds", "1", code=1)
        self.assertIn("| `solve_64` | | | | | | not in B |", said)

    def test_other_cycles_are_said(self):
        self.build("A", [("solve_512", "ms", [20], {"cycles": 6})])
        self.build("B", [("solve_512", "ms", [20], {"cycles": 7})])
        self.assertIn("| ok, cycles 6 -> 7 |", self.compare("--rounds", "2"))

    def test_rows_and_options_of_the_program(self):
        for build in "AB":
            self.build(build, [("v11_512", "ms", [2]), ("solve_64", "ms", [0.5])])
        self.compare("--rounds", "1", "--rows", "solve_64$", "--", "--runs", "3")
        self.assertEqual(list(self.rows()), ["solve_64"])
        options = json.loads((self.at / "B" / "bench" / "options").read_text())
        self.assertEqual((options["--only"], options["--runs"]), ("solve_64", "3"))

    def test_budget(self):
        for build in "AB":
            self.build(build, [("v11_512", "ms", [2])])
        self.compare("--rounds", "50", "--budget", "0.001")
        self.assertEqual(json.loads(self.json.read_text())["rounds"], 1)

    def test_host(self):
        self.build("A", [("solve_async_128", "s", [0.1])], "bench_cpu")
        self.build("B", [("solve_async_128", "s", [0.104])], "bench_cpu")
        self.compare("--rounds", "1", program="bench_cpu")
        self.assertEqual(self.rows()["solve_async_128"]["limit"], 1.05)

    def test_a_program_fails(self):
        self.build("A", [("v11_512", "ms", [2])])
        self.build("B", [], code=1)
        self.compare("--rounds", "1", code=2)

    def test_no_device(self):
        for build in "AB":
            self.build(build, [], code=77)
        self.compare(code=77)


if __name__ == "__main__":
    unittest.main()
