#!/usr/bin/env python3
"""From a trace file to an answer: seconds and memory of each phase, beside `perf script` reading as many records.

    bench_graph.py [--bin DIR] [--statistics FILE] [--no-hackbench] [MILLIONS ...]      1 5 19 100 if none is given

The traces are synthetic (see desktop.h) and read from the page cache, and, where Argus can record here, there is one of `perf
bench sched messaging` (hackbench). Each phase is a process of its own, under a limit of 8 GB of address space. The questions
are whole commands on a loaded graph, the longest of five runs. perf has no such trace to read, so it prints context switches of
two threads that play ping-pong, each a sample without a stack: less work a record than ours; its time is measured for 400,000
of them and scaled to the number of records. The exponent says how time grows from one size to the next: 1 is in proportion, n
log n is 1.05.

--statistics compares what the made-up traces consist of with a recorded FILE.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

LIMIT_BYTES = 8 << 30
PHASES = ("read", "order", "build", "load", "ask")
# A row: what it is called, the figure's name, what perf is compared with it.
SECONDS = (("read", "read", True), ("read and order", "order", True), ("read, order, build", "build", True), ("save", "save", False),
           ("map", "map", True), ("graph show", "show", False), ("graph find --longer-than=1s", "find", False),
           ("graph find --longer-than=1us", "find all", False), ("graph find --time", "find time", False),
           ("one slice step", "slice step", False), ("similar", "similar", False), ("hangs", "hangs", False),
           ("diagnose --auto", "diagnose", False))
MEMORY = (("memory: build", "build_bytes"), ("memory: map and ask", "ask_bytes"), ("file: trace", "file_bytes"), ("file: graph", "graph_bytes"))
# perf may fail to read its own recordings of `perf bench`, so something else is recorded.
PING_PONG = """
import os, threading
there, back = os.pipe(), os.pipe()
def answer():
    for _ in range(200000):
        os.read(there[0], 1), os.write(back[1], b"x")
threading.Thread(target=answer).start()
for _ in range(200000):
    os.write(there[1], b"x"), os.read(back[0], 1)
