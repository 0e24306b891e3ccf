#!/usr/bin/env python3
"""Runs bench_cpu --quick and checks its file: every record complete, every number finite, what is skipped explained.
Usage: check_json.py BENCH_CPU"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HEADER = {"program": str, "commit": str, "date": str, "machine": str, "cores": int, "threads": int, "compiler": str,
          "flags": str, "triad": dict, "results": list}
RECORD = {"name": str, "n": list, "type": str, "what": str, "f": str, "start": str, "norm": str, "floor_of": str,
          "unit": str, "status": str}
MEASURED = {"median": float, "min": float, "max": float, "runs": int, "samples": list}
EXPECTED = ["triad_large_32", "residual_32", "v11_red_black_32", "v11_red_black_checked_32", "v11_async_32",
            "v11_async_checked_32", "solve_async_16", "solve_async_32", "solve_red_black_32", "fmg_32", "fmg_checked_32",
            "create_32", "memory_32", "solve_beta_32", "solve_beta_one_32", "v11_beta_32", "create_beta_32",
            "memory_beta_32", "update_beta_32"]


def infinite(constant):
    raise ValueError(f"{constant} in the file")


def check_fields(what, where, fields):
    for name, kind in fields.items():
        value = where.get(name)
        ok = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not ok or (kind is str and not value):
            sys.exit(f"{what}: {name} is {value!r}")


def check_record(r):
    check_fields(r.get("name", "?"), r, RECORD)
    for name in ("tolerance", "floor"):
        if name not in r or not (r[name] is None or r[name] > 0):
            sys.exit(f"{r['name']}: {name} is {r.get(name)!r}")
    if r["norm"] != "none" and r["tolerance"] is None:
        sys.exit(f"{r['name']}: a norm without a tolerance")
    if r["tolerance"] is not None and not r["status"] == "skipped" and r["floor"] * 10 > r["tolerance"]:
        sys.exit(f"{r['name']}: the tolerance lies within ten times of the rounding floor")
    if r["status"] == "skipped":
        return check_fields(r["name"], r, {"skipped": str})
    check_fields(r["name"], r, MEASURED)
    if r["status"] != "GMG_OK":
        sys.exit(f"{r['name']}: {r['status']}")
    if not r["min"] <= r["median"] <= r["max"] or r["runs"] != len(r["samples"]) or r["runs"] < 1:
        sys.exit(f"{r['name']}: the samples do not fit their statistics")
    numbers = [v for v in r.values() if isinstance(v, float)] + r["samples"]
    if not all(math.isfinite(v) for v in numbers):
        sys.exit(f"{r['name']}: a number is not finite")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "quick.json"
        subprocess.run([program, "--quick", "--json", str(path)], check=True)
        data = json.loads(path.read_text(), parse_constant=infinite)
    check_fields("header", data, HEADER)
    check_fields("triad", data["triad"], {"median": float, "min": float, "max": float, "runs": int, "unit": str})
    for record in data["results"]:
        check_record(record)
    missing = set(EXPECTED) - {r["name"] for r in data["results"]}
    if missing:
        sys.exit(f"rows missing: {sorted(missing)}")
    print(f"{len(data['results'])} records, all complete")


if __name__ == "__main__":
    main(sys.argv[1])
