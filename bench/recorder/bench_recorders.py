"""The recorders. Each recorder runs a load's command and returns a dictionary:

    wall_ns, cpu_ns     of the load: time on the clock, cpu time of its processes
    kept, lost          records in the result; those that the recorder says are missing (absent: it keeps none)
    bytes               of its file
    own_cpu_ns          cpu time of the recorder's own processes

To add a recorder: a method and a row in Recorders.by_name.
"""
import ctypes
import json
import os
import pathlib
import re
import signal
import struct
import subprocess

PERF_EVENTS = "sched:sched_switch,sched:sched_waking,raw_syscalls:sys_enter,raw_syscalls:sys_exit"
STACK_EVENTS = ("sched:sched_switch/call-graph=dwarf/", "sched:sched_waking/call-graph=dwarf/")  # where Argus takes stacks
STACK_RECORDERS = ("argus-frame-pointers", "perf-dwarf")  # beside the default, to see what stacks cost
PLAIN = ("--no-stacks", "--rate", "0")  # beside perf, which is not asked for stacks or samples either
PR_SET_CHILD_SUBREAPER = 36


class Refused(Exception):
    """A recorder or load that cannot run here, with the reason as a sentence."""


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Refused(f"{command[0]} ended with {done.returncode}: {said[-1] if said else 'without a word'}")
    return done.stdout, done.stderr


def adopt_orphans():
    """What daemons started below us leave behind becomes our child, so that its cpu time can be asked for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    return [int(pid) for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def comm(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def cpu_of_daemon(name):
    """Waits for the daemon called `name` and ends whatever else was left behind; its cpu time in ns, or None."""
    cpu_ns = None
    for pid in children():
        is_daemon = comm(pid) == name[:15]
        if not is_daemon:
            os.kill(pid, signal.SIGTERM)
        usage = os.wait4(pid, 0)[2]
        if is_daemon:
            cpu_ns = int((usage.ru_utime + usage.ru_stime) * 1e9)
    return cpu_ns


def perf_counts(path):
    """Samples kept and lost, from the file itself (perf.data's header and records; include/uapi/linux/perf_event.h)."""
    data = pathlib.Path(path).read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 40)
    end, kept, lost, lost_samples = offset + size, 0, 0, 0
    unpack = struct.Struct("<IHH").unpack_from
    while offset < end:
        kind, _, length = unpack(data, offset)
        if kind == 9:
            kept += 1
        elif kind == 2:
            lost += struct.unpack_from("<Q", data, offset + 16)[0]
        elif kind == 13:
            lost_samples += struct.unpack_from("<Q", data, offset + 8)[0]
        offset += length
    return kept, max(lost, lost_samples)  # two ways to say the same


class Recorders:
    def __init__(self, tools, folder):
        self.tools = tools  # paths: argus, attach_empty, empty_object, timed
        self.file = os.path.join(folder, "trace")
        self.times = os.path.join(folder, "times")
        self.by_name = {
            "nothing": self.nothing,
            "empty": self.empty,
            "argus-ring": lambda load: self.argus_start(load, *PLAIN),
            "argus-stream": lambda load: self.argus_record(load, *PLAIN),
            "argus-default": self.argus_record,
            "argus-frame-pointers": lambda load: self.argus_record(load, "--frame-pointers"),
            "perf": self.perf,
            "perf-dwarf": lambda load: self.perf(load, ",".join((*STACK_EVENTS, *PERF_EVENTS.split(",")[2:]))),
        }
        if "--backend" in run([tools.argus, "record", "--help"])[0]:
            self.by_name["argus-fallback"] = lambda load: self.argus_record(load, *PLAIN, "--backend", "perf")

    def timed(self, command):
        return [self.tools.timed, self.times, *command]

    def result(self, **more):
        times = json.loads(pathlib.Path(self.times).read_text())
        return times | {key: value for key, value in more.items() if value is not None}

    def nothing(self, load):
        run(self.timed(load))
        return self.result()

    def empty(self, load, programs=None):
        run([self.tools.attach_empty, programs or self.tools.empty_object, *self.timed(load)])
        return self.result()

    def argus_start(self, load, *options):
        """The flight recorder. What it overwrites is not lost: it keeps the newest."""
        run([self.tools.argus, "start", *options])
        try:
            run(self.timed(load))
            status = json.loads(run([self.tools.argus, "status", "--json"])[0])
        finally:
            run([self.tools.argus, "stop"])
            own_cpu_ns = cpu_of_daemon("argus-recorder")
        return self.result(kept=status["emitted"], lost=status["lost"], own_cpu_ns=own_cpu_ns)

    def argus_record(self, load, *options):
        try:
            _, err = run([self.tools.argus, "record", "-o", self.file, *options, "--", *self.timed(load)])
        finally:
            own_cpu_ns = cpu_of_daemon("argus-recorder")
        kept, lost = re.search(r"(\d+) records, (\d+) lost", err).groups()
        return self.result(kept=int(kept), lost=int(lost), bytes=os.path.getsize(self.file), own_cpu_ns=own_cpu_ns)

    def perf(self, load, events=PERF_EVENTS):
        before = os.times()
        run(["perf", "record", "-q", "-B", "-N", "-a", "-m", "8192", "-e", events, "--exclude-perf",
             "-o", self.file, "--", *self.timed(load)])
        after = os.times()
        all_ns = int((after.children_user + after.children_system - before.children_user - before.children_system) * 1e9)
        kept, lost = perf_counts(self.file)
        result = self.result(kept=kept, lost=lost, bytes=os.path.getsize(self.file))
        return result | {"own_cpu_ns": max(0, all_ns - result["cpu_ns"])}
