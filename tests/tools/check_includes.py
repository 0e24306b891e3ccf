#!/usr/bin/env python3
"""Rejects includes that point the wrong way. The order of the house: public headers -> core -> stencil -> smoothers and
coarse -> mg, with comm under mg; demos, bench, study and mpi see public headers only (demos and bench those of mpi, too), but for the measurement of single operations. Also:
- src/mg/ holds no #ifdef, no name of a backend, a precision or a smoother, and tests no flag for a precision, a smoother or a fused leg;
  fused legs, sweeps and recordings are used in one place each; mg/cycle does not know mg/iterate;
- one smoother's folder does not include another's, and relax/, which they share, includes none;
- only the registry and the defaults look a smoother up by name;
- global functions of bench, demos and study begin with bench_, demo_ or study_; so do their global tables;
- one file each of src, demos and tests may ask whether the library is built with CUDA, and none of bench;
- of the tests internals.h alone includes headers of src. The toys are not tests: they are copied into src;
- lines of include and src have at most 132 columns.
Usage: check_includes.py ROOT"""
import pathlib
import re
import sys

ALLOWED = {
    "include": {"include"},
    "core": {"include", "core"},
    "stencil": {"include", "core", "stencil"},
    "smoothers": {"include", "core", "stencil", "smoothers"},
    "coarse": {"include", "core", "stencil", "coarse"},
    "comm": {"include", "core", "comm"},
    "mg": {"include", "core", "stencil", "smoothers", "coarse", "comm", "mg"},
    "mpi": {"include", "mpi"},
    "demos": {"include", "media", "mpi", "demos"},
    "media": {"include", "media"},
    "bench": {"include", "media", "mpi", "bench"},
    "study": {"include", "demos", "bench", "study"},
}
MEASURES_INSIDE = {"bench/gpu_operations.c", "bench/gpu_cublas.c"}
FORBIDDEN_IN_MG = re.compile(r"#\s*if(def|ndef)?\b|\b(float|GMG_F32|GMG_F64|FLT_\w+|DBL_\w+|\w*cuda\w*|\w*CUDA\w*|\w+_host(_f\d\d)?|GMG_BACKEND\w*)\b")
SHARED_BY_SMOOTHERS = {"relax"}
ASKS_FOR_CUDA = re.compile(r"#\s*(el)?if\w*\b.*\bGMG_CUDA\b")
# By folder: the one file that may.
MAY_ASK_FOR_CUDA = {"src": "src/core/backend.h", "demos": "demos/place.c", "tests": "tests/device.c", "bench": None}
BY_NAME = re.compile(r"\bgmg_smoother_by_name\(")
MAY_LOOK_UP = {"src/smoothers/registry.c", "src/mg/defaults.c"}
INCLUDES_SRC = "tests/internals.h"
TOYS = ("tests/toy_smoother/toy/", "tests/toy_operator/toy/")
# Of a cycle's parts each is used in one place: fused legs and sweeps in the legs (and by the smoother that watches), recordings by replay.
IN_ONE_PLACE = {
    "a fused leg": (re.compile(r"\bfused->"), {"src/mg/cycle/legs.c"}),
    "a sweep": (re.compile(r"\bsweep(_from_zero)?\("), {"src/mg/cycle/legs.c", "src/mg/cycle/watch.c"}),
    "a recording": (re.compile(r"\bgraph->(begin|end|replay)\("), {"src/mg/iterate/replay.c"}),
}
# A flag is a condition on a word for a precision or a fused leg, or a parameter or a member of that name; a smoother is a table, whose
# name is for messages.
FLAG = r"\b(mixed|low|narrow|narrower|high|is_(low|mixed|fused|host|cuda|high|narrow)\w*|fused_legs|outer_levels\s*([!=]=|>=?)\s*0)\b"
FLAG_IN_MG = re.compile(rf"\b(if|while)\s*\(.*{FLAG}|{FLAG}[^;]*(\?|&&|\|\|)|\bint (mixed|low|narrow|high|host|cuda|fused)\b"
                        r"|\b(smoother->name|smoother)\s*[!=]=\s*[^N]|(\.|->)(mixed|low)\b"
                        r"|\b\w*(jacobi|gauss_seidel|red_black|chebyshev)\w*|\bGMG_(LOCAL|PRECISION)_(?!AUTO)\w+")
# One file decides on the precision. A table says which one it is for.
DECIDES_PRECISION = "src/mg/hierarchy/precision.c"
ALLOWED_PRECISION = re.compile(r"\.precision = GMG_PRECISION_\w+")
# In column 0: what it returns, its name, then parameters; or a table's type, name and values. Macros in capitals define static functions.
DEFINES = re.compile(r"^(?:[a-z_]\w*[\s*]+)+(?:const )?(\w+)(?:\(|\[\w*\](?:\[\w*\])* =| = |;)")
NOT_GLOBAL = re.compile(r"^(typedef|extern|return|else|case|template|using)\b|^(struct|union|enum) \w+;|^.*\bstatic\b")
MAX_COLUMNS = 132
PREFIX = {"bench": "bench_", "demos": "demo_", "study": "study_", "media": "medium_"}
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
GUARD = re.compile(r"#\s*ifndef\s+GMG_\w+_H\b")


def room_of(path: pathlib.Path, root: pathlib.Path) -> str:
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def smoother_of(path: pathlib.Path, root: pathlib.Path) -> str:
    """The folder of src/smoothers that a file is in, or an empty string."""
    parts = path.relative_to(root).parts
    return parts[2] if parts[:2] == ("src", "smoothers") and len(parts) > 3 else ""


