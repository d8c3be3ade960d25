#!/usr/bin/env python3
"""Latencies inferred from many stacks: seconds, stacks a second, and memory, which grows with distinct contexts and not with stacks.

    bench_contexts.py [--bin DIR] [MILLIONS ...]      1 3 10 if none is given

The traces are synthetic (see contexts_bench.c), three records a stack, and read from the page cache. `memory` is what the
contexts took beyond the graph, `graph` what building the graph took before, which other commands share.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

FEW, MANY = 4000, 100000
HEAD = f"{'stacks':>10} {'distinct':>9} {'nodes':>9} {'graph':>8} {'contexts':>9} {'stacks/s':>10} {'memory':>9}"


def measure(program, folder, stacks, distinct):
    trace = folder / "stacks.argus"
    subprocess.run([program, "make", trace, str(stacks), str(distinct)], check=True)
    figures = json.loads(subprocess.run([program, "run", trace], check=True, stdout=subprocess.PIPE).stdout)
    trace.unlink()
    print(f"{figures['stacks']:>10} {distinct:>9} {figures['nodes']:>9} {figures['graph_seconds']:>6.2f} s {figures['seconds']:>7.2f} s"
          f" {figures['stacks'] / figures['seconds']:>10.0f} {figures['more_kib'] / 1024:>6.1f} MB", flush=True)
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("millions", nargs="*", type=float, default=[1, 3, 10])
    options = parser.parse_args()
    program = pathlib.Path(options.bin) / "contexts_bench"
    with tempfile.TemporaryDirectory() as folder:
        print(HEAD)
        for distinct in (FEW, MANY):
            rows = [measure(program, pathlib.Path(folder), int(m * 1e6), distinct) for m in options.millions]
            first, last = rows[0], rows[-1]
            print(f"{first['stacks']} to {last['stacks']} stacks of {distinct} kinds: memory {(last['more_kib'] - first['more_kib']) / 1024:+.1f} MB,"
                  f" {(last['seconds'] - first['seconds']) * 1e9 / max(1, last['stacks'] - first['stacks']):.0f} ns a stack")


if __name__ == "__main__":
    main()
