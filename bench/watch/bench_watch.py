#!/usr/bin/env python3
"""The cost of a hit of a watched data flag for the program: Argus compared with a bare perf_event breakpoint and with LLDB.

    bench_watch.py --argus FILE --flag_writer FILE --bare_watch FILE [--rounds N] [--hits N]

Each round runs each way once, one after the other, and the figures are medians: so other load on the machine affects all of
them. Without a watch a write takes less than a nanosecond. Argus's hit leaves a record with value, thread, pc and time, and a
call stack; the bare event's is counted alone, or leaves a sample with call chain in a buffer.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


class Writer:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        pid, address = self.process.stdout.readline().split()
        self.pid, self.address = int(pid), int(address, 16)

    def tell(self, threads, times):
        self.process.stdin.write(f"{threads} {times}\n")
        self.process.stdin.flush()

    def write(self, threads, times):
        """ns a hit."""
        self.tell(threads, times)
        return int(self.process.stdout.readline()) / times / max(threads, 1)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def run_bare(options, how, threads):
    writer = Writer(options.flag_writer)
    watch = subprocess.Popen([options.bare_watch, how, str(writer.pid), hex(writer.address)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    watch.stdout.readline()
    ns = writer.write(threads, options.hits)
    hits = int(watch.communicate()[0])
    writer.end()
    return ns, hits


def argus(options, *arguments):
    return subprocess.run([options.argus, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def run_argus(options, threads):
    writer = Writer(options.flag_writer)
    argus(options, "start", "--ring-size", "256M", "--no-probes", *options.only)
    try:
        argus(options, "watchflag", writer.pid, hex(writer.address), "--size", 8, "--access", "w")
        ns = writer.write(threads, options.hits)
        hits = json.loads(argus(options, "watchflag", "list", "--json"))["flags"][0]["hits"]
    finally:
        argus(options, "stop")
    writer.end()
    return ns, hits


def run_lldb(options):
    lldb = next((found for found in map(shutil.which, ["lldb", "lldb-19", "lldb-16", "lldb-14"]) if found), None)
    if not lldb:
        return None
    writer = Writer(options.flag_writer)
    writer.tell(0, 10 ** 15)  # more than it will live to see
    done = subprocess.run([lldb, "-b", "-o", f"command script import {HERE / 'lldb_watch.py'}", "-o",
                           f"script lldb_watch.measure({writer.pid}, {writer.address}, {options.lldb_hits})"],
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    writer.process.kill()
    writer.process.wait()
    words = done.stdout.split()
    return int(words[words.index("lldb_ns_per_hit") + 1]) if "lldb_ns_per_hit" in words else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["argus", "flag_writer", "bare_watch"]:
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--hits", type=int, default=50000, help="by each thread")
    parser.add_argument("--lldb_hits", type=int, default=500)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("bench_watch: needs root")
    options.only = ["--only", "sched,stacks"]
    ways = {"perf_event, counted": lambda threads: run_bare(options, "count", threads),
            "perf_event, sampled": lambda threads: run_bare(options, "sample", threads),
            "argus": lambda threads: run_argus(options, threads)}
    for threads in [0, 2]:
        times = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, run in ways.items():
                ns, hits = run(threads)
                times[way].append(ns)
                if hits != options.hits * max(threads, 1):
                    print(f"{way}: {hits} hits on record, of {options.hits * max(threads, 1)}")
        print(f"{max(threads, 1)} thread(s), {options.hits} writes each, {options.rounds} rounds:")
        bare = statistics.median(times["perf_event, sampled"])
        for way, all_ns in times.items():
            ns = statistics.median(all_ns)
            print(f"  {way:22} {ns / 1000:8.2f} us a hit  {1e9 / ns:9.0f} hits/s  {ns / bare:5.2f} x perf_event, sampled")
    ns = run_lldb(options)
    print(f"  LLDB's watchpoint      {ns / 1000:8.0f} us a hit" if ns else "  LLDB: not measured")


if __name__ == "__main__":
    main()
