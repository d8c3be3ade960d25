"""Repeats live tests that failed on a loaded machine.

Live tests check which thread had to wait for which other thread, and foreign load on the same CPUs changes that. So a failure
counts only if the test had the CPUs for itself. If other processes and the hypervisor took more than a tenth of the CPU time, or
the whole machine stopped for a while, that is printed and the failed tests are repeated. A success always counts.

Each try is a separate process, and this process adopts and reaps the orphans that its programs leave. So their CPU time counts as
the test's own, and none stays a zombie.
"""
import contextlib
import ctypes
import json
import os
import resource
import select
import sys
import time
import traceback
import unittest

MOST_FOREIGN_SHARE = 0.10
STOOD_STILL_S = 0.05
TRIES = 3
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36


def busy_seconds():
    """Busy time of all CPUs, including stolen time (proc_stat(5): user nice system idle iowait irq softirq steal)."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Witness:
    """Detects that the whole machine stopped: a hypervisor can suspend a guest without reporting stolen time.

    A separate process that sleeps for short times, with another process name, because tests search for ours. It has the highest
    real-time priority, so if it wakes up late, no program of this machine is the reason. Without that permission it reports nothing."""

    def __init__(self):
        reader, self.end = os.pipe()
        self.report, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.end)
            os.close(self.report)
            self.look(reader, writer)
        os.close(reader)
        os.close(writer)

    @staticmethod
    def look(end, report):
        longest_s, last = 0.0, time.monotonic()
        ctypes.CDLL(None).prctl(PR_SET_NAME, b"witness", 0, 0, 0)
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
            while not select.select([end], [], [], 0.01)[0]:
                now = time.monotonic()
                longest_s, last = max(longest_s, now - last), now
        os.write(report, str(longest_s).encode())
        os._exit(0)

    def ask(self):
        """Ends the process. Returns the longest time that the machine stood still."""
        os.close(self.end)
        with open(self.report, encoding="ascii") as report:
            longest_s = float(report.read())
        os.waitpid(self.pid, 0)
        return longest_s


def be_a_try(check, names, report):
    failed = ["?"]
    try:
        failed = check(names)
    except SystemExit as end:
        print(end.code)
    except BaseException:
        traceback.print_exc()
    os.write(report, json.dumps(failed).encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def reap(child, witness):
    """Waits for the child, and then at most 2 s for every orphan. Returns the longest time that the machine stood still."""
    end, stood_still_s = None, 0.0
    try:
        while end is None or time.monotonic() < end:
            pid = os.waitpid(-1, 0 if end is None else os.WNOHANG)[0]
            if pid == child:
                stood_still_s = witness.ask()
                end = time.monotonic() + 2
            elif pid == 0:
                time.sleep(0.01)
    except ChildProcessError:
        pass
    return stood_still_s


def try_once(check, names):
    """Runs the tests `names` (None: all). Returns a list of those that failed, and the longest time that the machine stood still."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        be_a_try(check, names, writer)
    os.close(writer)
    witness = Witness()
    stood_still_s = reap(child, witness)
    with open(reader, encoding="utf-8") as report:
        return json.loads(report.read() or '["?"]'), stood_still_s


def passes(check):
    """Whether no test failed in the end. check(names) runs the named tests (None: all) and returns a list of those that failed."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    names = None
    for left in reversed(range(TRIES)):
        start, busy, own = time.monotonic(), busy_seconds(), own_seconds()
        failed, stood_still_s = try_once(check, names)
        if not failed:
            return True
        names = failed if failed != ["?"] else names
        others = busy_seconds() - busy - (own_seconds() - own)
        share = others / ((time.monotonic() - start) * os.cpu_count())
        if left == 0 or (share < MOST_FOREIGN_SHARE and stood_still_s < STOOD_STILL_S):
            return False
        print(f"(others took {100 * share:.0f} % of the cpus meanwhile, and the machine stood still for up to "
              f"{1000 * stood_still_s:.0f} ms: once more)")
    return False


def run_check(check):
    """For a live test that is one check(), which raises or exits on a failure. Does not return."""
    sys.exit(0 if passes(lambda _: check() or []) else 1)


def run_unittests(argv):
    """unittest.main() for a live test. Does not return."""
    def check(names):
        done = unittest.main(module="__main__", argv=argv[:1] + (names or argv[1:]), exit=False, verbosity=2).result
        tests = [getattr(test, "test_case", test) for test, _ in done.failures + done.errors]  # a subtest: its test
        return sorted({test.id().replace("__main__.", "", 1) for test in tests})

    sys.exit(0 if passes(check) else 1)
