"""How fast argus fleet is: hangs a second when adding, and the time of its queries beside DuckDB's (PyPI: duckdb) on the same rows.

    bench_fleet.py BUILD_FOLDER [--traces N] [--rows N]
"""
import argparse
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in "tests/plugin", "examples/fleet":
    sys.path.insert(0, str(ROOT / folder))
from fleet_rows import multiply  # noqa: E402
from harness import Setup, freezes  # noqa: E402

VIEWS = {"top_signatures": "kinds", "culprit_packages": "packages", "time_by_reason": "reasons", "regressions": "regressions"}


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def best(work, rounds=5):
    return min(seconds(work) for _ in range(rounds))


def bench_adding(setup, traces):
    folder, database = setup.folder / "traces", setup.folder / "fleet.db"
    folder.mkdir()
    for number in range(traces):
        text = freezes(2500).replace("editor0", f"editor{number % 10}")
        setup.trace(f"traces/{number}", f"wall {1795446804 + 60 * number}000000000\n{text}")
    took = seconds(lambda: setup.run("fleet", "add", "--database", database, folder, code=0))
    again = seconds(lambda: setup.run("fleet", "add", "--database", database, folder, code=0))
    print(f"adding {traces} small traces: {traces / took:.0f} hangs/s; the same again: {traces / again:.0f} files/s")
    return database


def bench_queries(setup, database, rows):
    multiply(database, rows)
    exported = setup.folder / "exported"
    took = seconds(lambda: setup.run("fleet", "export", "--database", database, exported, code=0))
    print(f"exporting {rows} hangs: {rows / took:.0f} hangs/s")
    try:
        import duckdb
        import with_duckdb
    except ImportError:
        duckdb = None
        print("duckdb is not installed: no peer")
    peer = with_duckdb.connect(str(exported)) if duckdb else None
    print(f"{'query':<18} {'argus fleet':>12} {'DuckDB ' + duckdb.__version__ if duckdb else '':>14}")
    for name, view in VIEWS.items():
        own = best(lambda: setup.run("fleet", "--database", database, "--by", view, "--json", code=0))
        theirs = best(lambda: peer.execute(with_duckdb.QUERIES[name]).fetchall()) if peer else None
        print(f"{name:<18} {own * 1000:9.0f} ms {f'{theirs * 1000:11.0f} ms' if theirs else ''}")
    if peer:
        print("DuckDB's times are without starting it and reading the files; argus fleet's are of whole commands.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--traces", type=int, default=200)
    parser.add_argument("--rows", type=int, default=10000)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cpus")
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(options.build, ROOT, folder)
        bench_queries(setup, bench_adding(setup, options.traces), options.rows)


main()
