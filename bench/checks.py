#!/usr/bin/env python3
"""Runs all checks for a CUDA device: CTest's tests with the label gpu or long, then kernels under compute-sanitizer.
Writes one JSON file. The build folder may have been moved since it was configured.
Usage: checks.py [--build build] [--json bench/results/h200-checks.json] [--commit ID] [--only NAME,..] [--seconds LIMIT]
                 [--jobs N] [--list]
--only takes names, labels and patterns (gpu,memcheck/*). --seconds: no entry longer than that.
The file is written after every entry; a later run of the same commit on the same device replaces only the entries that it runs.
Exit code 1: something did not pass, or is not there."""
import argparse
import concurrent.futures
import datetime
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LABELS = ["gpu", "long"]
TOOLS = ["memcheck", "initcheck", "synccheck", "racecheck"]
NO_SHARED = ["memcheck", "initcheck", "synccheck"]  # kernels with one thread per unknown use no shared memory
RACES = ["racecheck"]  # up to a hundred times slower than the others; long tests have a separate row for it

# Every family of kernels: (program, test, tools, every, most). A test runs each `every`-th of its cases with at most `most`
# unknowns (0: any number), so that the whole list takes minutes. `every` has no common factor with the counts of the test's inner loops, so
# that all types, walls, coefficients and relaxations occur. Exceptions say what is left. When a case is added to a test, check that
# this selection still covers all variants of its kernels (GMG_TEST_EVERY).
# The host launches every cycle of a graph, because compute-sanitizer does not check the body of a conditional node
# (CONTRIBUTING.md).
SANITIZED = [
    ("cuda_fused_legs", "sweeps_update", TOOLS, 4, 0),  # the leg up of a mixed cycle, rows
    ("cuda_fused_legs", "packed_tiles_update", TOOLS, 1, 0),
    ("cuda_fused_legs", "residuals_in_packed_tiles", TOOLS, 1, 0),  # smoothing and restricted residual in one pass
    ("cuda_fused_legs", "residuals_in_the_pass", TOOLS, 3, 200000),
    ("cuda_fused_legs", "rows_restrict", TOOLS, 1, 0),
    ("cuda_fused_legs", "double_buffered_legs", TOOLS, 1, 0),
    ("cuda_fused_legs_red_black", "legs_in_float", TOOLS, 3, 0),  # levels of half a million: smaller ones go by colours
    ("cuda_fused_legs_red_black", "legs_in_double", TOOLS, 2, 0),
    ("cuda_fused_legs_red_black", "mixed_legs", TOOLS, 3, 0),
    ("cuda_async", "relaxations_agree", TOOLS, 25, 0),
    ("cuda_async", "tiny_sizes_agree", TOOLS, 11, 0),  # blocks of all shapes
    ("cuda_async", "packed_tiles_agree", TOOLS, 2, 0),
    ("cuda_async", "rows_agree", TOOLS, 5, 0),
    ("cuda_async", "planes_on_faces_agree", NO_SHARED, 3, 0),
    ("cuda_async", "planes_on_faces_agree", RACES, 9, 0),
    ("cuda_async", "large_blocks_agree", TOOLS, 1, 0),
    ("cuda_async", "one_at_a_time_agrees", NO_SHARED, 5, 0),  # blocks handed out by a counter
    ("cuda_async", "one_at_a_time_agrees", RACES, 29, 0),
    ("cuda_line", "smoothing_agrees", TOOLS, 37, 0),
    ("cuda_line", "one_block_agrees", TOOLS, 19, 0),
    ("cuda_line", "transfers_agree", NO_SHARED, 13, 200000),
    ("cuda_operations", "operations_agree", TOOLS, 2, 0),  # residuals, norms, transfers, the synchronous smoothers
    ("cuda_operations", "operations_agree_in_rows", TOOLS, 3, 0),
    ("cuda_operations", "operations_agree_in_media", NO_SHARED, 1, 0),
    ("cuda_operations", "operations_agree_on_faces", NO_SHARED, 7, 0),
    ("cuda_transfers", "transfers_agree_at_odd_sizes", TOOLS, 5, 0),
    ("cuda_box", "operations_agree", NO_SHARED, 3, 0),  # box stencils: by rows
    ("cuda_box", "smoothing_agrees", TOOLS, 11, 60000),  # colours, lines, tiles
    ("cuda_box", "smoothing_of_arrays_agrees", TOOLS, 11, 20000),  # colours, cells, tiles
    ("cuda_black_box", "coefficients_agree", NO_SHARED, 5, 0),
    ("cuda_red_black", "fused_red_black_agrees", TOOLS, 3, 0),
    ("cuda_red_black", "red_black_in_line_agrees", NO_SHARED, 17, 0),
    ("cuda_lines", "steps_agree", TOOLS, 19, 40000),
    ("cuda_lines", "box_steps_agree", TOOLS, 19, 40000),
    ("cuda_fused_levels", "levels_agree", NO_SHARED, 7, 50000),  # small levels in one kernel
    ("cuda_fused_levels", "levels_agree", RACES, 11, 4096),  # of ten cases three have levels for a cluster, whose launch takes up to ten seconds
    ("cuda_fused_levels", "levels_on_faces_agree", NO_SHARED, 11, 50000),
    ("cuda_fused_levels", "levels_on_faces_agree", RACES, 47, 50000),
    ("cuda_fused_levels", "updates_reach_them", ["memcheck", "initcheck"], 1, 0),
    ("direct", "in_3d", TOOLS, 41, 0),
    ("direct", "longer_axes", ["memcheck", "initcheck"], 2, 500000),
    ("direct", "longer_axes", ["synccheck", "racecheck"], 4, 500000),
    ("cuda_solves", "smoothers_agree", NO_SHARED, 3, 0),  # of six smoothers Jacobi and Chebyshev alone, in all problems
    ("cuda_solves", "coarse_grids_agree", NO_SHARED, 3, 40000),  # conjugate gradients and Cholesky on the coarsest grid
    ("cuda_solves", "coarse_grids_agree", RACES, 3, 3500),
    ("cuda_graph", "smoothers_and_shapes", ["memcheck", "initcheck"], 9, 40000),  # these and others in float, too
    ("cuda_streams", "two_streams", NO_SHARED, 5, 0),  # its kernels' shared memory is checked above
    ("cuda_graph", "arrays_at_the_same_address", ["memcheck"], 1, 0),  # replayed when they have been released
    ("cuda_graph", "preconditions", ["memcheck", "synccheck"], 3, 0),
    ("cuda_graph", "whatever_it_starts_from", ["memcheck", "initcheck"], 5, 0),
    ("cuda_graph", "accelerated_solves", ["memcheck", "initcheck"], 7, 40000),  # both accelerations in both precisions
    ("cuda_graph", "unmeasured_accelerated_solves", ["memcheck", "initcheck"], 17, 40000),  # nearly all by full multigrid
    ("cuda_graph", "rarely_measured_solves", ["memcheck", "initcheck"], 23, 40000),  # with and without both of that, two smoothers
]
LAST_WORD = {"cuda_graph": ["by_cycles"], "cuda_streams": ["by_cycles"], "direct": ["cuda"]}  # of a test's command
SHARE = {"every": "GMG_TEST_EVERY", "most": "GMG_TEST_MOST"}  # tests/util.h; CTest says what share its tests take

