#!/usr/bin/env python3
"""Fills the tables of the study's pages in docs/ from study/results. Usage: page.py [--check] [--results FOLDER] [PAGE ...]
A page is a module of this folder. PAGE is its file. FILES are patterns of its results, the largest sizes first. TABLES has for each name a
function from the results of a file to a table, or None if the file has no such results. complete(), if there is one, merges files. A
table stands between the lines <!-- NAME --> and <!-- end -->, once for every file that has results for it; tables in ONCE only for the
first file of a device. --check writes nothing. It fails if a page differs from what the results give, or if a picture was drawn from
other results (picture.py stores their names in it)."""
import argparse
import hashlib
import importlib
import json
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "study/results"
PAGES = ["smoothers", "relaxation", "faults", "staleness", "order"]

sys.path.insert(0, str(ROOT / "bench"))
from study import number, table  # noqa: E402  of bench/study.py


def select(results, **wanted):
    return [r for r in results if all(r.get(key) == value for key, value in wanted.items())]


def measured(results, **wanted):
    return [r for r in select(results, **wanted) if "skipped" not in r]


def first(results, **wanted):
    return next(iter(select(results, **wanted)), None)


def values(results, key):
    return list(dict.fromkeys(r[key] for r in results))


def spread(record, name, digits=3):
    """Median (min - max); empty if it was not measured."""
    value = record.get(name)
    if not value:
        return ""
    middle = number(value["median"], digits)
    ends = number(value["min"], digits), number(value["max"], digits)
    return middle if ends == (middle, middle) else f"{middle} ({ends[0]} - {ends[1]})"


def origin(data):
    device = "no device" if data["device"] == "none" else f"device {data['device']}, CUDA driver {data.get('cuda_driver')}"
    waits = f" (OMP_WAIT_POLICY={data['wait_policy']})" if "wait_policy" in data else ""
    whole = "" if "seconds" in data else " Stopped before its end."
    also = "".join(f"; {rows}: `{other['command']}`, commit {other['commit']}, {other['date'][:10]}" for other, rows in data.get("also", []))
    return (f"`{data['command']}`: {data['machine']}, {data['cores']} cores, {data['threads']} threads{waits}, {device}; {data['compiler']}, "
            f"commit {data['commit']}, {data['date'][:10]}{also}.{whole}")


def load(path):
    """A file of results. Adds to each record whether there was a device, and whether waiting threads slept."""
    data = json.loads(path.read_text())
    for r in data["results"]:
        r["device"], r["passive"] = data["device"] != "none", data.get("wait_policy") == "passive"
    data["source"] = source(path)
    return data


def source(path):
    return f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"


def sources(data):
    return [data["source"], *(other["source"] for other, _ in data.get("also", []))]


def sources_of(picture):
    """The files from which a PNG was drawn, according to its text."""
    content, at, found = picture.read_bytes(), 8, []
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        word, _, text = content[at + 8:at + 8 + length].partition(b"\0")
        if (kind, word) == (b"tEXt", b"Source"):
            found = text.decode().split("; ")
        at += 12 + length
    return found


def check_pictures(folder, results):
    there = {source(path) for path in results.glob("*.json")}
    for picture in sorted(folder.glob("study-*.png")):
        drawn = sources_of(picture)
        if not drawn or not set(drawn) <= there:
            sys.exit(f"page.py: {picture.name} was drawn from {', '.join(drawn) or 'nobody knows what'}, which {results} has not: run study/plot_*.py")


def read(module, paths):
    """The files; a module may merge some into others."""
    return getattr(module, "complete", lambda files: files)([load(path) for path in paths])


def files_of(module, folder):
    return [path for pattern in module.FILES for path in sorted(folder.glob(pattern))]


def fill(module, folder, page):
    files = read(module, files_of(module, folder))
    for name, make in module.TABLES.items():
        made = [(data, lines) for data in files if (lines := make(data["results"]))]
        if name in getattr(module, "ONCE", ()):
            made = list({one[0]["device"]: one for one in reversed(made)}.values())[::-1]
        text = "\n\n".join(f"{origin(data)}\n\n{lines}" for data, lines in made) or "*Not measured yet.*"
        place = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.S)
        if len(place.findall(page)) != 1:
            sys.exit(f"page.py: {module.PAGE} has no place for <!-- {name} -->, or several")
        page = place.sub(lambda m, text=text: m[1] + text + m[2], page)
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS)
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"of {', '.join(PAGES)}; all unless named")
    given = parser.parse_args()
    for name in given.pages or PAGES:
        if name not in PAGES:
            sys.exit(f"page.py: '{name}' is none of {', '.join(PAGES)}")
        module = importlib.import_module(name)
        path = ROOT / "docs" / module.PAGE
        before = path.read_text()
        after = fill(module, given.results, before)
        if not given.check:
            path.write_text(after)
        elif after != before:
            sys.exit(f"page.py: docs/{module.PAGE} is not what {given.results} makes of it: run python3 study/page.py")
    if given.check:
        check_pictures(ROOT / "docs/pictures", given.results)


if __name__ == "__main__":
    main()
