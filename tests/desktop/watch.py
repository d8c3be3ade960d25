"""Observes a thread from outside, without Argus: whether it was frozen, and from when to when.

An event loop waits for all its inputs in one place: one system call at one stack depth, its own wait. That is where the thread
is found before and after the freeze, when it is idle. The freeze is the longest stretch in which no sample found the thread
there.
"""
import os
import pathlib
import threading
import time

from session import our_processes

EVERY_S = 0.05


def now_ns():
    """The clock of the records: CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def place(tid):
    """System call and stack pointer of a thread that waits, and its state if it does not sleep as usual; "running", or "" if the
    thread has ended."""
    try:
        words = pathlib.Path(f"/proc/{tid}/syscall").read_text().split()
        state = pathlib.Path(f"/proc/{tid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
    return (words[0], words[-2], *(state if state in "DTt" else "")) if len(words) > 2 else "running"


class Watch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.tid, self.samples, self.ours, self.over = None, [], set(), threading.Event()

    def run(self):
        for turn in range(1 << 30):
            if self.over.wait(EVERY_S):
                return
            if turn % 20 == 0:
                self.ours |= our_processes()
            tid = self.tid
            if tid:
                self.samples.append((now_ns(), tid, place(tid)))

    def finish(self):
        self.over.set()
        self.join()

    def places(self, first_ns, last_ns):
        return {where for when, tid, where in self.samples if tid == self.tid and first_ns <= when <= last_ns and isinstance(where, tuple)}

    def stands_still(self, seconds):
        """Whether the thread has been waiting in one place for so long, but for one look in ten."""
        since_ns = now_ns() - int(seconds * 1e9)
        seen = [where for when, tid, where in self.samples if tid == self.tid and when >= since_ns]
        most = max(map(seen.count, {where for where in seen if isinstance(where, tuple)}), default=0)
        return bool(seen) and self.samples[0][0] <= since_ns and most >= 0.9 * len(seen)

    def away(self, home):
        """All stretches (begin, end) away from `home`, the places of the event loop's own wait, in ns."""
        spans, begin, last = [], None, None
        for when, tid, where in self.samples:
            if tid == self.tid and where and where not in home:
                begin, last = begin or when, when
            elif begin:
                spans.append((begin, last))
                begin = None
        return spans + ([(begin, last)] if begin else [])


def longest(spans, first_ns):
    """The longest stretch that lasts beyond `first_ns`, counted from there; (0, 0) without one."""
    later = [(max(begin, first_ns), end) for begin, end in spans if end > first_ns]
    return max(later, key=lambda span: span[1] - span[0], default=(0, 0))


POLLS = {"7", "23", "232", "270", "271", "281", "441"} if os.uname().machine == "x86_64" else {"22", "72", "73", "441"}  # poll, select and epoll


class Sleepers(threading.Thread):
    """Observes the main threads of all processes of this desktop: at which times each waited in a poll."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples, self.ours, self.over = {}, set(), threading.Event()  # samples: of each thread a list of (time, whether it polls)

    def run(self):
        now = set()
        for turn in range(1 << 30):
            if self.over.wait(EVERY_S):
                return
            if turn % 20 == 0:
                now = our_processes()
                self.ours |= now
            for tid in now:
                where = place(tid)
                if where:
                    self.samples.setdefault(tid, []).append((now_ns(), isinstance(where, tuple) and where[0] in POLLS))

    def finish(self):
        self.over.set()
        self.join()

    def share_at_home(self, tid, begin_ns, end_ns):
        """The part of the time in which the thread waited in a poll; None: it was not watched then."""
        seen = [polls for when, polls in self.samples.get(tid, []) if begin_ns <= when <= end_ns]
        return sum(seen) / len(seen) if len(seen) >= (end_ns - begin_ns) / 1e9 else None
