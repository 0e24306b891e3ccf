"""What the tests of the study share: they run a program (their argument) and collect what is wrong."""
import subprocess
import sys

PROGRAM = sys.argv[1]
failures = []


def check(condition, words):
    if not condition:
        failures.append(words)


def run(*args, code=0, says=None):
    done = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    if done.returncode != code or (says and says not in text):
        failures.append(f"{' '.join(args)}: exit {done.returncode}, wanted {code} and {says!r}\n{text[-600:]}")
    return done.stdout
