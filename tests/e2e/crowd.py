"""Live tests are about who had to wait for whom, and somebody else's load on the same cpus changes that.

A wrong answer therefore counts only where the cpus were ours: where other processes and the hypervisor took more than a tenth of
them meanwhile, or the whole machine stood still for a while, it is said and what failed is done again. A right answer counts always.

Each try is a process of its own, and this one adopts and reaps the orphans that its programs leave: so their time is known to be ours,
and none stays a zombie.
"""
import ctypes
import json
import os
import resource
import sys
import threading
import time
import traceback
import unittest

CROWDED = 0.10
STOOD_STILL_S = 0.05
TRIES = 3
PR_SET_CHILD_SUBREAPER = 36


def busy_seconds():
    """Of all cpus, with what the hypervisor took away (proc_stat(5): user nice system idle iowait irq softirq steal)."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


class Witness(threading.Thread):
    """Looks whether the machine goes on: a guest can be stopped as a whole, and is then told of no stolen time.

    It sleeps before every other thread, so when it is late, no program of this machine was the reason. Without the right to do so it
    sees nothing."""

    def __init__(self):
        super().__init__(daemon=True)
        self.longest_s, self.over = 0.0, threading.Event()

    def run(self):
        try:
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(99))
        except PermissionError:
            return
        last = time.monotonic()
        while not self.over.is_set():
            time.sleep(0.01)
            now = time.monotonic()
            self.longest_s, last = max(self.longest_s, now - last), now

    def ask(self):
        """For how long the machine stood still, at most; it ends with that."""
        self.over.set()
        self.join()
        return self.longest_s


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


def reap(child):
    """Waits for the child and every orphan; for those behind the child not longer than a while."""
    end = None
    try:
        while end is None or time.monotonic() < end:
            pid = os.waitpid(-1, 0 if end is None else os.WNOHANG)[0]
            if pid == child:
                end = time.monotonic() + 2
            elif pid == 0:
                time.sleep(0.01)
    except ChildProcessError:
        pass


def try_once(check, names):
    """What failed, of `names` or of all, as a list; for how long the machine stood still meanwhile."""
    sys.stdout.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        be_a_try(check, names, writer)
    os.close(writer)
    witness = Witness()
    witness.start()
    reap(child)
    stood_still_s = witness.ask()
    with open(reader, encoding="utf-8") as report:
        return json.loads(report.read() or '["?"]'), stood_still_s


def settled(check):
    """check(names) does what is named, None: all, and returns what failed, as a list of names. Whether nothing failed in the end."""
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
        if left == 0 or (share < CROWDED and stood_still_s < STOOD_STILL_S):
            return False
        print(f"(others took {100 * share:.0f} % of the cpus meanwhile, and the machine stood still for up to "
              f"{1000 * stood_still_s:.0f} ms: once more)")
    return False


def run_unittests(argv):
    """unittest.main() for a live test. Does not return."""
    def check(names):
        done = unittest.main(module="__main__", argv=argv[:1] + (names or argv[1:]), exit=False, verbosity=2).result
        tests = [getattr(test, "test_case", test) for test, _ in done.failures + done.errors]  # a subtest: its test
        return sorted({test.id().replace("__main__.", "", 1) for test in tests})

    sys.exit(0 if settled(check) else 1)