FOUND = re.compile(r"^========= (Invalid|Uninitialized|Program hit|Barrier error|Error: |Warning: |Race reported)", re.M)
SUMMARY = re.compile(r"^========= ERROR SUMMARY: (\d+) error|^========= RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warn", re.M)
CASES = re.compile(r"^cases taken: (\d+) of (\d+)$", re.M)
FARTHEST = re.compile(r"^largest difference from the host's factors: deterministic (\S+) at (.+), asynchronous (\S+) at (.+)$", re.M)
BAND = re.compile(r"^(.+?) +(\d+) an axis: (\S+), (\S+), (\S+) of (\d+), band (\S+) to (\S+?)(?:, outside its band)?$", re.M)


# --- what is run -----------------------------------------------------------------------------------------------------


UNKNOWN = "not known"


def entry(name, label, command, environment, limit=600, alone=False, tool=None):
    return {"name": name, "label": label, "command": command, "environment": environment, "limit": limit, "alone": alone, "tool": tool}


def moved(build):
    """Paths at configuration, and the corresponding paths now."""
    cache = build / "CMakeCache.txt"
    text = cache.read_text() if cache.is_file() else ""
    at = re.search(r"^# For build in directory: (.+)$", text, re.M), re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.+)$", text, re.M)
    return [(at[0][1], str(build)), (at[1][1], str(ROOT))] if all(at) else []


