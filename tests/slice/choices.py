#!/usr/bin/env python3
"""The path of a slice without answers to its questions, on fixtures of the graph.

    choices.py MKTRACE ARGUS FIXTURES SCRATCH
"""
import pathlib
import subprocess
import sys

# fixture, vertex, what --auto has to print, what it must not
CASES = [
    # a weak edge whose two ends share a rare function is followed rather than the unlock that ended the wait
    ("boost", "v1", ["v2 sender", "(guessed: both have save_page_of_album in their stacks, and 2 vertices in all)"],
     ["unlocker [12]:"]),
    # of two weak edges, the one behind which the path is certain
    ("beam", "v1", ["v3 sender", "(guessed: its own causes are surer than those of the others)", "v6 loop"],
     ["unlocker [12]:"]),
    # a reply of a server that batches leads to its own request, without a question
    ("split_peers", "v1", ["v7 server", "dispatch, strong (dispatch.request)", "v5 server", "v0 client1"],
     ["client2", "Choices"]),
    ("split_peers", "v3", ["v8 server", "v6 server", "v2 client2"], ["client1", "Choices"]),
    # data that ksoftirqd delivered comes from its sender
    ("softirq_ksoftirqd", "v2", ["message, strong (message)", "v0 client"], ["ksoftirqd", "Choices"]),
    # from one item of a batch to its message, not to the previous item
    ("split_batching", "v3", ["message, strong (message)", "v0 app"], ["split.batching"]),
]


def slice_of(mktrace, argus, source, vertex, scratch):
    trace = scratch / (source.stem + ".argus")
    subprocess.run([mktrace, source, trace], check=True)
    run = subprocess.run([argus, "slice", trace, vertex, "--auto", "--no-cache"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return run.stdout


def main():
    mktrace, argus, fixtures, scratch = sys.argv[1:]
    scratch = pathlib.Path(scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for fixture, vertex, wanted, unwanted in CASES:
        text = slice_of(mktrace, argus, pathlib.Path(fixtures) / (fixture + ".trace"), vertex, scratch)
        missing = [words for words in wanted if words not in text]
        found = [words for words in unwanted if words in text]
        if missing or found:
            wrong += 1
            print(f"{fixture} {vertex}: missing {missing}, unwanted {found}:\n{text}")
    print(f"{len(CASES)} slices, {wrong} wrong")
    sys.exit(1 if wrong else 0)


main()
