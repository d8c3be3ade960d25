#!/usr/bin/env python3
"""The cost of recording, compared with `perf record` on the same tracepoints and with empty programs, in the same run.

Every load runs under every recorder in turn, in rounds; a ratio is taken within a round, and printed is the median of
the rounds. The columns:

  seconds, cpu     the load: time on the clock, cpu time of its processes
  slower           its time as a multiple of its time without a recorder (editor: its cpu time, because the time is the
                   typist's)
  of perf's        what recording adds to that time, as a share of what perf record adds
  ns/record        the cpu time that the load takes more, for each record
  records, lost    system-wide, for all of Argus's tracepoints or perf's four
  bytes            of the file, for each record
  own cpu          cpu time of the recorder's own processes, in seconds

The recorders:

  nothing
  empty            BPF programs that return at once on four tracepoints: the kernel's own share
  argus-ring       argus start --no-stacks --rate 0: all its tracepoints, into the ring in memory
  argus-stream     argus record --no-stacks --rate 0: the same, read at once and compressed to a file
  argus-default    argus record as it is: stacks at waits and wake-ups, 99 samples a second
  argus-fallback   argus record over perf_event, for kernels without BPF
  argus-frame-pointers  argus record --frame-pointers: as it is, but no stack is copied late
  perf             perf record -a --exclude-perf: sched_switch, sched_waking, sys_enter, sys_exit, the largest usual buffer
  perf-dwarf       the same, with --call-graph dwarf (8 KB of stack) at sched_switch and sched_waking. Both only in the
                   editor session

With --json: "rows" (the table), "losses", "targets" (of DESIGN section 9), "programs" (with --programs), "left_out" (what could
not run, and why) and "others" (tracing programs of others that were attached).

Needs root, and leaves nothing behind. Other work on the machine, above all another recorder, spoils the figures.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import bench_figures
import bench_losses
import bench_programs
from bench_loads import loads as all_loads
from bench_recorders import STACK_RECORDERS, Recorders, Refused, adopt_orphans

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/e2e"))
import machine  # noqa: E402


def enter_private_mounts():
    """A mount namespace of our own: perf needs tracefs, and a recorder that runs already keeps its control socket."""
    if os.environ.get("ARGUS_BENCH_MOUNTS") == str(os.getpid()):
        return
    os.environ["ARGUS_BENCH_MOUNTS"] = str(os.getpid())
    script = ("mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; mkdir -p /run/argus && "
              'mount -t tmpfs -o mode=755 none /run/argus && exec "$@"')
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-B", *sys.argv])


def measure_round(recorders, loads, number, runs, refused):
    names = list(recorders.by_name)
    names = names[number % len(names):] + names[:number % len(names)]  # nobody is always behind the same one
    for load in loads:
        if load.rounds and number >= load.rounds:
            continue
        for name in names:
            result = None
            if name in STACK_RECORDERS and not load.stacks:
                continue
            if (name not in refused) and (load.name not in refused):
                try:
                    result = recorders.by_name[name](load.command)
                except Refused as reason:
                    refused[load.name if name == "nothing" else name] = str(reason)
            runs.setdefault((load.name, name), []).append(result)


def measure(options, folder):
    recorders = Recorders(options, folder)
    loads = [load for load in all_loads(options.scale) if not options.loads or load.name in options.loads]
    if options.recorders:
        recorders.by_name = {name: recorder for name, recorder in recorders.by_name.items()
                             if name in ("nothing", *options.recorders)}
    refused = {load.name: f"{load.needs} not found (scripts/deps bench)" for load in loads if not load.command}
    ready = [load for load in loads if load.command]
    runs = {(load.name, name): [] for load in ready for name in recorders.by_name}
    for number in range(options.rounds):
        measure_round(recorders, ready, number, runs, refused)
    losses, more = bench_losses.measure(options, folder) if options.losses else ([], {})
    return bench_figures.Figures(loads, runs, losses), refused | more, ready


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tools = ("argus", "attach_empty", "empty_object", "timed", "call_loops", "check_calls", "bpf_programs")
    for tool in tools:
        parser.add_argument(f"--{tool}", required=True, metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1, help="longer (or shorter) loads of perf bench")
    parser.add_argument("--loads", nargs="*", metavar="LOAD", help="only these")
    parser.add_argument("--recorders", nargs="*", metavar="RECORDER", help="only these, and nothing")
    parser.add_argument("--no-losses", dest="losses", action="store_false", help="without the runs that look for losses")
    parser.add_argument("--programs", action="store_true", help="also what each BPF program takes (the kernel's own count)")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    if os.geteuid() != 0:
        sys.exit("bench_recorder: recording needs root: sudo ninja bench_recorder")
    enter_private_mounts()
    machine.end_namespace_with_us()  # also when we are killed
    adopt_orphans()
    others = bench_programs.others(options)
    if others:
        print(f"bench_recorder: {others} BPF programs of others are attached: the figures are not to be trusted",
              file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="argus-bench-") as folder:
        figures, refused, loads = measure(options, folder)
        programs = bench_programs.measure(options, folder, loads) if options.programs else []
    if options.json:
        print(json.dumps({"rows": list(figures.rows()), "losses": figures.losses, "targets": list(figures.targets()),
                          "programs": programs, "left_out": refused, "others": others}, indent=2))
        return
    bench_figures.show(figures, refused)
    bench_programs.show(programs)


if __name__ == "__main__":
    main()
