#!/usr/bin/env python3
"""The shared library exports the functions of the public headers, all of them, and nothing else. No two objects of the static library
define the same weak symbol: kernel files are compiled once per real type, and of a template of C++ that both name alike the linker
keeps one, which then serves both types.
Usage: symbols.py NM LIBRARY ARCHIVE ROOT"""
import collections
import pathlib
import subprocess
import sys

import headers

nm, library, archive, root = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
listing = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
declared = set(headers.functions(root))
for words, names in (("exported but not declared", exported - declared), ("declared but not exported", declared - exported)):
    for name in sorted(names):
        print(f"{words}: {name}")
listing = subprocess.run([nm, "--defined-only", archive], capture_output=True, text=True, check=True).stdout
symbols = [line.split() for line in listing.splitlines() if len(line.split()) == 3]
twice = [name for name, times in collections.Counter(name for _, kind, name in symbols if kind in "WV").items() if times > 1]
for name in twice:
    print(f"in several objects: {name}")
print(f"{len(exported)} exported, {len(declared)} declared, {len(symbols)} in all")
sys.exit(exported != declared or not declared or not symbols or bool(twice))
