#!/usr/bin/env python3
"""From file to graph: seconds and memory, beside `perf script` reading as many records in the same run.

    bench_graph.py [--bin DIR] [MILLIONS ...]      1 5 19 if none is given

The traces are made up (desktop.h says how) and read from the page cache. perf has no desktop trace to read, so it prints
context switches of `perf bench sched pipe`, each a sample without a stack: less work a record than ours.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile
import time


def measure(program, scratch, millions):
    trace = scratch / f"{millions}M.argus"
    subprocess.run([program, "generate", trace, str(int(millions * 1e6))], check=True)
    best = None
    for _ in range(3):
        figures = json.loads(subprocess.run([program, "measure", trace], check=True, stdout=subprocess.PIPE).stdout)
        if not best or figures["ready_s"] < best["ready_s"]:
            best = figures
    trace.unlink()
    return best


def perf_records_per_second(scratch):
    """What `perf script` manages here, or a sentence why not."""
    if not shutil.which("perf"):
        return None, "perf is not installed"
    data = scratch / "perf.data"
    record = ["perf", "record", "-q", "--no-buildid-cache", "-e", "context-switches", "-c", "1", "-o", data,
              "perf", "bench", "sched", "pipe", "-l", "500000"]
    recorded = subprocess.run(record, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if recorded.returncode:
        reason = recorded.stderr.strip().split("\n")[0]
        return None, f"perf record ended with status {recorded.returncode}: {reason}"
    start = time.monotonic()
    script = subprocess.run(["perf", "script", "-i", data], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    if script.returncode:
        return None, f"perf script ended with status {script.returncode}"
    return script.stdout.count(b"\n") / seconds, None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=pathlib.Path(__file__).parents[2] / "build" / "bin", type=pathlib.Path)
    parser.add_argument("millions", nargs="*", type=float, default=[1, 5, 19])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        scratch = pathlib.Path(folder)
        peer, why_not = perf_records_per_second(scratch)
        print("records      file  read      +order    graph ready  M records/s  peak memory  vertices    edges  vertex by time")
        for millions in options.millions:
            f = measure(options.bin / "graph_bench", scratch, millions)
            rate = f["records"] / f["ready_s"]
            print(f"{f['records'] / 1e6:5.1f} M  {f['file_bytes'] / 1e6:5.0f} MB  {f['read_s']:6.2f} s  "
                  f"{f['read_and_order_s']:6.2f} s  {f['ready_s']:9.2f} s  {rate / 1e6:11.2f}  "
                  f"{f['peak_bytes'] / 1e6:8.0f} MB  {f['vertices']:8d} {f['edges']:8d}  {f['find_ns']:8.0f} ns"
                  + (f"  {rate / peer:.1f} x perf script" if peer else ""))
        print(f"perf script: {peer / 1e6:.2f} M records/s" if peer else f"perf script: not measured, {why_not}")


main()
