#!/usr/bin/env python3
"""Tests checks.py and its tables on programs that are shell scripts: what passes, fails, is skipped, hangs or is missing."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import checks  # noqa: E402
import checks_page  # noqa: E402

PASSES = "echo '[       OK ] one'; echo '[       OK ] two'; echo '[  PASSED  ] 2 test(s).'"
FAILS = "echo '[       OK ] one'; echo '[  FAILED  ] two'; echo '[  FAILED  ] 1 test(s), listed below:'; echo '[  FAILED  ] two'; exit 1"
BANDS = ("echo '3D, no overlap, 16 blocks in flight        64 an axis: 0.21588, 0.21589, 0.2159 of 100, band 0.1 to 0.26'; "
         "echo '1D, small                                4000 an axis: 0.02182, 0.02182, 0.06 of 100, band 0 to 0.04, outside its band'; "
         "echo '[       OK ] asynchronous_bands'")
FARTHEST = ('echo "largest difference from the host\'s factors: deterministic 0.0003 at 1D cell   pp 768x1x1 chebyshev    w, '
            'asynchronous 0.0310 at 3D cell   ball 1e-4 48^3 async"')
CLEAN = 'shift 4; "$@"; echo "========= ERROR SUMMARY: 0 errors"'
# of each tool: what it says at its end, or where it is stopped
SANITIZER = f'''
case $2:$6 in
  memcheck:sweeps*) {CLEAN};;
  memcheck:packed*) {CLEAN} | sed 's/SUMMARY: 0/SUMMARY: 3/';;
  memcheck:rows*) shift 4; "$@"; echo "killed before its summary";;
  memcheck:residuals_in_p*) echo "========= Invalid __global__ write of size 4 bytes"; sleep 60;;
  initcheck:sweeps*) sleep 60;;
  racecheck:sweeps*) echo "========= RACECHECK SUMMARY: 2 hazards displayed (1 errors, 1 warnings)";;
esac
'''


class Checks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.json = self.at / "checks.json"
        self.ctest = []
        self.program("compute-sanitizer", SANITIZER)
        self.program("ctest", f"cat {self.at}/list.json")
        (self.at / "tests").mkdir()
        for name in ("cuda_operations", "cuda_line", "cuda_fused_legs", "cuda_async", "cuda_fused_levels", "cuda_synchronisations", "cuda_solves",
                     "cuda_convergence_spread", "cuda_graph"):
            self.listed(name, f"test_{name}")
        self.listed("cuda_line_all", "test_cuda_line", label="long")
        self.listed("cuda_no_device", "test_cuda_no_device", environment=["CUDA_VISIBLE_DEVICES="])
        self.listed("regression_cuda", "test_regression", "factors.txt", "cuda")
        self.listed("cuda_graph_by_cycles", "test_cuda_graph", "*", "by_cycles")
        self.listed("operator", "test_operator", label="unit")
        for name in ("cuda_memory", "cuda_faults"):
            self.listed(name, f"test_{name}", alone=True)

    def listed(self, name, program, *args, label="gpu", environment=(), alone=False):
        """As `ctest --show-only=json-v1` has it."""
        self.ctest.append({"name": name, "command": [str(self.at / "tests" / program), *args], "properties": [
            {"name": "LABELS", "value": ["cuda", label]}, {"name": "ENVIRONMENT", "value": ["OMP_WAIT_POLICY=passive", *environment]},
            {"name": "TIMEOUT", "value": 900.0}, *([{"name": "RUN_SERIAL", "value": True}] if alone else [])]})
        (self.at / "list.json").write_text(json.dumps({"kind": "ctestInfo", "tests": self.ctest}))

    def program(self, name, text):
        path = self.at / ("tests" if name.startswith("test_") else ".") / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def command(self, only, *more):
        return [sys.executable, str(HERE / "checks.py"), "--build", str(self.at), "--json", str(self.json), "--only", only, *more]

    def environment(self):
        return {**os.environ, "PATH": f"{self.at}:{os.environ['PATH']}"}

    def check(self, only, *more, code=0):
        done = subprocess.run(self.command(only, *more), env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return {r["name"]: r for r in json.loads(self.json.read_text())["results"]}

    def test_outcomes(self):
        self.program("test_cuda_operations", PASSES)
        self.program("test_cuda_line", FAILS)
        self.program("test_cuda_fused_legs", "exit 77")
        self.program("test_cuda_async", "echo '[       OK ] one'; sleep 60")
        self.program("test_cuda_fused_levels", "echo '[       OK ] one'; exit 139")
        self.program("test_cuda_synchronisations", "exit 0")
        self.program("test_cuda_no_device", f'test "${{CUDA_VISIBLE_DEVICES-set}}" = "" || exit 1; {PASSES}')
        self.program("test_regression", f'test "$1 $2 $OMP_WAIT_POLICY" = "factors.txt cuda passive" || exit 1; {PASSES}')
        self.program("test_cuda_graph", f'test "$1 $2" = "* by_cycles" || exit 1; {PASSES}')
        start = time.monotonic()
        only = "cuda_operations,cuda_line,cuda_fused_legs,cuda_async,cuda_fused_levels,cuda_synchronisations,cuda_no_device,regression_cuda,cuda_graph_by_cycles,cuda_solves"
        r = self.check(only, "--seconds", "3", code=1)
        self.assertLess(time.monotonic() - start, 20)  # what hangs was stopped
        told = {name: r[name]["outcome"] for name in only.split(",")}
        self.assertEqual(told, {"cuda_operations": "passed", "cuda_line": "failed", "cuda_fused_legs": "skipped", "cuda_async": "stopped", "cuda_fused_levels": "failed",
                                "cuda_synchronisations": "failed", "cuda_no_device": "passed", "regression_cuda": "passed", "cuda_graph_by_cycles": "passed",
                                "cuda_solves": "missing"})
        self.assertEqual((r["cuda_line"]["passed"], r["cuda_line"]["failed"]), (1, 1))
        self.assertFalse(r["cuda_async"]["ended"])
        self.assertEqual(r["cuda_async"]["passed"], 1)
        self.assertEqual(r["cuda_line_all"]["outcome"], "not run")

    def test_sanitizers(self):
        self.program("test_cuda_fused_legs", PASSES)
        r = self.check("*check/cuda_fused_legs/*", "--seconds", "3", code=1)
        told = {name: (r[name]["outcome"], r[name]["errors"]) for name in r if r[name].get("tool") and "errors" in r[name]}
        self.assertEqual(told["memcheck/cuda_fused_legs/sweeps_update"], ("passed", 0))
        self.assertEqual(told["memcheck/cuda_fused_legs/packed_tiles_update"], ("failed", 3))
        self.assertEqual(told["memcheck/cuda_fused_legs/rows_restrict"], ("failed", 0))
        self.assertEqual(told["memcheck/cuda_fused_legs/residuals_in_packed_tiles"], ("failed", 1))  # found before it was stopped
        self.assertEqual(told["initcheck/cuda_fused_legs/sweeps_update"], ("stopped", 0))
        self.assertEqual(told["racecheck/cuda_fused_legs/sweeps_update"], ("failed", 2))

    def test_the_first_error_and_the_end_are_kept(self):
        self.program("test_cuda_operations", "echo the first error; seq 9000; echo '[  FAILED  ] two'; echo the end; exit 1")
        output = self.check("cuda_operations", code=1)["cuda_operations"]["output"]
        self.assertTrue(output.startswith("the first error") and output.endswith("the end\n") and len(output) < 3100, output)

    def test_a_few_cases(self):
        taken = "echo \"[       OK ] one\"; echo \"cases taken: ${GMG_TEST_EVERY-all} of 34\""
        self.program("compute-sanitizer", CLEAN)
        self.program("test_cuda_fused_legs", taken)
        self.program("test_cuda_operations", f"test -z \"${{GMG_TEST_EVERY+set}}${{GMG_TEST_MOST+set}}\" || exit 1; {PASSES}")
        os.environ["GMG_TEST_EVERY"] = os.environ["GMG_TEST_MOST"] = "9"  # the caller's: not for what runs as a whole
        self.addCleanup(os.environ.pop, "GMG_TEST_EVERY")
        self.addCleanup(os.environ.pop, "GMG_TEST_MOST")
        r = self.check("cuda_operations,memcheck/cuda_fused_legs/*")
        self.assertEqual(r["cuda_operations"]["outcome"], "passed")
        self.assertEqual(r["memcheck/cuda_fused_legs/sweeps_update"]["cases"], [4, 34])
        self.assertEqual(r["memcheck/cuda_fused_legs/residuals_in_the_pass"]["environment"],
                         {"GMG_TEST_EVERY": "3", "GMG_TEST_MOST": "200000"})
        self.assertEqual(r["memcheck/cuda_fused_legs/rows_restrict"]["environment"], {})
        self.assertNotIn("cases", r["memcheck/cuda_fused_legs/rows_restrict"])
        page = checks_page.checks_table(json.loads(self.json.read_text()))
        self.assertIn("| `cuda_fused_legs` `sweeps_update`, 4 of 34 cases | clean | not run |", page)
        self.assertIn("| `cuda_fused_legs` `rows_restrict` | clean | not run |", page)
        self.program("test_cuda_async", taken)
        self.check("*check/cuda_async/planes_on_faces_agree")
        page = checks_page.checks_table(json.loads(self.json.read_text()))
        self.assertIn("| `cuda_async` `planes_on_faces_agree`, 3 of 34 cases | clean | clean | clean | clean, 9 cases |", page)
        self.program("test_cuda_fused_legs", "echo '[       OK ] one'; echo 'cases taken: 0 of 34'")  # nothing was seen
        self.assertEqual(self.check("memcheck/cuda_fused_legs/sweeps_update", code=1)["memcheck/cuda_fused_legs/sweeps_update"]["outcome"], "failed")

    def test_the_list(self):
        os.environ["PATH"], before = self.environment()["PATH"], os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        made = checks.tests_of(self.at)
        self.assertEqual({e["label"] for e in made}, {"gpu", "long"})  # and not those of the host
        self.assertEqual([e["name"] for e in made if e["alone"]], ["cuda_memory", "cuda_faults"])
        names = [e["name"] for e in made + checks.sanitized(self.at)]
        self.assertEqual(len(names), len(set(names)))
        for tool in checks.TOOLS:
            self.assertIn(f"{tool}/cuda_fused_legs_red_black/legs_in_double", names)
        for program, test, *_ in checks.SANITIZED:  # what is named is there
            folder = "cuda" if program.startswith("cuda_") else "solves"
            text = (HERE.parent / f"tests/{folder}/{program.removeprefix('cuda_')}.c").read_text()
            self.assertIn(f"cmocka_unit_test({test})", text)

    def test_labels_and_all_cases(self):
        self.program("test_cuda_line", PASSES)
        self.check("long")
        r = {r["name"]: r for r in json.loads(self.json.read_text())["results"]}
        self.assertEqual([name for name in r if r[name]["outcome"] == "passed"], ["cuda_line_all"])
        self.assertEqual((r["cuda_line_all"]["label"], r["cuda_line_all"]["command"]), ("long", ["test_cuda_line"]))

    def test_a_build_that_was_moved(self):
        (self.at / "CMakeCache.txt").write_text("# For build in directory: /elsewhere/build\nCMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere\n")
        self.ctest.clear()
        self.listed("demos_cuda", "x")
        self.ctest[0]["command"] = ["/usr/bin/python3", "/elsewhere/tests/tools/demos.py", "/elsewhere/build/demos", "/elsewhere", "devices"]
        (self.at / "list.json").write_text(json.dumps({"tests": self.ctest}))
        os.environ["PATH"], before = self.environment()["PATH"], os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        root = str(HERE.parent)
        self.assertEqual(checks.tests_of(self.at)[0]["command"], [sys.executable, f"{root}/tests/tools/demos.py", f"{self.at}/demos", root, "devices"])

    def test_without_sanitizer(self):
        entry = next(e for e in checks.sanitized(self.at) if e["name"] == "memcheck/cuda_fused_legs/rows_restrict")
        self.program("test_cuda_fused_legs", PASSES)
        self.assertEqual(checks.check(entry, None, 1), {"outcome": "missing", "why": "no compute-sanitizer"})

    def test_bands(self):
        self.program("test_cuda_convergence_spread", BANDS)
        found = self.check("cuda_convergence_spread")["cuda_convergence_spread"]["bands"]
        self.assertEqual(found[0], {"problem": "3D, no overlap, 16 blocks in flight", "n": 64, "min": 0.21588, "median": 0.21589, "max": 0.2159,
                                    "runs": 100, "least": 0.1, "most": 0.26})
        self.assertEqual([b["most"] for b in found], [0.26, 0.04])
        few, all_runs = {**found[0], "runs": 20, "max": 0.2}, found[0]
        self.assertEqual(checks_page.spread([{"bands": [few]}, {"bands": [all_runs]}, {}]), [all_runs])
        self.assertEqual(checks_page.spread([{"bands": [all_runs]}, {"bands": [few]}]), [all_runs])

    def test_factors(self):
        self.program("test_regression", f"{FARTHEST}; {PASSES}")
        self.assertEqual(self.check("regression_cuda")["regression_cuda"]["factors"],
                         {"deterministic": [0.0003, "1D cell   pp 768x1x1 chebyshev    w"], "asynchronous": [0.031, "3D cell   ball 1e-4 48^3 async"]})
        self.program("test_regression", PASSES)
        self.assertIsNone(self.check("regression_cuda")["regression_cuda"]["factors"])

    def test_a_later_run_adds(self):
        self.program("test_cuda_operations", PASSES)
        self.program("test_cuda_line", PASSES)
        self.check("cuda_operations", "--commit", "a")
        r = self.check("cuda_line", "--commit", "a")
        self.assertEqual((r["cuda_operations"]["outcome"], r["cuda_line"]["outcome"]), ("passed", "passed"))
        r = self.check("cuda_line", "--commit", "b")
        self.assertEqual((r["cuda_operations"]["outcome"], r["cuda_line"]["outcome"]), ("not run", "passed"))

    def test_a_stopped_run_keeps_what_it_has(self):
        self.program("test_cuda_operations", PASSES)
        self.program("test_cuda_line", f"echo started > {self.at}/started; sleep 60")
        run = subprocess.Popen(self.command("cuda_operations,cuda_line,cuda_fused_legs", "--jobs", "1"), env=self.environment(), stdout=subprocess.DEVNULL)
        while not (self.at / "started").exists():
            self.assertIsNone(run.poll())
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        run.wait(20)
        r = {r["name"]: r["outcome"] for r in json.loads(self.json.read_text())["results"]}
        self.assertEqual((r["cuda_operations"], r["cuda_line"], r["cuda_fused_legs"]), ("passed", "stopped", "not run"))

    def test_those_alone_are_alone(self):
        for name in ("cuda_operations", "cuda_memory", "cuda_faults"):
            alone = f"test ! -e {self.at}/others || exit 1;" if name != "cuda_operations" else ""
            self.program(f"test_{name}", f"{alone} touch {self.at}/others; sleep 0.3; rm {self.at}/others; {PASSES}")
        r = self.check("cuda_operations,cuda_memory,cuda_faults", "--jobs", "3")
        self.assertEqual([r[n]["outcome"] for n in ("cuda_operations", "cuda_memory", "cuda_faults")], ["passed"] * 3)

    def test_page(self):
        self.program("test_cuda_operations", PASSES)
        self.program("test_cuda_line", FAILS)
        self.program("test_cuda_convergence_spread", BANDS)
        self.program("test_cuda_fused_legs", PASSES)
        self.check("cuda_operations,cuda_line,cuda_convergence_spread,*check/cuda_fused_legs/*", "--seconds", "3", "--commit", "abcdef", code=1)
        page = checks_page.checks_table(json.loads(self.json.read_text()))
        for line in ("| `cuda_operations` | 2 passed |", "| `cuda_line` | **1 passed, 1 failed** |", "| `cuda_no_device` | not run |",
                     "| `cuda_fused_legs` `sweeps_update` | clean | stopped after 3 s, nothing found | **failed** | **2 errors** |",
                     "| 3D, no overlap, 16 blocks in flight | 64 | 0.21588 | 0.21589 | 0.21590 | 0.1 to 0.26 |"):
            self.assertIn(line, page)
        self.assertIn("commit abcdef", page)

    def test_whole_page(self):
        self.program("test_cuda_line", PASSES)
        self.check("cuda_line")
        page = checks_page.checks_page(json.loads(self.json.read_text()))
        self.assertTrue(page.startswith("# What passes on a GPU\n"), page)
        self.assertIn("| `cuda_line` | 2 passed |", page)
        self.assertIn("Not measured yet", checks_page.checks_page(None))


if __name__ == "__main__":
    unittest.main()