"""


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))


def phase(program, name, trace):
    done = subprocess.run([program, name, trace], check=True, stdout=subprocess.PIPE, preexec_fn=limit_memory)
    figures = json.loads(done.stdout)
    figures[f"{name}_bytes"] = figures.pop("peak_bytes") if name != "build" else figures["build_bytes"]
    return figures


def measure(program, trace):
    """The figures of one trace; the best of three runs, of large ones the only one."""
    figures = {}
    for name in PHASES:
        runs = 1 if trace.stat().st_size > 200e6 else 3
        for attempt in range(runs):
            found = phase(program, name, trace)
            for key, value in found.items():
                better = key not in figures or (isinstance(value, (int, float)) and value < figures[key])
                figures[key] = value if better else figures[key]
    graph = trace.with_name(trace.name + ".graph")
    figures["graph_bytes"] = graph.stat().st_size
    if not figures["loaded"]:
        raise SystemExit("bench_graph: the saved graph was not used")
    graph.unlink()
    return figures


def perf_records_per_second(scratch):
    """What `perf script` manages here, or a sentence why not."""
    if not shutil.which("perf"):
        return None, "perf is not installed"
    data = scratch / "perf.data"
    record = ["perf", "record", "-q", "-B", "-e", "context-switches", "-c", "1", "-o", data, sys.executable, "-c", PING_PONG]
    recorded = subprocess.run(record, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if recorded.returncode:
        reason = recorded.stderr.strip().split("\n")[0]
        return None, f"perf record ended with status {recorded.returncode}: {reason}"
    start = time.monotonic()
    script = subprocess.run(["perf", "script", "-i", data], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    data.unlink()
    if script.returncode:
        return None, f"perf script ended with status {script.returncode}"
    return script.stdout.count(b"\n") / seconds, None


def record_hackbench(argus, scratch):
    """A recording of hackbench, or None and why not."""
    trace = scratch / "hackbench.argus"
    load = ["perf", "bench", "sched", "messaging", "-g", "10", "-l", "400"]
    if not shutil.which("perf"):
        return None, "perf is not installed"
    words = [argus, "record", "-o", trace, "--", *load]
    if os.geteuid() == 0:  # beside a recorder that may be running already
        os.makedirs("/run/argus", exist_ok=True)
        words = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o mode=755 none /run/argus; exec "$@"', "sh", *words]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode or not trace.exists():
        return None, (done.stderr.strip().split("\n") or ["?"])[-1]
    return trace, None


def amount(seconds):
    if seconds >= 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.2f} s" if seconds >= .1 else f"{seconds * 1e3:.1f} ms"


def exponent(before, after, key):
    """How `key` grows with the number of records."""
    if before[key] <= 0 or after[key] <= 0:
        return math.nan
    return math.log(after[key] / before[key]) / math.log(after["records"] / before["records"])


def row(label, cells):
    print(f"{label:30}" + "".join(f"{cell:>22}" for cell in cells))


def print_table(results, peer):
    row("", [name for name, _ in results])
    row("records", [f"{f['records'] / 1e6:.1f} M" for _, f in results])
    row("vertices", [f"{f['vertices']}" for _, f in results])
    row("edges", [f"{f['edges']}" for _, f in results])
    for label, key, compared in SECONDS:
        cells = []
        for _, f in results:
            ratio = f" ({f['records'] / peer / f[key]:.1f} x perf)" if peer and compared else ""
            cells.append(amount(f[key]) + ratio)
        row(label, cells)
    if peer:
        row("perf script (scaled)", [amount(f["records"] / peer) for _, f in results])
    for label, key in MEMORY:
        row(label, [f"{f[key] / 1e6:.0f} MB" for _, f in results])


def print_growth(sizes):
    print("\ngrowth exponent from size to size")
    row("", [f"{a['records'] / 1e6:.0f} to {b['records'] / 1e6:.0f} M" for a, b in zip(sizes, sizes[1:])])
    for label, key, compared in SECONDS:
        if compared or key in ("save", "diagnose"):
            row(label, [f"{exponent(a, b, key):.2f}" for a, b in zip(sizes, sizes[1:])])


def print_statistics(program, recorded, scratch):
    """Records of each tracepoint in a thousand, made up and recorded."""
    made_up = scratch / "statistics.argus"
    subprocess.run([program, "generate", made_up, "1000000"], check=True)
    columns = []
    for trace in (made_up, recorded):
        counts = phase(program, "count", trace)
        counts.pop("count_bytes")
        columns.append({name: count * 1000 / sum(counts.values()) for name, count in counts.items()})
    row("records in a thousand", ["made up", pathlib.Path(recorded).name])
    for name in columns[0]:
        if max(column[name] for column in columns) >= .5:
            row(name, [f"{column[name]:.1f}" for column in columns])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=pathlib.Path(__file__).parents[2] / "build" / "bin", type=pathlib.Path)
    parser.add_argument("--statistics", metavar="FILE", help="compare the made-up traces with this recorded one, measure nothing")
    parser.add_argument("--no-hackbench", action="store_true", help="record nothing")
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5, 19, 100])
    options = parser.parse_args()
    program = options.bin / "graph_bench"
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        scratch = pathlib.Path(folder)
        if options.statistics:
            print_statistics(program, options.statistics, scratch)
            return
        peer, why_not = perf_records_per_second(scratch)
        sizes, results = [], []
        for millions in options.millions:
            trace = scratch / f"{millions:g}M.argus"
            subprocess.run([program, "generate", trace, str(int(millions * 1e6))], check=True)
            sizes.append(measure(program, trace))
            results.append((f"{millions:g} M made up", sizes[-1]))
            trace.unlink()
        trace, why_no_trace = (None, None) if options.no_hackbench else record_hackbench(options.bin / "argus", scratch)
        if trace:
            results.append(("hackbench", measure(program, trace)))
        print_table(results, peer)
        print_growth(sizes)
        print(f"\nperf script: {peer / 1e6:.2f} M records/s" if peer else f"\nperf script: not measured, {why_not}")
        if why_no_trace:
            print(f"hackbench: not measured, {why_no_trace}")


main()
