#!/usr/bin/env python3
"""Go's table of functions in each of its layouts: go_tables.py PRINT_INLINES FOLDER

The files are written here, after the sources of Go's runtime (symtab.go, funcdata.h), so compilers of old versions are not needed.
Each has main.outer(), in whose middle main.inner() is inlined, and main.work().
"""
import pathlib
import struct
import subprocess
import sys

TEXT, TABLE, TREES, MODULE, INFO = 0x401000, 0x402000, 0x403000, 0x404000, 0x405000
OUTER, WORK, END = TEXT, TEXT + 0x20, TEXT + 0x40
CALL = 0x10  # an instruction of the call that main.inner() replaced, in main.outer()
WITH = ["main.outer:10", "main.inner:6 main.outer:11", "main.outer:11"]
WITHOUT = ["main.outer:10", "main.outer:6", "main.outer:11"]

# name: magic, index of the inlined functions' list, whether .go.buildinfo is there, what is printed of main.outer
LAYOUTS = {
    "go1.12": (0xfffffffb, 2, False, WITHOUT),
    "go1.15": (0xfffffffb, 4, True, WITH),
    "go1.16": (0xfffffffa, 3, True, WITH),
    "go1.18": (0xfffffff0, 3, True, WITH),
    "go1.20": (0xfffffff1, 3, True, WITH),
}


def varint(number):
    out = b""
    while number >= 0x80:
        out, number = out + bytes([number & 0x7f | 0x80]), number >> 7
    return out + bytes([number])


def values(*ranges):
    """A list of values: (value, bytes of code)."""
    out, before = b"", -1
    for value, size in ranges:
        difference = value - before
        out, before = out + varint((difference << 1 ^ difference >> 31) & 0xffffffff) + varint(size), value
    return out + b"\0"


class Pool:
    """Bytes with offsets; the offset 0 means that there is nothing."""

    def __init__(self, at=0):
        self.at, self.bytes = at, b"\0"

    def add(self, data):
        self.bytes += data
        return self.at + len(self.bytes) - len(data)


LISTS = {"go1.12": [1], "go1.15": [2], "go1.16": [2], "go1.18": [2], "go1.20": [2]}  # the index of the values of inlined functions


def description(name, pool, names, entry, inlined):
    """A function's: `inlined` has the values of main.outer, and its tree."""
    magic, index, _, _ = LAYOUTS[name]
    old = magic in (0xfffffffb, 0xfffffffa)
    files, lines, tree = inlined
    lists = [0] * LISTS[name][0] + [tree]
    fixed = struct.pack("<Q" if old else "<I", entry if old else entry - TEXT)
    fixed += struct.pack("<7I", names, 0, 0, 0, files, lines, len(lists))
    if magic != 0xfffffffb:
        fixed += struct.pack("<I", 0)  # the unit
    if magic == 0xfffffff1:
        fixed += struct.pack("<I", 1)  # the line at which it begins
    data = [TREES if at == index and tree else 0 for at in range(6)] if old else \
        [0 if at == index and tree else 0xffffffff for at in range(6)]
    fixed += struct.pack("<4B", 0, 0, 0, len(data)) + struct.pack(f"<{len(lists)}I", *lists)
    if old:
        fixed += b"\0" * (-len(fixed) % 8)
    return fixed + struct.pack(f"<{len(data)}{'Q' if old else 'I'}", *data)


