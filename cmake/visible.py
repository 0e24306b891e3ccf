#!/usr/bin/env python3
"""Copies a static library, and makes those hidden symbols of its objects visible that begin with gmg_ or cuda. A shared
library of them lets tests call functions that gmg does not export, in the same machine code, without compiling again.
Usage: visible.py LIBRARY.a COPY.a"""
import pathlib
import struct
import sys

HEADER, SYMBOL, SYMBOL_TABLE = 60, 24, 2
LOCAL, HIDDEN, VISIBILITY = 0, 2, 3
PREFIXES = b"gmg_", b"cuda"  # variables of other headers, such as NVTX's, must stay hidden


def members(archive):
    """Start and size of every object file in the archive."""
    at = len(b"!<arch>\n")
    while at < len(archive):
        size = int(archive[at + 48:at + 58])
        yield at + HEADER, size
        at += HEADER + size + size % 2


def show(archive, start):
    """Makes the hidden symbols of the object at this offset visible. Returns their number."""
    shown = 0
    sections, = struct.unpack_from("<Q", archive, start + 0x28)
    entry, count = struct.unpack_from("<HH", archive, start + 0x3A)
    for header in range(start + sections, start + sections + count * entry, entry):
        kind, = struct.unpack_from("<I", archive, header + 4)
        offset, size, link = struct.unpack_from("<QQI", archive, header + 0x18)
        if kind != SYMBOL_TABLE:
            continue
        names = start + struct.unpack_from("<Q", archive, start + sections + link * entry + 0x18)[0]
        for symbol in range(start + offset, start + offset + size, SYMBOL):
            name = names + struct.unpack_from("<I", archive, symbol)[0]
            ours = archive[name:name + 4] in PREFIXES
            if ours and archive[symbol + 4] >> 4 != LOCAL and archive[symbol + 5] & VISIBILITY == HIDDEN:
                archive[symbol + 5] &= ~VISIBILITY
                shown += 1
    return shown


def main():
    archive = bytearray(pathlib.Path(sys.argv[1]).read_bytes())
    objects = [start for start, _ in members(archive) if archive[start:start + 6] == b"\x7fELF\x02\x01"]
    if sum(show(archive, start) for start in objects) == 0:
        sys.exit(f"{sys.argv[1]}: no hidden symbol in {len(objects)} objects of 64 bits")
    pathlib.Path(sys.argv[2]).write_bytes(archive)


if __name__ == "__main__":
    main()
