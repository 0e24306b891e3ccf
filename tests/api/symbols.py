#!/usr/bin/env python3
"""The shared library exports the functions of the public headers, all of them, and nothing else.
Usage: symbols.py NM LIBRARY ROOT"""
import pathlib
import subprocess
import sys

import headers

nm, library, root = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
listing = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
declared = set(headers.functions(root))
for words, names in (("exported but not declared", exported - declared), ("declared but not exported", declared - exported)):
    for name in sorted(names):
        print(f"{words}: {name}")
print(f"{len(exported)} exported, {len(declared)} declared")
sys.exit(exported != declared or not declared)
