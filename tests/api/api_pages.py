#!/usr/bin/env python3
"""The pages of docs/api. Usage:
  api_pages.py ROOT                             every page is in the index, every exported function on a page, with its
                                                     prototype as in the header, and every page of C calls has an example
  api_pages.py ROOT PAGE COMPILER LIBRARY [FLAG...]   every ```c block of the page compiles, runs and exits with 0"""
import pathlib
import re
import subprocess
import sys
import tempfile

import headers

WARNINGS = ["-std=c11", "-O1", "-Wall", "-Wextra", "-pedantic", "-Werror"]


def blocks(page: pathlib.Path) -> list:
    return re.findall(r"^```c\n(.*?)^```$", page.read_text(), flags=re.S | re.M)


def complete(root: pathlib.Path) -> list:
    folder = root / "docs/api"
    pages = {p.name: " ".join(p.read_text().split()) for p in folder.glob("*.md") if p.name != "README.md"}
    index = (folder / "README.md").read_text()
    wrong = [f"{name} is not in the index" for name in pages if f"({name})" not in index]
    for name, prototype in headers.functions(root).items():
        where = [page for page, text in pages.items() if f" {prototype};" in text]
        if not where:
            wrong.append(f"{name}: no page has its prototype, {prototype};")
        elif not any(f"{name}(" in block for page in where for block in blocks(folder / page)):
            wrong.append(f"{name}: {where[0]} has no example that calls it")
    return wrong


def run(page: pathlib.Path, root: pathlib.Path, compiler: str, library: str, flags: list) -> list:
    wrong, examples = [], blocks(page)
    with tempfile.TemporaryDirectory() as scratch:
        for number, text in enumerate(examples, 1):
            source, program = pathlib.Path(scratch) / f"example{number}.c", pathlib.Path(scratch) / f"example{number}"
            source.write_text(text)
            command = [compiler, *WARNINGS, f"-I{root}/include", source, "-o", program, library, *flags, "-lm"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                done = subprocess.run([program], capture_output=True, text=True, timeout=120)
            print(f"{page.name}, example {number}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            if done.returncode != 0:
                wrong.append(f"{page.name}: example {number} failed")
    return wrong if examples else [f"{page.name}: no example"]


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        page, compiler, library, *flags = sys.argv[2:]
        wrong = run(root / "docs/api" / page, root, compiler, library, flags)
    else:
        wrong = complete(root)
    print("\n".join(wrong) if wrong else "pages: all as expected")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
