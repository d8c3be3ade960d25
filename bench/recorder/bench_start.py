#!/usr/bin/env python3
"""How long a recording takes to begin: bench_start.py ARGUS (ninja bench_start). Needs root.

For each backend, `argus start` until it returns, and the cpu time that the recorder has used by then; beside it `perf record -a
sleep 0` on four tracepoints, which is perf's start and end. Each start waits until the previous recorder has exited.
"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "e2e"))
import machine  # noqa: E402

ROUNDS = 7
EVENTS = "sched:sched_switch,sched:sched_waking,raw_syscalls:sys_enter,raw_syscalls:sys_exit"


def quiet(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def cpu_of(pid):
    return sum(int(path.read_text().split()[0]) for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def argus_start(argus, backend):
    begin = time.monotonic()
    quiet(argus, "start", "--ring-size", "64M", "--backend", backend)
    wall = (time.monotonic() - begin) * 1e3
    pid = json.loads(quiet(argus, "status", "--json"))["recorder_pid"]
    cpu = cpu_of(pid)
    quiet(argus, "stop")
    while os.path.exists(f"/proc/{pid}"):
        time.sleep(0.01)
    return wall, cpu


def perf_record(folder):
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    quiet("perf", "record", "-a", "-e", EVENTS, "-o", f"{folder}/perf.data", "sleep", "0")
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), (time.monotonic() - begin) * 1e3
    return wall, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def main():
    argus = sys.argv[1]
    if os.geteuid() != 0:
        sys.exit("bench_start: recording needs root")
    machine.enter_namespace()
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        runs = {"perf record": lambda: perf_record(folder), "argus bpf": lambda: argus_start(argus, "bpf"),
                "argus perf": lambda: argus_start(argus, "perf")}
        found = {name: [] for name in runs}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                try:
                    found[name].append(run())
                except (OSError, subprocess.CalledProcessError):
                    continue  # what this machine refuses is left out
    print(f"start        wall ms  of perf's   cpu ms  of perf's   (medians of {ROUNDS})")
    perf = [statistics.median(column) for column in zip(*found["perf record"])]
    for name, results in found.items():
        if results:
            wall, cpu = [statistics.median(column) for column in zip(*results)]
            of = (f"{wall / perf[0]:9.2f}", f"{cpu / perf[1]:9.2f}") if perf else ("        -",) * 2
            print(f"{name:12} {wall:7.0f}  {of[0]}  {cpu:7.1f}  {of[1]}")


if __name__ == "__main__":
    main()
