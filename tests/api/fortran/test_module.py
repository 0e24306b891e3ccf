#!/usr/bin/env python3
"""The Fortran modules have what the headers have: every function, enumerator and value, struct and member, in order.
Usage: test_module.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "tests/api"))
import headers  # noqa: E402


def code(name):
    text = re.sub(r"!.*", "", (root / name).read_text())
    return re.sub(r"&\s*\n\s*", "", text)


text = code("fortran/gmg.f90")
failures = []


def same(what, module, header):
    if module != header:
        failures.append(f"{what}: the module has {module}, the header {header}")


bound = set(re.findall(r'\b(gmg_\w+)\([^)]*\) bind\(C\)|bind\(C, name="(gmg_\w+)"\)', text))
names = {a or b for a, b in bound} - {"gmg_monitor"}
same("functions", sorted(names), sorted(headers.functions(root)))

values = {}
for body in re.findall(r"enum, bind\(C\)(.*?)end enum", text, flags=re.S):
    for at, item in enumerate(body.split("::")[1].split(",")):
        name, _, value = item.partition("=")
        values[name.strip()] = int(value) if value else at
same("enumerators", values, headers.enumerators(root))

types = {}
for name, body in re.findall(r"type, bind\(C\), public :: (\w+)\n(.*?)end type", text, flags=re.S):
    types[name] = re.findall(r":: (\w+)", body)
same("types", types, headers.structs(root))

levels = re.search(r"#define GMG_MAX_LEVELS (\d+)", (root / "include/gmg.h").read_text()).group(1)
none = re.search(r"#define GMG_NONE \((-\d+)\)", (root / "include/gmg.h").read_text()).group(1)
same("GMG_NONE", re.search(r"GMG_NONE = (-\d+)", text).group(1), none)
same("GMG_MAX_LEVELS", re.search(r"GMG_MAX_LEVELS = (\d+)", text).group(1), levels)
public = set(re.findall(r"\w+", " ".join(re.findall(r"public :: (.*)", text))))
same("public names", sorted((names | set(values)) - public), [])

# Module gmg_mpi has the names of the C functions, and calls those with the suffix _fortran.
text = code("mpi/gmg_mpi.f90")
called = dict(re.findall(r'\b(gmg_\w+)\([^)]*\)\s+bind\(C, name="(gmg_\w+)"\)', text))
in_mpi = headers.functions(root, "mpi")
same("functions of gmg_mpi.h", sorted(called), sorted(name for name in in_mpi if not name.endswith("_fortran")))
same("what gmg_mpi calls", sorted(called.values()), sorted(name for name in in_mpi if name.endswith("_fortran")))
same("public names of gmg_mpi", sorted(re.findall(r"\w+", " ".join(re.findall(r"public :: (.*)", text)))), sorted(called))
for name, there in called.items():
    same(f"what {name} calls", there, f"{name}_fortran")

print("\n".join(failures) or f"{len(names)} functions, {len(values)} enumerators, {len(types)} types")
sys.exit(bool(failures))
