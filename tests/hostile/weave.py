#!/usr/bin/env python3
"""Hostile traces woven from good ones: each has right checksums and a structure that a recorder never writes.

weave.py MKTRACE FOLDER [--files N] [--seed N] [--bytes N] [--base TRACE…]

A file begins with one of the fixtures of tests/graph, or with two of them; the naive decoder of tests/trace reads them. Then one to
three twists change what they say: the same IDs twice, time that goes backward, threads that wake or create themselves, counts that add
up to more than 64 bits, names of 64 KB, headers of another system. woven.py writes what is left. The name of a file says what was done
to it; the same seed makes the same files.
"""
import argparse
import copy
import pathlib
import random
import subprocess
import tempfile

from weave_twists import TWISTS
from woven import MASK, Woven, decode, written

HERE = pathlib.Path(__file__).resolve().parent


def bases(mktrace):
    """The fixtures that mktrace can make, and what the decoder reads of each."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.argus"
        for source in sorted((HERE.parent / "graph/fixtures").glob("*.trace")):
            if subprocess.run([mktrace, source, path], capture_output=True, check=False).returncode == 0:
                found[source.stem] = Woven(decode.Trace(path.read_bytes()))
    return found


def merged(one, two):
    """Both traces at once, with all that IDs of one mean in the other."""
    for name in ("records", "threads", "images", "stacks", "probes", "flags", "late", "notes", "counters"):
        getattr(one, name).extend(getattr(two, name))
    one.symbols = sorted(one.symbols + two.symbols)
    one.cpus = max(one.cpus, two.cpus)
    one.records.sort()
    return one


def weave(known, own, number, dice, most_bytes):
    """The name and the bytes of file `number`. Every second one begins with one of the traces in `own`, if there are any."""
    names = sorted(known)
    first = own[number // 2 % len(own)] if own and number % 2 else names[number % len(names)]
    woven, title = copy.deepcopy(known[first]), first
    if dice.random() < 0.4:
        second = dice.choice(names)
        woven, title = merged(woven, copy.deepcopy(known[second])), f"{first}+{second}"
    rows = list(TWISTS)
    chosen = [rows[number % len(rows)], *dice.sample(rows, dice.randrange(3))]
    for row in dict.fromkeys(chosen):
        TWISTS[row](woven, dice)
        title += f".{row}"
    for record in woven.records:
        record[0] &= MASK
        record[3] %= max(1, woven.cpus)
    return title, written(woven, most_bytes)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mktrace")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--files", type=int, default=len(TWISTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=1000000)
    parser.add_argument("--base", type=pathlib.Path, nargs="*", default=[], help="begin with these traces too")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    known = bases(arguments.mktrace)
    known.update((path.stem, Woven(decode.Trace(path.read_bytes()))) for path in arguments.base)
    own = [path.stem for path in arguments.base]
    for number in range(arguments.files):
        title, data = weave(known, own, number, random.Random(arguments.seed * 100003 + number), arguments.bytes)
        (arguments.folder / f"{number:03}.{title[:150]}.argus").write_bytes(data)


if __name__ == "__main__":
    main()
