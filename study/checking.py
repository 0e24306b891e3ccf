"""Shared by the tests of the study, which run a program (their argument) and collect errors."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
NAME = pathlib.Path(PROGRAM).name
failures = []


def check(condition, words):
    if not condition:
        failures.append(words)


def run(*args, code=0, says=None):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=900)
    text = done.stdout + done.stderr
    if done.returncode != code or (says and says not in text):
        failures.append(f"{' '.join(args)}: exit {done.returncode}, wanted {code} and {says!r}\n{text[-600:]}")
    return done.stdout


def measure(folder, *args, lines):
    """Runs quickly on the host, checks the number of lines of progress and the format of the file, and returns the file."""
    path = pathlib.Path(folder) / "study.json"
    out = run("--quick", "--device", "host", *args, "--json", str(path))
    check(out.count(" s] ") > lines, "no progress")
    if not path.is_file():
        sys.exit("\n".join(failures))
    text = path.read_text()
    data = json.loads(text)
    check({"commit", "date", "machine", "cores", "threads", "compiler", "command", "seconds"} <= data.keys(), f"header: {data.keys()}")
    check(data["program"] == NAME and data["device"] == "none" and data["scale"] == "quick" and "--quick" in data["command"], "header: what was run")
    check([p.name for p in path.parent.iterdir()] == [path.name], "what was kept meanwhile is still there")
    check(text.count("\n{\"part\":") == len(data["results"]), "not a line to each record")
    return data


def killed(folder):
    """A run that is killed keeps the records that it had five seconds before."""
    path = pathlib.Path(folder) / "killed.json"
    run_on = subprocess.Popen([PROGRAM, "--device", "host", "--json", str(path)], stdout=subprocess.DEVNULL)
    part, until = path.with_name("killed.json.part"), time.monotonic() + 60
    while time.monotonic() < until and not (part.is_file() and part.stat().st_size):
        time.sleep(0.1)
    time.sleep(1)  # it is being written
    run_on.kill()
    run_on.wait()
    check(part.is_file() and json.loads(part.read_text())["results"], "nothing is left of a run that was killed")
    check(not path.exists(), "a run that was killed looks like one that ended")


def bad_input(folder, least, parts, part):
    """Checks the messages about invalid command lines. least: smallest --n; part: a part that is quick."""
    run("--n", str(least - 1), code=2, says=f"--n '{least - 1}': expected a whole number from {least} to")
    run("--n", "12x", code=2, says="--n '12x'")
    run("--runs", "0", code=2, says="--runs '0': expected a whole number from 1 to 256")
    run("--only", f"{part},nonsense", code=2, says=f"--only '{part},nonsense': expected some of {parts}")
    run("--only", "", code=2, says="--only ''")
    run("--device", "gpu", code=2, says="--device 'gpu': expected host, cuda")
    run("--device", "cuda:1000", code=1, says="--device cuda:1000")
    run("--threads", "-1", code=2, says="--threads '-1'")
    run("--json", code=2, says="--json needs a value")
    run("--quick", "--full", code=2, says="exclude each other")
    run("--nonsense", code=2, says="--nonsense is not an option here")
    run("more", code=2, says="'more' is not an option")
    run("--help", says=f"usage: {NAME}")
    quiet = run("--quick", "--runs", "1", "--device", "host", "--only", part, "--quiet", "--json", f"{folder}/no/such/place.json", code=1,
                says="no/such/place.json")
    check(quiet == "", f"--quiet prints {quiet!r}")


def conclude(test):
    """Runs test(folder). Returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        test(folder)
    print("\n".join(failures) if failures else f"{NAME}: all as it should be")
    return bool(failures)
