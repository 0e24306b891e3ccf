"""A copy of the sources with one folder and one line more, for toy_smoother.py and toy_operator.py."""
import pathlib
import shutil
import subprocess
import tempfile

OFF = ["CUDA", "DEMOS", "TESTS", "BENCH", "STUDY", "FORTRAN", "MPI", "INSTALL"]
PROGRAM = """
add_executable(solve_with_toy solve.c)
target_link_libraries(solve_with_toy PRIVATE gmg_static gmg_flags)
"""


def add_line(registry: pathlib.Path, macro: str) -> None:
    lines = registry.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if f"#define {macro}(" in line)
    lines.insert(at + 1, "  ROW(toy) \\\n")
    registry.write_text("".join(lines))


def solve_with(toy: str, folder: str, registry: str, macro: str, root: str, cmake: str, generator: str, compiler: str) -> None:
    """Copies tests/TOY/toy into a FOLDER of the sources, adds a line to MACRO in REGISTRY, builds tests/TOY/solve.c and runs it."""
    home = pathlib.Path(root).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "gmg"
        for part in ("src", "include"):
            shutil.copytree(home / part, tree / part)
        shutil.copytree(home / "tests" / toy / "toy", tree / folder / "toy")
        add_line(tree / registry, macro)
        (tree / "CMakeLists.txt").write_text((home / "CMakeLists.txt").read_text() + PROGRAM)
        shutil.copy(home / "tests" / toy / "solve.c", tree)
        build = tree / "build"
        options = [f"-DGMG_{name}=OFF" for name in OFF] + ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0"]
        subprocess.run([cmake, "-S", tree, "-B", build, "-G", generator, f"-DCMAKE_C_COMPILER={compiler}", *options], check=True)
        subprocess.run([cmake, "--build", build, "--parallel", "2", "--target", "solve_with_toy"], check=True)
        subprocess.run([build / "solve_with_toy"], check=True)
