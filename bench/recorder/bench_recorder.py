#!/usr/bin/env python3
"""What recording costs, beside `perf record` with the same tracepoints and beside empty programs, in the same run.

bench_recorder.py ARGUS ATTACH_EMPTY EMPTY_OBJECT [--rounds N] [--json]

Each load runs under every recorder in turn, N rounds interleaved; the fastest run of each counts, because what else the
machine does can only slow a run down. "seconds" is the time on the clock, of which also a reader on another cpu takes its
share; "cpu" is the cpu time of the load itself. The loads are those of `perf bench`:

  syscall    getppid in a loop: two records a turn. (cpu - cpu alone) / turns / 2 is the cost of a record
  pipe       two processes and two pipes, one byte to and fro: wake-ups and context switches
  messaging  hackbench: 160 processes over sockets

and the recorders:

  nothing
  empty          BPF programs that return at once on the same four tracepoints: the kernel's own share
  argus-ring     argus start --no-stacks --rate 0: all its tracepoints, into the ring in memory
  argus-stream   argus record --no-stacks --rate 0: the same, read at once and compressed to a file
  argus-stacks   argus record as it is by default: stacks at waits and wake-ups, 99 samples a second
  perf           perf record -a --exclude-perf, the same four tracepoints, the largest buffer that is usual
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

LOADS = {
    "syscall": (["perf", "bench", "syscall", "basic", "-l", "5000000"], 5000000),
    "pipe": (["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", "200000"], 200000),
    "messaging": (["perf", "bench", "sched", "messaging", "-g", "4", "-l", "1000"], 1000),
}
EVENTS = "sched:sched_switch,sched:sched_waking,raw_syscalls:sys_enter,raw_syscalls:sys_exit"
# tracefs need not be mounted: a private mount namespace has it, and nobody else sees it
WITH_TRACEFS = ["unshare", "--mount", "sh", "-c",
                'mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; exec "$@"', "sh"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout, done.stderr


def timed(load):
    """The load in a shell that tells the cpu time of its children (POSIX `times`) when it is done."""
    return ["sh", "-c", '"$@" && times', "sh", *load]


def times(output):
    cpu = sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", output.splitlines()[-1]))
    return {"seconds": float(re.search(r"Total time: ([\d.]+)", output)[1]), "cpu": cpu}


class Recorders:
    def __init__(self, options, folder):
        self.options = options
        self.file = os.path.join(folder, "trace")
        self.by_name = {
            "nothing": self.nothing,
            "empty": self.empty,
            "argus-ring": self.argus_ring,
            "argus-stream": lambda load: self.argus_record(load, "--no-stacks", "--rate", "0"),
            "argus-stacks": self.argus_record,
            "perf": self.perf,
        }

    def nothing(self, load):
        return times(run(load)[0])

    def empty(self, load):
        return times(run([self.options.attach_empty, self.options.empty_object, *load])[0])

    def argus_ring(self, load):
        run([self.options.argus, "start", "--no-stacks", "--rate", "0"])
        try:
            result = times(run(load)[0])
            status = json.loads(run([self.options.argus, "status", "--json"])[0])
        finally:
            run([self.options.argus, "stop"])
        # what a flight recorder overwrites is not lost: it keeps the newest
        return result | {"kept": status["records"], "lost": status["lost"]}

    def argus_record(self, load, *more):
        out, err = run([self.options.argus, "record", "-o", self.file, *more, "--", *load])
        kept, lost = re.search(r"(\d+) records, (\d+) lost", err).groups()
        return times(out) | {"kept": int(kept), "lost": int(lost), "bytes": os.path.getsize(self.file)}

    def perf(self, load):
        out, _ = run([*WITH_TRACEFS, "perf", "record", "-q", "-B", "-N", "-a", "-m", "8192", "-e", EVENTS,
                      "--exclude-perf", "-o", self.file, "--", *load])
        stats, _ = run(["perf", "report", "--stats", "-i", self.file])
        kept = sum(int(n) for n in re.findall(r"^\s*SAMPLE events:\s+(\d+)", stats, re.M)[:1])
        return times(out) | {"kept": kept, "bytes": os.path.getsize(self.file)}


def measure(recorders, rounds):
    best, refused = {}, {}
    for _ in range(rounds):
        for load, (command, _) in LOADS.items():
            for name, recorder in recorders.by_name.items():
                if name in refused:
                    continue
                try:
                    result = recorder(timed(command))
                except RuntimeError as reason:
                    refused[name] = str(reason)
                    continue
                key = (load, name)
                known = best.setdefault(key, result)
                best[key] = result | {unit: min(known[unit], result[unit]) for unit in ("seconds", "cpu")}
    return best, refused


def figures(best):
    """One row for each load and recorder."""
    rows = []
    for (load, name), result in best.items():
        alone, turns = best[load, "nothing"], LOADS[load][1]
        row = {"load": load, "recorder": name, "seconds": result["seconds"], "cpu": result["cpu"],
               "slowdown": result["seconds"] / alone["seconds"]}
        if load == "syscall" and name != "nothing":
            row["ns_per_record"] = (result["cpu"] - alone["cpu"]) / turns / 2 * 1e9
        if "bytes" in result:
            row["bytes_per_record"] = result["bytes"] / max(result["kept"], 1)
        if "kept" in result:
            row["kept"] = result["kept"]
            row["lost"] = result.get("lost", max(0, 2 * turns - result["kept"]) if load == "syscall" else None)
        rows.append(row)
    return rows


def show(rows, refused):
    print("load       recorder      seconds     cpu  slower ns/record      kept      lost  bytes")
    for row in rows:
        cells = [f"{row['seconds']:8.3f}", f"{row['cpu']:7.3f}", f"x{row['slowdown']:6.2f}"]
        cells.append(f"{row['ns_per_record']:9.1f}" if "ns_per_record" in row else " " * 9)
        if "kept" in row:
            cells += [f"{row['kept']:9}", f"{'unknown' if row['lost'] is None else row['lost']:>9}"]
        if "bytes_per_record" in row:
            cells.append(f"{row['bytes_per_record']:6.2f}")
        print(f"{row['load']:10} {row['recorder']:13} {' '.join(cells)}")
    for name, reason in refused.items():
        print(f"{name} could not run: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("argus")
    parser.add_argument("attach_empty")
    parser.add_argument("empty_object")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        best, refused = measure(Recorders(options, folder), options.rounds)
    rows = figures(best)
    if options.json:
        print(json.dumps({"rows": rows, "refused": refused}, indent=2))
    else:
        show(rows, refused)


if __name__ == "__main__":
    main()
