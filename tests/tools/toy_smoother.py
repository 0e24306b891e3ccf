#!/usr/bin/env python3
"""A smoother is one folder and one line: adds tests/toy_smoother/toy and a line of registry.c to a copy of the sources, builds the
library of it and solves. Usage: test_toy_smoother.py ROOT CMAKE GENERATOR COMPILER"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

OFF = ["CUDA", "DEMOS", "TESTS", "BENCH", "STUDY", "FORTRAN", "INSTALL"]
PROGRAM = """
add_executable(solve_with_toy solve.c)
target_link_libraries(solve_with_toy PRIVATE gmg_static gmg_flags)
"""


def add_line(registry: pathlib.Path) -> None:
    lines = registry.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if "#define SMOOTHERS(" in line)
    lines.insert(at + 1, "  ROW(toy) \\\n")
    registry.write_text("".join(lines))


def main(root: pathlib.Path, cmake: str, generator: str, compiler: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "gmg"
        for folder in ("src", "include"):
            shutil.copytree(root / folder, tree / folder)
        shutil.copytree(root / "tests/toy_smoother/toy", tree / "src/smoothers/toy")
        add_line(tree / "src/smoothers/registry.c")
        (tree / "CMakeLists.txt").write_text((root / "CMakeLists.txt").read_text() + PROGRAM)
        shutil.copy(root / "tests/toy_smoother/solve.c", tree)
        build = tree / "build"
        options = [f"-DGMG_{name}=OFF" for name in OFF] + ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0"]
        subprocess.run([cmake, "-S", tree, "-B", build, "-G", generator, f"-DCMAKE_C_COMPILER={compiler}", *options], check=True)
        subprocess.run([cmake, "--build", build, "--parallel", "2", "--target", "solve_with_toy"], check=True)
        subprocess.run([build / "solve_with_toy"], check=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
