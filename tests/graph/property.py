#!/usr/bin/env python3
"""Two builders must make the same graph: the library's, and second/second_builder.py, of the same random traces.

    property.py MKTRACE RAW_GRAPH SCRATCH [--count N] [--seed FIRST] [--trace FILE…]

Case N is made from the number N alone, so a failing one can be repeated: --seed N --count 1. It is minimized and printed as
text for mktrace, with the differences. --trace compares on given traces (.argus, or text) instead.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "second"))

import finished  # noqa: E402
import random_trace  # noqa: E402
import second_builder  # noqa: E402


class Comparison:
    def __init__(self, mktrace, raw_graph, scratch):
        self.mktrace, self.raw_graph, self.scratch = mktrace, raw_graph, scratch

    def make(self, lines, name):
        text, trace = self.scratch / f"{name}.trace", self.scratch / f"{name}.argus"
        text.write_text("\n".join(lines) + "\n")
        subprocess.run([self.mktrace, text, trace], check=True)
        return trace

    def first(self, traces):
        """The library's graphs; the error message when it refused a trace or an invariant was broken."""
        run = subprocess.run([self.raw_graph, *traces], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        graphs = [finished.canonical(json.loads(line)) for line in run.stdout.splitlines()]
        return graphs, f"raw_graph ended {run.returncode}: {run.stderr}" if run.returncode else ""

    def differences(self, trace):
        graphs, complaint = self.first([trace])
        if complaint or not graphs:
            return [complaint]
        return list(differences(graphs[0], second_builder.build(trace, graphs[0]["pairs"])))


def differences(first, second):
    for part in ("threads", "vertices", "rules"):
        for name in sorted(first[part].keys() | second[part].keys()):
            a, b = first[part].get(name), second[part].get(name)
            if a == b:
                continue
            if isinstance(a, dict) and isinstance(b, dict):
                a, b = ({key: value for key, value in x.items() if y.get(key) != value} for x, y in ((a, b), (b, a)))
            yield f"{part} {name}: library {a}, second builder {b}"
    for part in ("edges", "uses"):
        for row in first[part]:
            if row not in second[part]:
                yield f"{part}: only the library has {row}"
        for row in second[part]:
            if row not in first[part]:
                yield f"{part}: only the second builder has {row}"


def shrink(comparison, tables, lines):
    """Leaves lines out, many at a time and then fewer, as long as the graphs still differ."""
    size = max(1, len(lines) // 2)
    while size:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + size :]
            if fewer and comparison.differences(comparison.make(tables + fewer, "shrunk")):
                lines = fewer
            else:
                at += size
        size //= 2
    return lines


def case(seed):
    return (random_trace.random_trace if seed % 4 else random_trace.with_left_out)(seed)


def report(comparison, seed):
    tables, lines = case(seed)
    lines = shrink(comparison, tables, lines)
    tables = [line for line in tables if not line.startswith("stack")] + [line for line in tables if line.startswith("stack")]
    print(f"case {seed}, made smaller:\n" + "\n".join(tables + lines))
    print("\n".join(comparison.differences(comparison.make(tables + lines, "shrunk"))))


def random_cases(comparison, first, count, batch=50):
    applied = {}
    for begin in range(first, first + count, batch):
        seeds = range(begin, min(begin + batch, first + count))
        traces = [comparison.make(sum(case(seed), []), f"case{seed - begin}") for seed in seeds]
        graphs, _ = comparison.first(traces)
        for i, seed in enumerate(seeds):
            right = len(graphs) == len(seeds) and not list(differences(graphs[i], second_builder.build(traces[i], graphs[i]["pairs"])))
            if not right and comparison.differences(traces[i]):
                report(comparison, seed)
                return 1
            for rule, times in graphs[i]["rules"].items() if right else ():
                applied[rule] = applied.get(rule, 0) + times
    print(f"{count} random traces: both graphs are the same")
    for rule, times in sorted(applied.items()):
        print(f"  {rule} applied {times} times")
    return 0


def own_traces(comparison, paths):
    wrong = 0
    for path in paths:
        trace = path
        if path.suffix != ".argus":
            trace = comparison.make(path.read_text().splitlines(), "own")
        found = comparison.differences(trace)
        wrong += bool(found)
        print(f"{path}: {len(found)} differences")
        print("\n".join(found[:20]))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mktrace")
    parser.add_argument("raw_graph")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trace", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(options.mktrace, options.raw_graph, options.scratch)
    if options.trace:
        return own_traces(comparison, options.trace)
    return random_cases(comparison, options.seed, options.count)


sys.exit(main())
