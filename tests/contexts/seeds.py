"""Runs a sequence of random traces, for the tests that compare argus contexts with a reference implementation."""
import pathlib
import sys


def run_seeds(check, usual_count, kind):
    """MKTRACE ARGUS FOLDER [FIRST [COUNT]] are the program's arguments; `check(mktrace, argus, folder, seed)` returns the errors as
    texts. Returns the exit code."""
    mktrace, argus, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    first, count = int((sys.argv[4:5] or [1])[0]), int((sys.argv[5:6] or [usual_count])[0])
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for seed in range(first, first + count):
        found = check(mktrace, argus, folder, seed)
        for text in found:
            print(f"seed {seed}: {text}", flush=True)
        failed += bool(found)
    print(f"{count} {kind} traces, {failed} failed")
    return 1 if failed or not count else 0