def table(name):
    """The table, and the list of inlined functions."""
    magic, _, _, _ = LAYOUTS[name]
    whole = magic == 0xfffffffb  # all offsets count from the beginning of the table
    body = Pool(0x200 if whole else 0)
    names = {text: body.add(text.encode() + b"\0") for text in ("main.outer", "main.inner", "main.work", "/src/main.go")}
    outer = (body.add(values((1 if whole else 0, 0x20))), body.add(values((10, 8), (6, 8), (11, 0x10))),
             body.add(values((-1, 8), (0, 8), (-1, 0x10))))
    work = (body.add(values((1 if whole else 0, 0x20))), body.add(values((20, 0x20))), 0)
    tree = struct.pack("<BxxxIII", 0, names["main.inner"], CALL, 5) if magic == 0xfffffff1 else \
        struct.pack("<hBxIIII", -1, 0, 0, 11, names["main.inner"], CALL)
    head = struct.pack("<IBBBBQ", magic, 0, 0, 1, 8, 2)
    rows = 3 * 16 - 8 if magic in (0xfffffffb, 0xfffffffa) else 3 * 8 - 4
    form = "<QQQQQ" if magic in (0xfffffffb, 0xfffffffa) else "<IIIII"
    base = 0 if magic in (0xfffffffb, 0xfffffffa) else TEXT
    functions = [(OUTER, "main.outer", outer), (WORK, "main.work", work)]
    if whole:
        first = 16 + rows + 8
        one = description(name, body, names["main.outer"], OUTER, outer)
        other = description(name, body, names["main.work"], WORK, work)
        one += b"\0" * (-len(one) % 8)
        files = first + len(one) + len(other)
        out = head + struct.pack(form, OUTER, first, WORK, first + len(one), END) + struct.pack("<II", files, 0)
        out += one + other + struct.pack("<II", 2, names["/src/main.go"])
        assert len(out) <= 0x200
        return out.ljust(0x200, b"\0") + body.bytes, tree
    offsets = 5 * 8 + (8 if magic == 0xfffffffa else 16)
    at = 16 + offsets
    units = at + len(body.bytes)
    units += -units % 8
    text = (head + b"\0" * (offsets - 5 * 8)).ljust(16 + offsets - 40, b"\0")
    functions_at = units + 8
    # names, the files' names and values are in one pool; the list of units has the offset of the only file
    text += struct.pack("<5Q", at, units, at, at, functions_at)
    assert len(text) == at
    out = (text + body.bytes).ljust(units, b"\0") + struct.pack("<Q", names["/src/main.go"])
    start = rows + -rows % 8
    parts, places = b"", []
    for address, function, lists in functions:
        parts += b"\0" * (-len(parts) % 8)
        places.append(start + len(parts))
        parts += description(name, body, names[function], address, lists)
    out += struct.pack(form, OUTER - base, places[0], WORK - base, places[1], END - base).ljust(start, b"\0") + parts
    return out, tree


def module(name):
    """runtime.firstmoduledata."""
    words = [TABLE] + [0] * 63
    words[22] = TEXT
    words[40 if name == "go1.20" else 38] = TREES
    return struct.pack("<64Q", *words)


def write(path, name):
    """A program with one segment for each section, at the same places in the file."""
    _, _, has_info, _ = LAYOUTS[name]
    code, tree = table(name)
    sections = [(".text", TEXT, b"\x90" * (END - TEXT), 6), (".gopclntab", TABLE, code, 2), (".rodata", TREES, tree, 2),
                (".noptrdata", MODULE, module(name), 3)]
    if has_info:
        sections.append((".go.buildinfo", INFO, b"\xff Go buildinf:".ljust(32, b"\0"), 3))
    strings = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in sections) + b".shstrtab\0"
    file = bytearray(0x8000)
    heads, parts, at = [bytes(64)], [], 1
    for text, address, data, flags in sections:
        offset = address - 0x400000
        file[offset:offset + len(data)] = data
        writes, runs = flags & 1, flags & 4
        heads.append(struct.pack("<IIQQQQIIQQ", at, 1, flags, address, offset, len(data), 0, 0, 16, 0))
        parts.append(struct.pack("<IIQQQQQQ", 1, 4 | (2 if writes else 0) | (1 if runs else 0), offset, address, address, len(data),
                                 len(data), 0x1000))
        at += len(text) + 1
    file[0x7000:0x7000 + len(strings)] = strings
    heads.append(struct.pack("<IIQQQQIIQQ", at, 3, 0, 0, 0x7000, len(strings), 0, 0, 1, 0))
    whole = b"".join(heads)
    file[0x7400:0x7400 + len(whole)] = whole
    head = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, TEXT, 64, 0x7400, 0, 64, 56, len(parts), 64,
                                                         len(heads), len(heads) - 1)
    file[0:len(head) + 56 * len(parts)] = head + b"".join(parts)
    path.write_bytes(file)


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (_, _, _, expected) in LAYOUTS.items():
        write(folder / name, name)
        for symbol, lines in (("main.outer", expected), ("main.work", ["main.work:20"])):
            out = subprocess.run([tool, folder / name, symbol], check=True, capture_output=True, text=True, timeout=60).stdout
            if out.splitlines() != lines:
                sys.exit(f"{name}: {out!r}, not {lines}")
        print(name, "good")


main()
