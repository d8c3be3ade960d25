"""Small traces of macOS as record text for mktrace: threads that each have a cpu, in the records of a stock kernel.

A thread always is in some wait. Its work between two waits is written as: comes(), some calls, and the next wait.
"""


class Scene:
    def __init__(self):
        self.tables, self.records = ["os darwin", "arch aarch64"], []
        self.now, self.cpus, self.waits = 1_000_000, {}, {}

    def process(self, pid, name, kernel=False):
        self.pid_name = name
        self.pid, self.kernel = pid, kernel

    def thread(self, tid, name=None):
        self.cpus[tid] = len(self.cpus)
        kernel = " kernel" if self.kernel else ""
        self.tables.append(f'thread {tid} pid {self.pid}{kernel} name "{self.pid_name}"')
        if name:
            self.say(tid, f'name_thread name="{name}"')
        return tid

    def stack(self, number, *frames):
        self.tables.append(f"stack {number} " + " ".join(hex(frame) for frame in frames))

    def image(self, pid, path, start, end):
        self.tables.append(f"image pid {pid} start {start:#x} end {end:#x} path {path}")

    def at(self, ms):
        """Advances the time to this moment."""
        assert self.now <= ms * 1_000_000, (self.now, ms)
        self.now = int(ms * 1_000_000)

    def say(self, tid, text, on=None):
        self.records.append(f"{self.now} cpu{self.cpus[tid]} t{tid if on is None else on} {text}")
        self.now += 1_000

    # --- the actions of threads ---

    def begin(self, tid, call):
        """Begins a call in which the thread may wait: emits its start record, and remembers the end of the call."""
        self.say(tid, call[0])
        self.waits[tid] = call[1]

    def block(self, tid, call, stack=None, timeout_ms=None):
        """The thread waits in a call."""
        self.begin(tid, call)
        if timeout_ms:
            deadline = int(self.now + timeout_ms * 1_000_000)
            self.say(tid, f"timer_enter_start timer={tid + 0x10000:#x} deadline={deadline}")
            self.say(tid, f"timer_enter_end timer={tid + 0x10000:#x}")
        self.say(tid, "mach_block")
        if stack:
            self.say(tid, f"stack user={stack} why=block")
        self.say(tid, "mach_sched next=0")
        self.say(tid, f"mach_dispatch thread={tid} state=1", on=0)

    def wakes(self, waker, tid, stack=None):
        self.say(waker, f"mach_wake thread={tid} priority=31")
        if stack:
            self.say(waker, f"stack user={stack} why=wake")

    def fires(self, tid):
        """The timer of the thread's wait wakes it."""
        for text in ("interrupt_start", f"timer_fired_start timer={tid + 0x10000:#x}", f"mach_wake thread={tid} result=1",
                     f"timer_fired_end timer={tid + 0x10000:#x}", "interrupt_end"):
            self.say(tid, text, on=0)

    def comes(self, tid, error=0):
        """The thread gets its CPU, and its call ends."""
        self.say(tid, f"mach_sched next={tid}", on=0)
        self.end(tid, error)

    def end(self, tid, error=0):
        kind, number, pid = self.waits.pop(tid)
        if kind == "trap":
            self.say(tid, f"trap_end nr={number} result={error}")
        else:
            self.say(tid, f"syscall_end nr={number} error={error} pid={pid}")

    def text(self):
        cpus = f"cpus {len(self.cpus)}"
        return "\n".join([self.tables[0], self.tables[1], cpus, *self.tables[2:], *self.records]) + "\n"


# --- calls: the start record, and the beginning of the end record ---

def receive(local=0x103):
    return f"mach_msg2_start options=2 local={local:#x}", ("trap", 47, 0)


def ask(remote, size=128, local=0x707):
    return f"mach_msg2_start options=3 size={size} remote={remote:#x} local={local:#x}", ("trap", 47, 0)


def send(remote, size=128):
    return f"mach_msg2_start options=1 size={size} remote={remote:#x}", ("trap", 47, 0)


def cv_wait(cv, pid):
    return f"syscall_start nr=305 arg1={cv:#x}", ("bsd", 305, pid)


def cv_signal(cv, pid):
    return f"syscall_start nr=304 arg1={cv:#x}", ("bsd", 304, pid)


def semaphore_wait(port):
    return f"trap_start nr=36 arg1={port:#x}", ("trap", 36, 0)


def semaphore_signal(port):
    return f"trap_start nr=33 arg1={port:#x}", ("trap", 33, 0)


def yields():
    return "trap_start nr=61", ("trap", 61, 0)
