#!/usr/bin/env python3
"""Rejects includes that point the wrong way. The order of the house: public headers -> core -> stencil -> smoothers and
coarse -> mg; demos, bench and study see public headers only, but for the measurement of single operations. Also: src/mg/ holds no #ifdef, no backend's and no precision's name.
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
    "mg": {"include", "core", "stencil", "smoothers", "coarse", "mg"},
    "demos": {"include", "demos"},
    "bench": {"include", "bench"},
    "study": {"include", "demos", "bench", "study"},
}
MEASURES_INSIDE = {"bench/gpu_operations.c", "bench/gpu_cublas.c"}
FORBIDDEN_IN_MG = re.compile(r"#\s*if(def|ndef)?\b|\b(float|GMG_F32|GMG_F64|FLT_\w+|DBL_\w+|\w*cuda\w*|\w*CUDA\w*|\w+_host(_f\d\d)?|GMG_BACKEND\w*)\b")
GUARD = re.compile(r"#\s*ifndef\s+GMG_\w+_H\b")


def room_of(path: pathlib.Path, root: pathlib.Path) -> str:
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def main(root: pathlib.Path) -> int:
    problems, seen = [], 0
    for path in sorted(p for d in ("include", "src", "demos", "bench", "study") for p in (root / d).rglob("*")):
        if path.suffix not in (".c", ".h", ".cu", ".cuh"):
            continue
        seen += 1
        room = room_of(path, root)
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.relative_to(root)}:{number}"
            include = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if include:
                name = include.group(1)
                candidates = [folder / name for folder in (path.parent, root / "include", root / "src")]
                target = next((c.resolve() for c in candidates if c.is_file()), None)
                if target:
                    to = room_of(target, root.resolve())
                else:
                    problems.append(f"{where}: {name} not found")
                    continue
                if to not in ALLOWED[room] and str(path.relative_to(root)) not in MEASURES_INSIDE:
                    problems.append(f"{where}: {room} must not include {to} ({name})")
            code = re.sub(r"/\*.*?\*/", "", line)
            default = path.name == "defaults.c" and ".type =" in code  # the documented default is a name of the API
            if room == "mg" and FORBIDDEN_IN_MG.search(code) and not GUARD.match(code) and not default:
                problems.append(f"{where}: mg names a backend, a precision or a condition: {line.strip()}")
    print("\n".join(problems) if problems else f"{seen} files, every include points the right way")
    return 1 if problems or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
