#!/usr/bin/env python3
"""Compares the graphs of the fixtures with the expected ones.

    golden.py MKTRACE DUMP_GRAPH FIXTURES SCRATCH [--refresh]

FIXTURES/x.trace is a trace as text (tests/build/README.md), x.expected the graph that dump_graph prints of it, with the
user's rules in x.rules if there is one (relative to FIXTURES, since messages name the file). --refresh
rewrites the expected files: review the difference before you commit it.
"""
import difflib
import pathlib
import subprocess
import sys


def graph_of(mktrace, dump_graph, source, scratch):
    trace = scratch / (source.stem + ".argus")
    subprocess.run([mktrace, source, trace], check=True)
    rules = [source.stem + ".rules"] if source.with_suffix(".rules").exists() else []
    dumped = subprocess.run([dump_graph, trace.resolve(), *rules], stdout=subprocess.PIPE, text=True, cwd=source.parent)
    if dumped.returncode:
        sys.exit(f"{source}: dump_graph ended {dumped.returncode}")
    return dumped.stdout


def main():
    refresh = "--refresh" in sys.argv
    mktrace, dump_graph, fixtures, scratch = [arg for arg in sys.argv[1:] if arg != "--refresh"]
    scratch = pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    sources = sorted(pathlib.Path(fixtures).glob("*.trace"))
    if not sources:
        sys.exit(f"{fixtures}: no fixtures")
    wrong = 0
    for source in sources:
        graph = graph_of(mktrace, dump_graph, source, scratch)
        expected = source.with_suffix(".expected")
        if refresh:
            expected.write_text(graph)
        elif not expected.exists() or expected.read_text() != graph:
            wrong += 1
            before = expected.read_text() if expected.exists() else ""
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), graph.splitlines(True),
                                                       str(expected), "this build"))
    print(f"{len(sources)} fixtures, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
