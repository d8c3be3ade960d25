#!/usr/bin/env python3
"""Instructions a second: argus step compared with a bare ptrace loop on the same CPU and with LLDB; all on a spinning thread.

    bench_step.py --argus FILE --spinner FILE --bare FILE [--plugin FILE] [--rounds N] [--steps N]

Each round runs each way once; the figures are medians. The last lines are the costs of other ways of tracing: a stop at a
breakpoint (one for each basic block), and a load from the thread's memory (one for each load of an emulated instruction).
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


class Spinner:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        self.pid, self.address = self.process.pid, self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.communicate()


def run_bare(options, how, count):
    spinner = Spinner(options.spinner)
    done = subprocess.run([options.bare, how, str(spinner.pid), spinner.address, str(count)], capture_output=True, text=True, check=True)
    spinner.end()
    return float(done.stdout)


def run_argus(options):
    spinner = Spinner(options.spinner)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([options.argus, "step", "--json", "--process", str(spinner.pid), "--thread", str(spinner.pid), "--max",
                               str(options.steps), "-o", folder + "/x.steps"], capture_output=True, text=True, check=True)
        size = os.path.getsize(folder + "/x.steps")
    spinner.end()
    answer = json.loads(done.stdout)
    return answer["elapsed_ns"] / answer["steps"], size / answer["steps"]


def find_lldb():
    return next(filter(None, (shutil.which(f"lldb{suffix}") for suffix in ["", *[f"-{n}" for n in range(22, 13, -1)]])), None)


def run_lldb(options, lldb):
    spinner = Spinner(options.spinner)
    done = subprocess.run([lldb, "--no-lldbinit", "--batch", "-o", f"command script import {HERE}/lldb_step.py", "-o",
                           f"script lldb_step.measure({spinner.pid}, {options.lldb_steps})"], capture_output=True, text=True)
    spinner.end()
    found = re.search(r"lldb_ns ([\d.]+)", done.stdout)
    return float(found.group(1)) if found else None


def run_plugin(options, lldb):
    spinner = Spinner(options.spinner)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([lldb, "--no-lldbinit", "--batch", "-o", f"plugin load {options.plugin}", "-o", f"process attach --pid {spinner.pid}",
                               "-o", f"argus step --max {options.lldb_steps} -o {folder}/x.steps", "-o", "kill"], capture_output=True, text=True)
    spinner.end()
    found = re.search(r"by LLDB, ([\d.]+) instructions", done.stdout)
    return 1e9 / float(found.group(1)) if found else None


def line(name, ns, base, note=""):
    if ns:
        print(f"{name:44} {ns / 1000:10.2f} us {1e9 / ns:12,.0f} a second {base / ns:8.2f} x bare {note}")


def main():
    parser = argparse.ArgumentParser()
    for name in "argus", "spinner", "bare":
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--plugin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20000)
    parser.add_argument("--lldb-steps", type=int, default=1000)
    options = parser.parse_args()
    bare, argus, sizes, stops, reads, lldbs, plugins = [], [], [], [], [], [], []
    lldb = find_lldb()
    for _ in range(options.rounds):
        bare.append(run_bare(options, "step", options.steps))
        ns, size = run_argus(options)
        argus.append(ns)
        sizes.append(size)
        stops.append(run_bare(options, "stop", options.steps // 4))
        reads.append(run_bare(options, "read", options.steps))
        if lldb:
            lldbs.append(run_lldb(options, lldb))
            plugins.append(run_plugin(options, lldb) if options.plugin else None)
    base = statistics.median(bare)
    line("a bare PTRACE_SINGLESTEP and GETREGS", base, base)
    line("argus step, with registers, into a file", statistics.median(argus), base, f"({statistics.median(sizes):.1f} bytes a step)")
    if lldbs and all(lldbs):
        line("LLDB's StepInstruction and pc", statistics.median(lldbs), base)
    if plugins and all(plugins):
        line("argus step inside LLDB, with registers", statistics.median(plugins), base)
    line("a stop at a breakpoint that is moved", statistics.median(stops), base)
    line("8 bytes by process_vm_readv()", statistics.median(reads), base)


if __name__ == "__main__":
    main()
