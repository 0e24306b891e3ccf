"""What the public headers declare, for the tests that compare it with something else."""
import pathlib
import re


def code(path: pathlib.Path) -> str:
    """The text of a header without comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def functions(root: pathlib.Path, folder: str = "include") -> dict:
    """Name -> prototype, white space made single, of every exported function."""
    found = {}
    for path in sorted((root / folder).glob("*.h")):
        text = re.sub(r"^\s*#.*(\\\n.*)*", "", code(path), flags=re.M)
        for prototype in re.findall(r"\bGMG_API\b([^;]*);", text):
            name = re.search(r"\b(gmg_\w+)\s*\(", prototype).group(1)
            found[name] = " ".join(prototype.split())
    return found


def structs(root: pathlib.Path) -> dict:
    """Name -> names of the members in order, for every struct of gmg.h."""
    found = {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", code(root / "include/gmg.h"), flags=re.S):
        members = [re.sub(r"\[.*", "", m).split()[-1].lstrip("*") for m in body.split(";") if m.strip()]
        found[name] = members
    return found


def enumerators(root: pathlib.Path) -> dict:
    """Name -> value of every enumerator of gmg.h."""
    text, found = code(root / "include/gmg.h"), {}
    for body in re.findall(r"typedef enum \{(.*?)\}", text, flags=re.S):
        found.update({name.strip(): value for value, name in enumerate(body.split(","))})
    found.update({name: value for value, name in enumerate(re.findall(r'X\((GMG_\w+), "', text))})
    found.update({name: int(bit) for name, bit in re.findall(r"X\((GMG_WARN_\w+), (\d+)", text)})
    return found
