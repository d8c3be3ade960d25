#!/usr/bin/env python3
"""Checks that the C reader and decode.py agree on random, ring-wrapped and damaged traces.

agree.py RANDOM_TRACE DUMP_RECORDS DIRECTORY
"""
import os
import random
import subprocess
import sys

from decode import Missing, decode, sodium_library, zstd_library

SEEDS = range(1, 7)
RINGS = (65536, 65544, 100000)
DAMAGES = 8


def dump(program, path):
    result = subprocess.run([program, path], stdout=subprocess.PIPE, check=True)
    return result.stdout.decode().splitlines()


def compare(program, path, what):
    """The number of lines; exits if the outputs differ."""
    with open(path, "rb") as trace_file:
        expected = decode(trace_file.read())
    got = dump(program, path)
    if expected[0].startswith("error") and got[0].startswith("error"):
        return 1
    for number, (ours, theirs) in enumerate(zip(got, expected), 1):
        if ours != theirs:
            sys.exit(f"{what}: line {number}\n  reader:  {ours}\n  decoder: {theirs}\n  kept: {path}")
    if len(got) != len(expected):
        sys.exit(f"{what}: {len(got)} lines from the reader, {len(expected)} from the decoder\n  kept: {path}")
    return len(got)


def flip(data, rng):
    for _ in range(rng.randrange(1, 6)):
        data[rng.randrange(4096, len(data))] ^= 1 << rng.randrange(8)


def cut(data, rng):
    del data[rng.randrange(4096, len(data)) :]


def overwrite(data, rng):
    begin = rng.randrange(4096, len(data))
    length = min(rng.randrange(1, 5000), len(data) - begin)
    data[begin : begin + length] = bytes(rng.randrange(256) for _ in range(length))


def shift(data, rng):
    begin = rng.randrange(4096, len(data))
    del data[begin : begin + rng.randrange(1, 100)]


def damage_and_compare(program, path, what, seed):
    with open(path, "rb") as trace_file:
        whole = trace_file.read()
    rng = random.Random(seed)
    broken = path + ".broken"
    for turn in range(DAMAGES):
        data = bytearray(whole)
        way = rng.choice((flip, cut, overwrite, shift))
        way(data, rng)
        with open(broken, "wb") as trace_file:
            trace_file.write(data)
        compare(program, broken, f"{what}, {way.__name__} {turn}")


def main():
    make, program, directory = sys.argv[1:4]
    try:
        zstd_library()
        sodium_library()
    except Missing as missing:
        print(f"skipped: the second decoder lacks a library: {missing}")
        sys.exit(77)
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "random.argus")
    compared = 0
    for seed in SEEDS:
        for ring in (0, *RINGS):
            subprocess.run([make, path, str(seed)] + ([str(ring)] if ring else []), check=True)
            what = f"seed {seed}, ring {ring}"
            lines = compare(program, path, what)
            if lines < 200:
                sys.exit(f"{what}: only {lines} lines: the generator is broken")
            compared += lines
            damage_and_compare(program, path, what, seed)
    print(f"{compared} lines agree")


if __name__ == "__main__":
    main()
