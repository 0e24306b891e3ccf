#!/usr/bin/env python3
"""Measures what each kernel variant is worth: copies the sources, lets the function that chooses a variant say no where the
environment variable GMG_WITHOUT names it, builds the copy once, and runs bench_gpu_sizes with all variants and without each.
Usage: variants.py [--only NAME,NAME] [--build FOLDER] [--commit ID] [--cmake OPTION]... FILE.json"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CUDA_OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DGMG_NATIVE=OFF", "-DGMG_DEMOS=OFF", "-DGMG_FORTRAN=OFF", "-DGMG_STUDY=OFF",
                "-DGMG_TESTS=OFF"]
SWITCH = r"""#include <stdlib.h>
#include <string.h>
static inline int gmg_without(const char *name) { const char *v = getenv("GMG_WITHOUT"); return v && strcmp(v, name) == 0; }
"""
ASYNC, RED_BLACK, FUSED = "smoothers/async/cuda/", "smoothers/red_black/", "coarse/fused_levels/cuda/"
OPERATOR, TRANSFER = "stencil/operator/cuda/", "stencil/transfer/cuda/"

# name: file, function that says no by returning 0, and when
VARIANTS = {
    "async_line": (ASYNC + "line.cu", "lay_out", ""),
    "async_planes_faces": (ASYNC + "planes_faces.cu", "suits", ""),
    "async_tiles_packed": (ASYNC + "tiles_packed.cu", "lay_out", ""),
    "async_rows": (ASYNC + "rows.cu", "lay_out", ""),
    "async_planes": (ASYNC + "planes.cu", "lay_out", ""),
    "async_tiles": (ASYNC + "tiles.cu", "lay_out", ""),
    "async_planes_restrict": (ASYNC + "planes.cu", "presmooth_restrict", "to == u"),
    "async_planes_update": (ASYNC + "planes.cu", "postsmooth_update", "sizeof(real) == 4"),
    "async_planes_double_buffered": (ASYNC + "planes.cu", "double_buffered", ""),
    "async_tiles_packed_double_buffered": (ASYNC + "tiles_packed.cu", "double_buffered", ""),
    "async_rows_restrict": (ASYNC + "rows.cu", "presmooth_restrict", ""),
    "async_rows_update": (ASYNC + "rows.cu", "postsmooth_update", ""),
    "red_black_line": (RED_BLACK + "line.cuh", "line_suits", ""),
    "red_black_fused": (RED_BLACK + "cuda.cu", "goes_in_one_pass", ""),
    "red_black_restrict": (RED_BLACK + "cuda.cu", "presmooth_restrict", "to == u"),
    "red_black_update": (RED_BLACK + "cuda.cu", "postsmooth_update", "sizeof(real) == 4"),
    "red_black_double_buffered": (RED_BLACK + "cuda.cu", "double_buffered", ""),
    "fused_levels": (FUSED + "levels.cu", "fits", ""),
    "fused_levels_rows": (FUSED + "levels.cu", "fits", "!is_constant(p)"),
    "fused_levels_clusters": (FUSED + "levels.cu", "fits_device", "s->blocks > 1"),
    "fused_levels_averages": (FUSED + "levels.cu", "restricts_averages", ""),
    "operator_uniform_columns": (OPERATOR + "uniform_columns.cuh", "gmg_uniform_of", ""),
    "operator_face_columns": (OPERATOR + "face_columns.cuh", "gmg_face_columns_of", ""),
    "restrict_line": (TRANSFER + "transfer_1d.cuh", "restrict_line", ""),
    "restrict_pairs": (TRANSFER + "pairs.cuh", "restrict_pairs", ""),
    "restrict_rows": (TRANSFER + "transfer_rows.cuh", "restrict_rows", ""),
    "restrict_faces": (TRANSFER + "restrict_faces.cuh", "restrict_faces", ""),
    "prolong_line": (TRANSFER + "transfer_1d.cuh", "prolong_line", ""),
    "prolong_pairs": (TRANSFER + "pairs.cuh", "prolong_pairs", ""),
    "prolong_face_pairs": (TRANSFER + "pairs.cuh", "prolong_face_pairs", ""),
    "fmg_residual_rows": (TRANSFER + "fmg_residual_rows.cuh", "fmg_residual_rows", ""),
    "early_launches": ("core/cuda/pdl.cuh", "gmg_early_attribute", ""),
}


def edit(path, pattern, replacement):
    text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.M)
    if count != 1:
        sys.exit(f"variants.py: {path}: {pattern} not found")
    path.write_text(text)


def copy_with_switches(to):
    """Copies the sources, with a test in every variant whether it is switched off."""
    if to.exists():
        shutil.rmtree(to)
    to.mkdir(parents=True)
    for name in ["CMakeLists.txt", "cmake", "include", "src", "bench"]:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name)
        elif (ROOT / name).exists():
            shutil.copy(ROOT / name, to / name)
    edit(to / "src/core/cuda/device.h", r"^#include", lambda m: SWITCH + m.group(0))
    for name, (path, function, when) in VARIANTS.items():
        when = f"({when}) && " if when else ""
        edit(to / "src" / path, rf"^((?:static |inline |extern \"C\" )*\w+ \w*{function}\([^;{{}}]*\)\s*\{{)",
             lambda m: m.group(1) + f' if ({when}gmg_without("{name}")) return 0;')


def run(program, commit, without, folder):
    out = folder / "sizes.json"
    result = subprocess.run([program, "--json", out, "--commit", commit], env=dict(os.environ, GMG_WITHOUT=without),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
    if result.returncode != 0:
        return {"error": result.stdout.strip().splitlines()[-1]}
    data = json.loads(out.read_text())
    return {"about": {k: v for k, v in data.items() if k != "results"},
            "rows": {r["name"]: {k: r[k] for k in ("median", "min", "max", "cycles", "status")} for r in data["results"]}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/variants")
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--cmake", action="append", default=[])
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    names = args.only.split(",") if args.only else list(VARIANTS)
    for name in set(names) - set(VARIANTS):
        parser.error(f"--only {name}: not one of {', '.join(VARIANTS)}")
    copy_with_switches(args.build / "source")
    subprocess.run(["cmake", "-S", args.build / "source", "-B", args.build, *CUDA_OPTIONS, *args.cmake], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", args.build, "--target", "bench_gpu_sizes", "-j", str(os.cpu_count())], check=True,
                   stdout=subprocess.DEVNULL)
    results = {}
    for name in ["", *names, ""]:
        results[name if name not in results else "again"] = run(args.build / "bench/bench_gpu_sizes", args.commit, name, args.build)
        print(name or "all variants", flush=True)
    everything = results.pop("")
    again = results.pop("again")
    args.file.write_text(json.dumps({"about": everything["about"], "with": everything["rows"], "with_again": again["rows"],
                                     "without": {n: r.get("rows", r) for n, r in results.items()}}, indent=1) + "\n")


if __name__ == "__main__":
    main()