def tests_of(build):
    """CTest's list, with current paths in the commands."""
    said = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True).stdout
    made = []
    for test in json.loads(said)["tests"]:
        has = {p["name"]: p["value"] for p in test.get("properties", [])}
        label = next((word for word in LABELS if word in has.get("LABELS", [])), None)
        if not label:
            continue
        command = [sys.executable if pathlib.Path(word).name == "python3" else word for word in test.get("command", [])]
        for before, now in moved(build):
            command = [now + word[len(before):] if word == before or word.startswith(before + "/") else word for word in command]
        environment = dict(setting.split("=", 1) for setting in has.get("ENVIRONMENT", []))
        made.append(entry(test["name"], label, command, environment, has.get("TIMEOUT", 600), has.get("RUN_SERIAL", False)))
    return made


def sanitized(build):
    made = []
    for tool in TOOLS:
        for program, test, tools, every, most in SANITIZED:
            words = [str(build / f"tests/test_{program}"), test] + LAST_WORD.get(program, [])
            if tool in tools:
                few = {SHARE["every"]: str(every) if every > 1 else "", SHARE["most"]: str(most or "")}
                made.append(entry(f"{tool}/{program}/{test}", tool, words, {k: v for k, v in few.items() if v}, tool=tool))
    return made


def shown(command):
    """The command without folders, for the file."""
    return [pathlib.Path(word).name if word.startswith("/") else word for word in command]


def sanitizer_program():
    return shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")


# --- one check -------------------------------------------------------------------------------------------------------

running = set()
stopping = threading.Event()


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, environment, limit):
    """Returns output, exit status (None: stopped) and seconds. Also ends the processes that the command started."""
    start = time.monotonic()
    usual = {k: v for k, v in os.environ.items() if k not in SHARE.values()}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**usual, **environment}, start_new_session=True)
    running.add(process)
    status = None
    try:
        if stopping.is_set():
            end_group(process)
        output, _ = process.communicate(timeout=limit)
        status = None if stopping.is_set() else process.returncode
    except subprocess.TimeoutExpired:
        end_group(process)
        output, _ = process.communicate()
    running.discard(process)
    return output.decode(errors="replace"), status, time.monotonic() - start


def count_tests(output):
    """Counts from cmocka's output. It names a failing test twice."""
    def names(word):
        return set(re.findall(rf"^\[ +{word} +\] (\w+)$", output, re.M))
    return {"passed": len(names("OK")), "failed": len(names("FAILED")), "skipped": len(names("SKIPPED"))}


def count_errors(output):
    """The number of errors from compute-sanitizer: its summary or, if it was stopped, the number printed so far."""
    summary = SUMMARY.search(output)
    return sum(int(n) for n in summary.groups() if n) if summary else len(FOUND.findall(output))


def bands(output):
    keys = ("problem", "n", "min", "median", "max", "runs", "least", "most")
    kinds = (str, int, float, float, float, int, float, float)
    return [{k: kind(v) for k, kind, v in zip(keys, kinds, found)} for found in BAND.findall(output)]


def factors(output):
    """The largest difference of a factor between device and host, and its case."""
    found = FARTHEST.search(output)
    return {"deterministic": [float(found[1]), found[2]], "asynchronous": [float(found[3]), found[4]]} if found else None


def record_of(entry, output, status, seconds):
    record = {"status": status, "seconds": round(seconds, 1), "ended": status is not None, **count_tests(output)}
    counts_tests = pathlib.Path(entry["command"][0]).name.startswith("test_")  # demos and scripts only have an exit status
    good = status == 0 and record["failed"] == 0 and (record["passed"] > 0 or not counts_tests)
    if entry["tool"]:
        record["errors"] = count_errors(output)
        good = good and record["errors"] == 0 and SUMMARY.search(output) is not None
    cases = CASES.search(output)
    if cases:
        record["cases"] = [int(n) for n in cases.groups()]
        good = good and record["cases"][0] > 0
    if entry["name"].startswith("cuda_convergence_spread"):
        record["bands"] = bands(output)
    if entry["name"] == "regression_cuda":
        record["factors"] = factors(output)
    wrong = record["failed"] > 0 or record.get("errors", 0) > 0
    record["outcome"] = ("passed" if good else "skipped" if status == 77 else "stopped" if status is None and not wrong else "failed")
    if record["outcome"] != "passed":
        middle = "\n[...]\n" if len(output) > 3000 else ""  # keeps a sanitizer's first error and its summary
        record["output"] = (output[:1500] + middle + output[-1500:] if middle else output).replace(str(ROOT), ".")
    return record


