#!/usr/bin/env python3
"""The overhead of recording all day: ordinary tasks without a recorder, with `argus record` as it is, and with `perf record` of
four tracepoints, as tables 4 and 5 of the Argus paper.

Rounds are interleaved. Printed are medians over the rounds; a ratio is taken within a round; "spread" is the largest ratio less
the smallest. `real` is the time that a user waits. It is meaningless while other programs use the machine; user and system time
are not.

Needs root, and what `scripts/deps bench` installs. A load whose programs are missing is left out with a message.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "recorder"), str(HERE.parents[1] / "tests/e2e")]
from bench_recorder import enter_private_mounts  # noqa: E402
from bench_recorders import Recorders, Refused, adopt_orphans  # noqa: E402
import machine  # noqa: E402

# To add a load: a row here, a function in load.sh.
LOADS = {
    "compile": "gcc -O2 over two folders of this repository, two at a time",
    "copy": "/usr/share/doc copied three times",
    "sqlite": "SQLite: 20,000 rows in 400 transactions, an index, a query",
    "convert": "groff: manual pages to PostScript",
    "web": "httpd, 40,000 requests over 8 connections kept alive (ab)",
    "pgbench": "PostgreSQL: a new database, 2,000 transactions of 4 clients",
}
RECORDERS = ("nothing", "argus-default", "perf")
CLOCKS = ("wall_ns", "user_ns", "system_ns")
# Goals: name, most that is allowed, loads, function of the ratios by clock.
GOALS = [
    ("real", 1.02, [load for load in LOADS if load != "web"], lambda ratio: ratio["wall_ns"]),
    ("system", 1.10, [load for load in LOADS if load != "web"], lambda ratio: ratio["system_ns"]),
    ("cpu a request", 1.30, ["web"], lambda ratio: ratio["cpu_ns"]),
]


def measure(recorders, loads, rounds):
    runs, refused = {}, {}
    for number in range(rounds):
        names = RECORDERS[number % 3:] + RECORDERS[:number % 3]
        for load in loads:
            for name in names:
                if load in refused:
                    continue
                try:
                    result = recorders.by_name[name]((str(HERE / "load.sh"), load))
                    runs.setdefault((load, name), {})[number] = result
                except Refused as reason:
                    refused[load] = str(reason)
    return runs, refused


def ratios(runs, load, name, clock):
    alone = runs[load, "nothing"]
    return [result[clock] / alone[number][clock] for number, result in runs[load, name].items()
            if number in alone and alone[number][clock]]


def row(runs, load, name):
    cells = {"load": load, "recorder": name, "rounds": len(runs[load, name])}
    for clock in (*CLOCKS, "cpu_ns"):
        found = ratios(runs, load, name, clock)
        cells[clock] = statistics.median(result[clock] for result in runs[load, name].values()) / 1e9
        cells[f"{clock}_ratio"] = statistics.median(found) if found else None
        cells[f"{clock}_spread"] = max(found) - min(found) if found else None
    return cells


def show(rows, refused):
    print(f"{'load':<9} {'recorder':<14} {'real s':>8} {'ratio':>6} {'spread':>6} {'user s':>8} {'ratio':>6} {'spread':>6}"
          f" {'system s':>8} {'ratio':>6} {'spread':>6}")
    for cells in rows:
        line = f"{cells['load']:<9} {cells['recorder']:<14}"
        for clock in CLOCKS:
            ratio, spread = cells[f"{clock}_ratio"], cells[f"{clock}_spread"]
            line += f" {cells[clock]:8.2f} " + ("     -      -" if ratio is None else f"{ratio:6.2f} {spread:6.2f}")
        print(line)
    print(f"\n{'goal, argus-default':<28} {'at most':>8} {'measured':>9}")
    for name, most, loads, value in GOALS:
        for cells in rows:
            if cells["recorder"] != "argus-default" or cells["load"] not in loads:
                continue
            measured = value({clock: cells[f"{clock}_ratio"] for clock in (*CLOCKS, "cpu_ns")})
            if measured is not None:
                print(f"{name + ', ' + cells['load']:<28} {most:8.2f} {measured:9.2f}  {'met' if measured <= most else 'missed'}")
    for load, reason in refused.items():
        print(f"left out: {load}: {reason}")
    print(f"load average: {', '.join(f'{value:.1f}' for value in os.getloadavg())} on {os.cpu_count()} cpus; "
          "a part of it is the load itself")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for tool in ("argus", "attach_empty", "empty_object", "timed"):
        parser.add_argument(f"--{tool}", required=tool in ("argus", "timed"), metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--loads", nargs="*", choices=list(LOADS), default=list(LOADS), metavar="LOAD", help="only these")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench_overhead: recording needs root")
    enter_private_mounts()
    machine.end_namespace_with_us()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        runs, refused = measure(Recorders(options, folder), options.loads, options.rounds)
    rows = [row(runs, load, name) for load in options.loads if load not in refused for name in RECORDERS]
    if options.json:
        print(json.dumps({"rows": rows, "left_out": refused, "load_average": os.getloadavg()}, indent=2))
    else:
        show(rows, refused)


if __name__ == "__main__":
    main()
