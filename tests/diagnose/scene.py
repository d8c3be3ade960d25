"""Scenes: a few threads, each on its own CPU, as a text for tests/build/mktrace.

    s = Scene()
    s.thread(10, "editor")              # runs from the beginning
    s.at(100); s.wait(10, "read")       # at 100 ms it blocks in read()
    s.at(400); s.wake(20, 10)           # thread 20 makes it run; its read() returns 1

Times are milliseconds; events at one time happen in the order of the calls, a microsecond apart.
"""

FUTEX_WAIT_BITSET = 9  # how glibc waits at conditions
POLLED = ("poll", "select", "epoll_wait")
TIMEOUT_RESULT = {"poll": 0, "select": 0, "epoll_wait": 0, "recvfrom": -11, "clock_nanosleep": 0, "nanosleep": 0,
                  "futex": -110}


class Scene:
    def __init__(self):
        self.tables, self.records, self.cpus, self.calls, self.stacks = [], [], {}, {}, {}
        self.now = 0

    def at(self, ms):
        self.now = max(int(ms * 1e6), self.now)

    def for_ms(self, ms):
        """The next event is so much later."""
        self.at(self.now / 1e6 + ms)

    def _record(self, cpu, thread, text):
        self.now += 1000
        self.records.append(f"{self.now} cpu{cpu} t{thread} {text}")

    def raw(self, tid, text):
        self._record(self.cpus[tid], tid, text)

    def thread(self, tid, name, pid=None, parent=1):
        self.tables.append(f'thread {tid} pid {pid or tid} ppid {parent} name "{name}"')
        self.cpus[tid] = len(self.cpus)
        self._record(self.cpus[tid], 0, f"switch state=R next={tid}")

    def goes_on(self, ms):
        """The trace ends so much later, when a bystander begins to run."""
        self.for_ms(ms)
        self.thread(90, "bystander")

    def stack(self, frames):
        """The number of a call stack, innermost frame first."""
        frames = tuple(frames)
        if frames not in self.stacks:
            self.stacks[frames] = len(self.stacks) + 1
            self.tables.append(f"stack {self.stacks[frames]} {' '.join(hex(frame) for frame in frames)}")
        return self.stacks[frames]

    def wait(self, tid, call, fd=5, inode=0, peer=0, timeout=False, frames=None, mode="socket", condition=False):
        """Blocks in a system call, at `frames`. With `timeout`, timer() may end it. `condition`: a futex is no mutex."""
        cpu = self.cpus[tid]
        self.calls[tid] = call
        second = " arg2=1" if call in POLLED else f" arg2={FUTEX_WAIT_BITSET}" if condition else ""
        self._record(cpu, tid, f"syscall_start nr={call} arg1={fd}{second}")
        if timeout:
            self._record(cpu, tid, f"timer_armed timer={0x1000 + tid} function=1 expiry={self.now}")
        if inode:
            self._record(cpu, tid, f"object fd={fd} inode={inode} peer={peer} mode={mode}")
        if frames:
            self._record(cpu, tid, f"stack user={self.stack(frames)} why=block")
        self._record(cpu, tid, f"switch state=S next=0")

    def _comes_back(self, tid, result):
        cpu, call = self.cpus[tid], self.calls.pop(tid)
        self._record(cpu, 0, f"switch state=R next={tid}")
        error = f" error={-result}" if result < 0 else ""
        self._record(cpu, tid, f"syscall_end nr={call} result={result}{error}")

    def wake(self, waker, tid, call="write", result=1):
        """`waker` makes `tid` runnable, from inside a system call."""
        cpu = self.cpus[waker]
        self._record(cpu, waker, f"syscall_start nr={call} arg1=6")
        self._record(cpu, waker, f"make_runnable thread={tid} context=task")
        self._record(cpu, waker, f"syscall_end nr={call} result=1")
        self._comes_back(tid, result)

    def send(self, tid, call="write"):
        """A system call that wakes no thread, because its receiver is busy."""
        self._record(self.cpus[tid], tid, f"syscall_start nr={call} arg1=6")
        self._record(self.cpus[tid], tid, f"syscall_end nr={call} result=1")

    def signal(self, tid, other):
        """Sends a signal that makes a thread runnable: SIGCONT, or SIGSTOP to a thread that waits."""
        cpu = self.cpus[tid]
        self._record(cpu, tid, f"syscall_start nr=kill arg1={other}")
        self._record(cpu, tid, f"make_runnable thread={other} context=task")
        self._record(cpu, tid, "syscall_end nr=kill result=0")

    def asks_for_a_child(self, tid):
        """waitpid() that returns at once: no child has ended."""
        self._record(self.cpus[tid], tid, "syscall_start nr=wait4 arg1=-1")
        self._record(self.cpus[tid], tid, "syscall_end nr=wait4 result=0")

    def file_lock(self, tid, what, inode=77, call="flock", listed=False):
        """A call for an exclusive lock on a file that returns at once; with `listed`, an entry of the kernel's list of locks instead."""
        kind = 1 if call == "flock" else 2
        lock = f"file_lock inode={inode} device=8 what={what} kind={kind} last=-1 flags="
        if listed:
            self._record(0, tid, lock + "held_exclusive")
            return
        error = " result=-11 error=11" if what == "refused" else ""
        self._record(self.cpus[tid], tid, f"syscall_start nr={call} arg1=5")
        self._record(self.cpus[tid], tid, lock + "exclusive")
        self._record(self.cpus[tid], tid, f"syscall_end nr={call}{error}")

    def lock_file(self, tid, what, path="/tmp/lock"):
        """A lock file is created, or refused since it exists, or removed."""
        error = " result=-17 error=17" if what == "refused" else ""
        call = 87 if what == "released" else "openat"
        self._record(self.cpus[tid], tid, f"syscall_start nr={call} arg1=-100 arg3=0xc1")
        self._record(self.cpus[tid], tid, f"file_lock inode=1234 what={what} kind=4 flags=exclusive")
        if what == "refused":
            self._record(self.cpus[tid], tid, f"file_lock_name name={path}")
        self._record(self.cpus[tid], tid, f"syscall_end nr={call}{error}")

    def message(self, tid, channel, received=False, position=1):
        """A byte on a unix socket: sent, or received, in a separate system call."""
        call, flags = ("recvfrom", "received") if received else ("sendto", "sent")
        self._record(self.cpus[tid], tid, f"syscall_start nr={call} arg1=6")
        self._record(self.cpus[tid], tid, f"message channel={channel} kind=unix_stream flags={flags} bytes=1 "
                                          f"position={0x1000 * position}")
        self._record(self.cpus[tid], tid, f"syscall_end nr={call} result=1")

    def flag(self, tid, value, write=False, address=0x7000, pc=0):
        """Reads or writes a data flag, by the instruction before `pc`."""
        self._record(self.cpus[tid], tid, f"flag_{'write' if write else 'read'} flag={address:#x} value={value} bytes=4 pc={pc:#x}")

    def timer(self, tid):
        """The thread's own timer fires and ends its wait."""
        cpu, name = self.cpus[tid], 0x1000 + tid
        self._record(cpu, 0, f"timer_fired_start timer={name} function=1")
        self._record(cpu, 0, f"make_runnable thread={tid} context=hardirq")
        self._record(cpu, 0, f"timer_fired_end timer={name}")
        self._comes_back(tid, TIMEOUT_RESULT[self.calls[tid]])

    def sleep(self, tid, ms):
        """Sleeps; nothing else may happen meanwhile (else: wait(), for_ms(), timer())."""
        self.wait(tid, "clock_nanosleep", timeout=True)
        self.for_ms(ms)
        self.timer(tid)

    def exit(self, tid):
        self._record(self.cpus[tid], tid, f"thread_exit arg1={tid} last=1")
        self._record(self.cpus[tid], tid, "switch state=X next=0")

    def text(self):
        return "\n".join([f"cpus {len(self.cpus)}"] + self.tables + self.records) + "\n"
