#!/usr/bin/env python3
"""How long `argus why` takes on a machine with 200 processes of 25 threads each, and eu-stack and gdb beside it: bench_why.py ARGUS
[--rounds N].

Each round asks once in each way: about one process, without an argument (all processes), and for the stacks of one process by
eu-stack -p and gdb -p, which stop it. The figures are medians in seconds, with the machine's load.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

PROCESSES, THREADS = 200, 25
PROGRAM = f"""import threading, time
lock = threading.Lock()
lock.acquire()
for _ in range({THREADS - 1}):
    threading.Thread(target=lock.acquire, daemon=True).start()
print("ready", flush=True)
lock.acquire()
"""


def start():
    return [subprocess.Popen([sys.executable, "-S", "-c", PROGRAM], stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]


def seconds(command):
    begin = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.monotonic() - begin if done.returncode == 0 else None


def ways(argus, pid):
    yield "argus why PID", [argus, "why", str(pid)]
    yield "argus why", [argus, "why"]
    if shutil.which("eu-stack"):
        yield "eu-stack -p PID", ["eu-stack", "-p", str(pid)]
    if shutil.which("gdb"):
        yield "gdb -p PID", ["gdb", "-batch", "-nx", "-p", str(pid), "-ex", "thread apply all backtrace"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("argus")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    started = start()
    try:
        for one in started:
            one.stdout.readline()
        figures = {}
        for number in range(options.rounds):
            for name, command in ways(options.argus, started[number % PROCESSES].pid):
                figures.setdefault(name, []).append(seconds(command))
    finally:
        for one in started:
            one.kill()
            one.wait()
            one.stdout.close()
    print(f"{PROCESSES} processes with {PROCESSES * THREADS} threads; load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs")
    for name, times in figures.items():
        good = [one for one in times if one is not None]
        print(f"  {name:16} {statistics.median(good):6.2f} s" if good else f"  {name:16} failed")


if __name__ == "__main__":
    main()
