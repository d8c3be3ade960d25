"""Observes a thread from outside, without Argus: whether it was frozen, and from when to when.

An event loop waits for all its inputs in one place: one system call at one stack depth, its own wait. That is where the thread
is found before and after the freeze, when it is idle. The freeze is the longest stretch in which no sample found the thread
there.
"""
import pathlib
import threading
import time

from session import our_processes

EVERY_S = 0.05


def now_ns():
    """The clock of the records: CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def place(tid):
    """System call and stack pointer of a thread that waits, "running", or "" if the thread has ended."""
    try:
        words = pathlib.Path(f"/proc/{tid}/syscall").read_text().split()
    except OSError:
        return ""
    return (words[0], words[-2]) if len(words) > 2 else "running"


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
