"""Processes and threads as described by a trace: which exist, their names, and the process of each thread.

A thread ID names a life until the thread ends or the ID is reused. The name of a life comes from the record of its start, or
from the thread tables: the latest one so far, else the next one.
"""

from parts import Doing

UNKNOWN, LATER, KNOWN = range(3)


class Process:
    def __init__(self, pid, kernel=False):
        self.pid, self.kernel = pid, kernel


class Thread:
    """One life of a thread ID, and its current activity."""

    def __init__(self, tid, process, origin, name=b""):
        self.tid, self.process, self.origin, self.name = tid, process, origin, name
        self.doing, self.life = Doing(), ""


class Lives:
    def __init__(self, tables):
        self.pending = sorted(tables, key=lambda entry: entry[3])  # stable: the file's order
        self.by_tid, self.gone, self.by_pid, self.threads = {}, {}, {}, []
        self.idle = None

    def process(self, pid):
        if pid not in self.by_pid:
            self.by_pid[pid] = Process(pid)
        return self.by_pid[pid]

    def add(self, tid, process, origin, name=b""):
        thread = Thread(tid, process, origin, name)
        thread.life = f"{tid}.{sum(1 for other in self.threads if other.tid == tid)}"
        self.threads.append(thread)
        self.by_tid[tid] = thread
        return thread

    def find(self, tid):
        return self.by_tid.get(tid) if tid else None

    def thread(self, tid):
        """The life that `tid` names, created if there is none; None for the idle thread."""
        if tid == 0 and not self.idle:
            self.idle = self.process(0)
            self.idle.kernel = True
        if tid == 0 or tid in self.by_tid:
            return self.by_tid.get(tid)
        thread = self.add(tid, self.process(tid), UNKNOWN)
        later = [entry for entry in self.pending if entry[0] == tid]
        if later:
            self.learn(thread, later[0], LATER)
        return thread

    def learn(self, thread, entry, origin):
        _, pid, kernel, _, name = entry
        if thread.origin != KNOWN:
            thread.process, thread.origin = self.process(pid), origin
        thread.name = name
        if thread.process.pid == pid:
            thread.process.kernel = bool(kernel)

    def tables_until(self, now):
        while self.pending and self.pending[0][3] <= now:
            entry = self.pending.pop(0)
            tid = entry[0]
            thread = self.find(tid)
            if not thread and tid in self.gone:  # tables also tell of threads that have ended
                if not self.gone[tid].name:
                    self.learn(self.gone[tid], entry, KNOWN)
                continue
            thread = thread or self.thread(tid)
            if thread:
                self.learn(thread, entry, KNOWN)

    def end(self, thread):
        if self.by_tid.get(thread.tid) is thread:
            del self.by_tid[thread.tid]
        self.gone[thread.tid] = thread

    def new_thread(self, record, creator):
        tid, pid, is_process, _ = record.arg
        if tid == 0:
            return None
        earlier = self.find(tid)
        if earlier and earlier.origin == LATER:  # the table's entry is about the life that begins now
            earlier.process = self.by_pid[tid] = Process(tid)
            earlier.name, earlier.origin = b"", UNKNOWN
        if earlier:
            self.end(earlier)
        if is_process == 1:
            self.by_pid[pid] = Process(pid, bool(creator) and creator.process.kernel)
        return self.add(tid, self.process(pid), KNOWN, creator.name if creator else b"")

    def belongs(self, thread, pid):
        """The end of a system call tells the process of its thread."""
        if thread.origin == UNKNOWN and pid:
            thread.origin, thread.process = KNOWN, self.process(pid)
