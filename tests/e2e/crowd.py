"""Live tests are about who had to wait for whom, and somebody else's load on the same cpus changes that.

A wrong answer therefore counts only where the cpus were ours: where other processes and the hypervisor took more than a tenth of
them meanwhile, it is said and the test is done again. A right answer counts always.
"""
import ctypes
import os
import resource
import sys
import time

CROWDED = 0.10
TRIES = 3
PR_SET_CHILD_SUBREAPER = 36


def busy_seconds():
    """Of all cpus, with what the hypervisor took away (proc_stat(5): user nice system idle iowait irq softirq steal)."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def reap():
    """Orphans of our programs are ours to wait for, so that their time is counted as ours. They end with their parents."""
    end = time.monotonic() + 2
    try:
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.01)
    except ChildProcessError:
        pass


def own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def settled(check):
    """Whether check() is true; if not, whether it is in a second or third try, as long as the machine is crowded."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for left in reversed(range(TRIES)):
        start, busy, own = time.monotonic(), busy_seconds(), own_seconds()
        if check():
            return True
        reap()
        others = busy_seconds() - busy - (own_seconds() - own)
        share = others / ((time.monotonic() - start) * os.cpu_count())
        if share < CROWDED or left == 0:
            return False
        print(f"(others took {100 * share:.0f} % of the cpus meanwhile: once more)")
        sys.stdout.flush()
    return False
