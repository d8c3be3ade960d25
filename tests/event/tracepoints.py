#!/usr/bin/env python3
"""The table of tracepoints is in the man page and in tracepoints.def; they must say the same.

    tracepoints.py docs/man/argus-trace.5.md libargus/event/tracepoints.def libargus/include/argus/record.h
"""
import re
import sys

ROW = re.compile(r"^    ([0-9a-f]{8})( SE)? +(\w+) ", re.M)
DEF = re.compile(r"^TRACEPOINT\((\w+), (\w+)(?:\((\d+)\))?, \"(\w+)\", ([01]),", re.M)


def from_page(path):
    text = open(path).read().split("# TRACEPOINTS")[1].split("\n# ")[0]
    return [(name, int(debugid, 16), bool(paired)) for debugid, paired, name in ROW.findall(text + " ")]


def ids_of(path):
    """The values of the ARGUS_ID_ macros."""
    text = open(path).read()
    ids = {name: int(value, 16) for name, value in re.findall(r"#define (ARGUS_ID_\w+) +(0x[0-9a-f]+)u", text)}
    for name, klass, subclass, code in re.findall(
            r"#define (ARGUS_ID_\w+)(?:\(nr\))? +ARGUS_DEBUGID\((\w+), (\w+), (\w+)\)", text):
        value = 0x60 if klass == "ARGUS_CLASS" else int(klass, 0)
        ids[name] = value << 24 | int(subclass, 0) << 16 | (0 if code == "nr" else int(code, 0)) << 2
    return ids


def from_def(path, ids):
    rows = DEF.findall(open(path).read())
    return [(name, ids[macro], paired == "1") for _, macro, _, name, paired in rows]


def main():
    page = from_page(sys.argv[1])
    table = from_def(sys.argv[2], ids_of(sys.argv[3]))
    if len(page) < 10:
        sys.exit(f"{sys.argv[1]}: only {len(page)} tracepoints found")
    for ours, theirs in zip(table + [None] * len(page), page + [None] * len(table)):
        if ours != theirs:
            sys.exit(f"tracepoints.def says {ours}, the man page says {theirs}")
    print(f"{len(page)} tracepoints agree")


main()