def unprefixed(room: str, code: str) -> str:
    """The name of a function or table that this line makes global without its folder's prefix, or an empty string."""
    code = re.sub(r"__attribute__\(\([^)]*\)+\s*|^extern \"C\" ", "", code)
    found = None if NOT_GLOBAL.match(code) else DEFINES.match(code)
    return found[1] if room in PREFIX and found and not found[1].startswith(PREFIX[room]) and found[1] != "main" else ""


def target_of(name: str, path: pathlib.Path, folders: list[pathlib.Path]):
    """The file that an include of `path` names."""
    return next((c.resolve() for c in (folder / name for folder in [path.parent, *folders]) if c.is_file()), None)


def asks_for_cuda(name_here: str, line: str) -> str:
    """What is wrong with a line that asks whether there is CUDA, or an empty string."""
    folder = name_here.split("/")[0]
    if folder not in MAY_ASK_FOR_CUDA or name_here == MAY_ASK_FOR_CUDA[folder] or not ASKS_FOR_CUDA.search(line):
        return ""
    return f"only {MAY_ASK_FOR_CUDA[folder] or 'other folders'} may ask whether there is CUDA: {line.strip()}"


def flags_of(code: str, name_here: str) -> str:
    """The part of a line of src/mg that must have no flag: no texts, and no precision where it is decided or noted."""
    code = ALLOWED_PRECISION.sub("", re.sub(r'"[^"]*"', '""', code))
    return re.sub(r"\bGMG_PRECISION_\w+", "", code) if name_here == DECIDES_PRECISION else code


def problems_of_tests(root: pathlib.Path) -> list[str]:
    problems = []
    for path in sorted(p for p in (root / "tests").rglob("*") if p.suffix in (".c", ".h", ".cpp", ".cu")):
        name_here = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if what := asks_for_cuda(name_here, line):
                problems.append(f"{name_here}:{number}: {what}")
            include = INCLUDE.match(line)
            target = include and target_of(include[1], path, [root / "tests", root / "include", root / "src"])
            if target and target.is_relative_to(root / "src") and name_here != INCLUDES_SRC and not name_here.startswith(TOYS):
                problems.append(f"{name_here}:{number}: only {INCLUDES_SRC} includes headers of src ({include[1]})")
    return problems


def main(root: pathlib.Path) -> int:
    problems, seen = [], 0
    for path in sorted(p for d in ("include", "src", "mpi", "demos", "media", "bench", "study") for p in (root / d).rglob("*")):
        if path.suffix not in (".c", ".h", ".cu", ".cuh"):
            continue
        seen, nameless = seen + 1, False
        room = room_of(path, root)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            name_here = str(path.relative_to(root))
            where = f"{name_here}:{number}"
            include = INCLUDE.match(line)
            if include:
                name = include.group(1)
                target = target_of(name, path, [root / "include", root / "src", root / "media", root / "mpi"])
                if target:
                    to = room_of(target, root.resolve())
                else:
                    problems.append(f"{where}: {name} not found")
                    continue
                if to not in ALLOWED[room] and name_here not in MEASURES_INSIDE:
                    problems.append(f"{where}: {room} must not include {to} ({name})")
                if room == "mg" and "/mg/cycle/" in f"/{name_here}" and "/mg/iterate/" in str(target):
                    problems.append(f"{where}: mg/cycle must not include mg/iterate, which calls it ({name})")
                mine, other = smoother_of(path, root), smoother_of(target, root.resolve())
                if mine and other and mine != other and other not in SHARED_BY_SMOOTHERS:
                    problems.append(f"{where}: smoothers/{mine} must not include smoothers/{other} ({name})")
            if len(line) > MAX_COLUMNS and room not in PREFIX:
                problems.append(f"{where}: {len(line)} columns")
            code = re.sub(r"/\*.*?\*/", "", line)
            if what := asks_for_cuda(name_here, code):
                problems.append(f"{where}: {what}")
            if room in ALLOWED["mg"] - {"include"} and BY_NAME.search(re.sub(r'"[^"]*"', "", code)) and name_here not in MAY_LOOK_UP:
                problems.append(f"{where}: a smoother is looked up by its name: {line.strip()}")
            nameless = line.startswith("namespace {") or (nameless and not line.startswith("} // namespace"))
            if not nameless and (name := unprefixed(room, code)):
                problems.append(f"{where}: {name} is global and does not begin with {PREFIX[room]}: {line.strip()}")
            for what, (pattern, places) in IN_ONE_PLACE.items():
                if room == "mg" and pattern.search(code) and name_here not in places:
                    problems.append(f"{where}: {what} is the business of {', '.join(sorted(places))}: {line.strip()}")
            if room == "mg" and FLAG_IN_MG.search(flags_of(code, name_here)):
                problems.append(f"{where}: mg tests a flag for a precision, a smoother or a fused leg: {line.strip()}")
            default = path.name == "defaults.c" and ".type =" in code  # the documented default is a name of the API
            if room == "mg" and FORBIDDEN_IN_MG.search(code) and not GUARD.match(code) and not default:
                problems.append(f"{where}: mg names a backend, a precision or a condition: {line.strip()}")
    problems += problems_of_tests(root)
    print("\n".join(problems) if problems else f"{seen} files, every include points the right way")
    return 1 if problems or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
