#!/usr/bin/env python3
"""Makes C++ for the host's compiler from the CUDA sources: what no header can express. Usage: translate.py SRC TO
Copies SRC's headers and CUDA files to TO, a .cu as .cpp, and in them replaces
  kernel<<<...>>>(...)                by a call of emulator::launch_of
  extern __shared__ T name[]          by a pointer to the emulator's array
  asm("instruction ...")              by a call of emulator::ptx::instruction; an empty asm, by nothing
Also writes TO/../types.h, which names the CUDA files' structs after the scalar type. Their member functions are compiled once per
type, and the linker would merge two of the same name. Files that have not changed are not written."""
import pathlib
import re
import sys

LAUNCH = re.compile(r"(\w+)<<<(.*?)>>>\s*\(", re.S)
DYNAMIC = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")
ASM = re.compile(r"\basm\s*(?:volatile)?\s*\(")
STRING = re.compile(r'"(?:\\.|[^"\\])*"')
STRUCT = re.compile(r"^(?:template <[^>]*> *)?struct (?:alignas\(.*?\) )?(\w+)\b[^;]*\{", re.M)


def end_of(text, start):
    """Index of the parenthesis that closes the one at start."""
    depth = 0
    at = start
    while True:
        quoted = STRING.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1


def split(text, separator):
    """The parts of text between separators that are in no string and no parentheses."""
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(text):
        quoted = STRING.match(text, at)
        if quoted:
            at = quoted.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 and text[at] == separator:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return parts + [text[begin:]]


def operands(text):
    """Their expressions: what stands in the last parentheses of each."""
    for part in split(text, ","):
        close = part.rfind(")")
        if close < 0:
            continue
        depth, at = 1, close
        while depth:
            at -= 1
            depth += (part[at] == ")") - (part[at] == "(")
        yield part[at + 1:close].strip()


def instruction(template):
    first = STRING.search(template).group()[1:-1]
    first = re.sub(r"^\{(\\n|\\t)*\.reg \.pred p;", "", first).replace("\\n", " ").replace("\\t", " ").strip()
    return re.split(r"[ ;]", first)[0].rstrip(".").replace(".", "_").replace(":", "_")


def replace_asm(text):
    done = ""
    while (found := ASM.search(text)):
        end = end_of(text, found.end() - 1)
        parts = split(text[found.end():end], ":")
        name = instruction(parts[0])
        values = [value for part in parts[1:3] for value in operands(part)]
        done += text[:found.start()] + (f"emulator::ptx::{name}({', '.join(values)})" if name else "(void)0")
        text = text[end + 1:]
    return done + text


def translate(text):
    text = LAUNCH.sub(r"emulator::launch_of(\1, \2)(", text)
    text = DYNAMIC.sub(r"\1 *const \2 = (\1 *)emulator::dynamic_shared;", text)
    text = text.replace("static __shared__", "__shared__").replace("__noinline__", "__attribute__((noinline))")
    return replace_asm(text)


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    source, to = map(pathlib.Path, sys.argv[1:])
    structs = set()
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cuh", ".cu"):
            continue
        target = to / path.relative_to(source)
        text = path.read_text()
        if path.suffix != ".h":
            structs.update(STRUCT.findall(text))
        text = f'#line 1 "{path}"\n' + (translate(text) if "cuda" in path.parts else text)
        write(target.with_suffix(".cpp") if path.suffix == ".cu" else target, text)
    write(to.parent / "types.h", "#if defined GMG_REAL_F32\n" + "".join(
        f"#define {name} GMG_OF_TYPE({name})\n" for name in sorted(structs)) + """#if GMG_SCALAR_COMPLEX && GMG_REAL_F32
#define GMG_OF_TYPE(name) name##_of_complex_float
#elif GMG_SCALAR_COMPLEX
#define GMG_OF_TYPE(name) name##_of_complex_double
#elif GMG_REAL_F32
#define GMG_OF_TYPE(name) name##_of_float
#else
#define GMG_OF_TYPE(name) name##_of_double
#endif
#endif
""")


main()