def check(entry, sanitizer, most):
    programs = [word for word in entry["command"][:2] if word.startswith("/")]
    missing = [pathlib.Path(word).name for word in programs if not pathlib.Path(word).exists()]
    if missing or not programs:
        return {"outcome": "missing", "why": f"no program {' '.join(missing)}"}
    command = entry["command"]
    if entry["tool"]:
        if not sanitizer:
            return {"outcome": "missing", "why": "no compute-sanitizer"}
        command = [sanitizer, "--tool", entry["tool"], "--print-limit", "20", *command]
    return record_of(entry, *run(command, entry["environment"], min(entry["limit"], most)))


# --- the file --------------------------------------------------------------------------------------------------------


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def driver_version():
    try:
        found = re.search(r"Module.*?\s(\d+\.\d+[.\d]*)\s", pathlib.Path("/proc/driver/nvidia/version").read_text())
    except OSError:
        found = None
    return found[1] if found else said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader").split("\n")[0]


def head(commit, sanitizer):
    version = re.search(r"release (\S+),", said(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc", "--version"))
    tool = re.search(r"Version (\S+)", said(sanitizer, "--version")) if sanitizer else None
    return {"program": "checks.py", "commit": commit, "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "device": said("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").split("\n")[0] or UNKNOWN,
            "driver": driver_version() or UNKNOWN, "cuda": version[1] if version else UNKNOWN,
            "compute_sanitizer": tool[1] if tool else UNKNOWN if sanitizer else "missing"}


class Record:
    def __init__(self, path, top, all_entries):
        self.path, self.lock = path, threading.Lock()
        self.data = {**top, "results": [{"name": e["name"], "label": e["label"], "command": shown(e["command"]),
                                         "environment": {k: v for k, v in e["environment"].items() if v and k in SHARE.values()},
                                         "tool": e["tool"], "outcome": "not run"} for e in all_entries]}
        self.at = {r["name"]: i for i, r in enumerate(self.data["results"])}
        before = json.loads(path.read_text()) if path.is_file() else {}
        if top["commit"] != UNKNOWN and all(before.get(key) == top[key] for key in ("commit", "device", "driver")):
            for r in before["results"]:
                if r["name"] in self.at:
                    self.data["results"][self.at[r["name"]]] = r
        self.write()

    def add(self, name, result):
        with self.lock:
            fixed = {k: v for k, v in self.data["results"][self.at[name]].items() if k in ("name", "label", "command", "environment", "tool")}
            self.data["results"][self.at[name]] = {**fixed, **result}
            self.write()
            print(f"{name:<48} {result['outcome']:<8} {result.get('seconds', ''):>6}  {result.get('why', '')}", flush=True)

    def write(self):
        part = self.path.with_name(self.path.name + ".part")
        top = [f"  {json.dumps(k)}: {json.dumps(v)},\n" for k, v in self.data.items() if k != "results"]
        rows = ",\n".join("    " + json.dumps(r) for r in self.data["results"])
        part.write_text("{\n" + "".join(top) + '  "results": [\n' + rows + "\n  ]\n}\n")
        part.replace(self.path)


def stop(*_):
    stopping.set()
    for process in list(running):
        end_group(process)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "bench/results/h200-checks.json")
    parser.add_argument("--commit", default=UNKNOWN)
    parser.add_argument("--only", default="*")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    build = given.build.absolute()
    everything = tests_of(build) + sanitized(build)
    wanted = [e for e in everything if any(fnmatch.fnmatchcase(e[key], p) for key in ("name", "label") for p in given.only.split(","))]
    if given.list or not wanted:
        print("\n".join(e["name"] for e in wanted) or f"checks.py: nothing is named {given.only}")
        return 0 if wanted else 2
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // given.jobs)))
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    sanitizer = sanitizer_program()
    record = Record(given.json, head(given.commit, sanitizer), everything)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)

    def turn(entry):
        if not stopping.is_set():
            record.add(entry["name"], check(entry, sanitizer, given.seconds))

    for part in ([e for e in wanted if not e["tool"] and not e["alone"]], [e for e in wanted if e["alone"]], [e for e in wanted if e["tool"]]):
        with concurrent.futures.ThreadPoolExecutor(1 if part and part[0]["alone"] else given.jobs) as pool:
            for done in [pool.submit(turn, e) for e in part]:
                done.result()
    outcomes = [record.data["results"][record.at[e["name"]]]["outcome"] for e in wanted]
    print(", ".join(f"{outcomes.count(o)} {o}" for o in dict.fromkeys(outcomes)))
    return int("failed" in outcomes or "missing" in outcomes)


if __name__ == "__main__":
    sys.exit(main())
