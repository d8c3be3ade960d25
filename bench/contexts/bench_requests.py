#!/usr/bin/env python3
"""What a request costs while it is recorded for `argus contexts`: a web server with connections kept alive, and a key-value store.

Recorded by argus without an option, by argus with stacks at all calls, and by perf with the same information: stacks at switches
and wake-ups and every system call, or stacks at system calls too; by copies of the stack (dwarf) or by frame pointers (fp). Beside them two floors: programs that do nothing at the start and the
end of every system call, at switches and wake-ups; and such that only read the clock, which a record cannot do without.
Rounds are interleaved, medians are printed. `cpu` is that of server and client together, a request; × is the ratio within a
round. `lost` is what the recorder says; perf that loses records did less.

--figure9 instead measures what figure 9 of the IntroPerf paper does: by how much programs become slower when system calls are
recorded with stacks, and context switches too. perf follows frame pointers, as ETW does in the paper. Two differences: argus
always records switches, so its first row only leaves out wake-ups' objects, messages and the like; and the traces are on disk.

Needs root, and what `scripts/deps bench` installs. A load whose programs are missing is left out with a message.
"""
import argparse
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

LOAD = HERE.parent / "overhead/load.sh"
LOADS = {"web": "httpd, 8 connections kept alive (ab)", "keyvalue": "Redis, 8 clients that set and get (redis-benchmark)"}
CALLS = "raw_syscalls:sys_enter"


def perf_events(stacks_at, how):
    """All events of equal information, those of `stacks_at` with stacks."""
    events = ("sched:sched_switch", "sched:sched_waking", CALLS, "raw_syscalls:sys_exit")
    return ",".join(f"{event}/call-graph={how}/" if event in stacks_at else event for event in events)


WAITS = ("sched:sched_switch", "sched:sched_waking")
# To add one: a row. The goals are the most that the ratio of cpu may be.
KINDS = {
    "nothing": (lambda recorders, load: recorders.nothing(load), None),
    "empty programs": (lambda recorders, load: recorders.empty(load), None),
    "empty, with a clock": (lambda recorders, load: recorders.empty(load, recorders.tools.clock_object), None),
    "argus": (lambda recorders, load: recorders.argus_record(load), 1.3),
    "argus --call-stacks": (lambda recorders, load: recorders.argus_record(load, "--call-stacks"), 1.6),
    "perf, waits, dwarf": (lambda recorders, load: recorders.perf(load, perf_events(WAITS, "dwarf")), None),
    "perf, waits, fp": (lambda recorders, load: recorders.perf(load, perf_events(WAITS, "fp")), None),
    "perf, calls too, dwarf": (lambda recorders, load: recorders.perf(load, perf_events((*WAITS, CALLS), "dwarf")), None),
    "perf, calls too, fp": (lambda recorders, load: recorders.perf(load, perf_events((*WAITS, CALLS), "fp")), None),
}


# The rows of figure 9, and the paper's figures for them.
CALLS_ONLY = ("--call-stacks", "--only=syscalls,stacks", "--no-probes")
FIGURE9 = {
    "nothing": KINDS["nothing"],
    "argus, calls": (lambda recorders, load: recorders.argus_record(load, *CALLS_ONLY), "1.38 to 8.2 %"),
    "argus, all": (lambda recorders, load: recorders.argus_record(load, "--call-stacks"), "2.4 to 9.11 %"),
    "perf, calls, fp": (lambda recorders, load: recorders.perf(load, f"{CALLS}/call-graph=fp/,raw_syscalls:sys_exit"), None),
    "perf, switches too, fp": KINDS["perf, calls too, fp"],
}
PROGRAMS = ("compile", "sqlite", "convert", "web", "keyvalue")


def measure(recorders, loads, rounds, kinds):
    runs, refused, names = {}, {}, list(kinds)
    for number in range(rounds):
        for load in loads:
            for name in names[number % len(names):] + names[:number % len(names)]:
                if load in refused:
                    continue
                try:
                    runs.setdefault((load, name), {})[number] = kinds[name][0](recorders, (str(LOAD), load))
                except Refused as reason:
                    refused[load] = str(reason)
    return runs, refused


def show(runs, loads, refused, requests):
    print(f"{'load':<9} {'recorded by':<23} {'requests/s':>10} {'cpu us':>8} {'cpu ×':>6} {'spread':>7} {'lost':>8}  goal")
    for load in loads:
        for name, (_, goal) in KINDS.items():
            found = runs.get((load, name))
            if load in refused or not found:
                continue
            alone = runs[load, "nothing"]
            ratios = [result["cpu_ns"] / alone[number]["cpu_ns"] for number, result in found.items()]
            cpu_us = statistics.median(result["cpu_ns"] for result in found.values()) / 1e3 / requests
            rate = requests * 1e9 / statistics.median(result["wall_ns"] for result in found.values())
            lost = statistics.median(result.get("lost", 0) for result in found.values())
            ratio = statistics.median(ratios)
            verdict = "" if goal is None else f"{goal} {'met' if ratio <= goal else 'missed'}"
            print(f"{load:<9} {name:<23} {rate:10.0f} {cpu_us:8.1f} {ratio:6.2f} {max(ratios) - min(ratios):7.2f} {lost:8.0f}  {verdict}".rstrip())
    show_rest(refused)


def show_figure9(runs, loads, refused):
    """By how much the real and the CPU time of each program grow, in percent."""
    print(f"{'load':<9} {'recorded by':<23} {'real %':>7} {'cpu %':>7} {'lost':>8}  in the paper")
    for load in loads:
        for name, (_, paper) in FIGURE9.items():
            found = runs.get((load, name))
            if load in refused or not found or name == "nothing":
                continue
            alone = runs[load, "nothing"]
            real, cpu = (statistics.median(100 * (result[clock] / alone[number][clock] - 1) for number, result in found.items())
                         for clock in ("wall_ns", "cpu_ns"))
            lost = statistics.median(result.get("lost", 0) for result in found.values())
            print(f"{load:<9} {name:<23} {real:7.1f} {cpu:7.1f} {lost:8.0f}  {paper or ''}".rstrip())
    show_rest(refused)


def show_rest(refused):
    for load, reason in refused.items():
        print(f"left out: {load}: {reason}")
    print(f"load average: {', '.join(f'{value:.1f}' for value in os.getloadavg())} on {os.cpu_count()} cpus; a part of it is the load itself")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for tool in ("argus", "attach_empty", "empty_object", "clock_object", "timed"):
        parser.add_argument(f"--{tool}", required=True, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20000)
    parser.add_argument("--loads", nargs="*", choices=PROGRAMS, metavar="LOAD", help="only these")
    parser.add_argument("--kinds", nargs="*", choices=list(KINDS), metavar="KIND", help="only these recorders, beside none")
    parser.add_argument("--figure9", action="store_true", help="measure what figure 9 of the paper does")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("bench_requests: recording needs root")
    os.environ["REQUESTS"] = str(options.requests)
    enter_private_mounts()
    machine.end_namespace_with_us()
    adopt_orphans()
    wanted = {"nothing", *(options.kinds or KINDS)}
    loads = options.loads or (PROGRAMS if options.figure9 else list(LOADS))
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        kinds = FIGURE9 if options.figure9 else {name: row for name, row in KINDS.items() if name in wanted}
        runs, refused = measure(Recorders(options, folder), loads, options.rounds, kinds)
    if options.figure9:
        show_figure9(runs, loads, refused)
    else:
        show(runs, loads, refused, options.requests)


if __name__ == "__main__":
    main()
