"""Scenes of waits that the kernel ends in its own way: through one of its threads, or without a return to the caller."""
import darwin_scene as darwin
from semantics_scenes import Scene, answer


RECVFROM, CONNECT, IOCTL, READ = 29, 98, 54, 3


class Network(Scene):
    """The main thread waits for a thread in a call, which a thread of the kernel wakes: an interrupt has woken that one. `servers`: the names of
    the kernel's threads, the one that the interrupt wakes first."""

    def __init__(self, *servers, call=RECVFROM):
        super().__init__(False)
        self.call = call
        self.process(0, "kernel_task", kernel=True)
        self.servers = [self.thread(90 + number, name) for number, name in enumerate(servers)]
        self.process(500, "Mail")
        self.main = self.thread(5001)
        self.loader = self.thread(5002, "loader")
        self.home(self.main)
        for server in self.servers:
            self.sleeps(server)
        self.block(self.loader, darwin.cv_wait(0x700, 500))

    def signal(self, tid, condition, wakes):
        self.begin(tid, darwin.cv_signal(condition, 500))
        self.wakes(tid, wakes)
        self.end(tid)

    def fetch(self, ms):
        self.device(self.main)
        self.signal(self.main, 0x700, self.loader)
        self.runs(self.loader)
        self.end(self.loader)
        self.block(self.main, darwin.cv_wait(0x800, 500))
        self.begin(self.loader, (f"syscall_start nr={self.call} arg1=5", ("bsd", self.call, 500)))
        self.sleeps(self.loader, 9 if self.call == READ else 1)  # TH_WAIT | TH_UNINT: buf_biowait(), bsd/vfs/vfs_bio.c
        self.work(ms)
        for text in ("interrupt_start", f"mach_wake thread={self.servers[0]}", "interrupt_end"):
            self.say(self.servers[0], text, on=0)
        for server, woken in zip(self.servers, (*self.servers[1:], self.loader)):
            self.runs(server)
            self.say(server, f"mach_wake thread={woken}")
            self.sleeps(server)
        self.runs(self.loader)
        self.end(self.loader)
        self.signal(self.loader, 0x800, self.main)
        self.block(self.loader, darwin.cv_wait(0x700, 500))
        self.runs(self.main)
        self.end(self.main)
        self.home(self.main)


PARK = ("syscall_start nr=368 arg1=0x40", ("bsd", 368, 300))
PARK_ENDS = -2  # EJUSTRETURN: bsd/sys/errno.h:271; libpthread's kernel half ends the call so for a worker that has an item again


class Workers(Scene):
    """A server of libdispatch on stock Apple silicon: its workers wait in workq_kernreturn(), and receive requests there."""

    def __init__(self):
        super().__init__(False)
        self.process(100, "alpha")
        self.alpha = self.thread(1001)
        self.process(300, "xpcd")
        self.workers = [self.thread(3001), self.thread(3002)]
        self.home(self.alpha)
        for worker in self.workers:
            self.block(worker, PARK)

    def serve(self, worker, end):
        self.request(self.alpha, 0x501, worker)
        self.runs(worker)
        self.end(worker, end)
        self.work(10)
        self.begin(worker, answer(0x1703))
        self.wakes(worker, self.alpha)
        self.end(worker)
        self.block(worker, PARK)
        self.gets_answer(self.alpha, 0)


class SamplesAlone:
    """kperf's switches and samples, as Instruments' Time Profiler records them: no wake-ups, no system calls. Two cpus; the idle threads have
    no mark. The editor's main thread runs 5 ms in each 100 ms; a kernel thread, which is bound to a cpu as well, runs and is sampled."""

    idle, bound, main = (60, 61), 70, 5001

    def __init__(self, rounds=20):
        self.lines = ["os darwin", "arch aarch64", "cpus 2", f'thread {self.main} pid 500 name "editor"']
        self.lines += [f'thread {tid} pid 0 kernel name "kernel_task"' for tid in (*self.idle, self.bound)]
        self.now = 1_000_000
        for number in range(rounds):
            self.comes(0, self.main, 500)
            self.sample(0, self.main, 500)
            self.after(5)
            self.comes(0, self.idle[0], 0)
            self.comes(1, self.bound, 0)
            self.sample(1, self.bound, 0)
            self.after(2)
            self.comes(1, self.idle[1], 0)
            self.after(93 if number != rounds // 2 else 3093)

    def after(self, ms):
        self.now += ms * 1_000_000

    def say(self, cpu, tid, text):
        self.lines.append(f"{self.now} cpu{cpu} t{tid} {text}")
        self.now += 1_000

    def comes(self, cpu, tid, pid):
        self.say(cpu, tid, f"record id=0x25010014 arg1={tid} arg2={pid}")

    def sample(self, cpu, tid, pid):
        self.say(cpu, tid, "record id=0x25000001 arg1=1")
        self.say(cpu, tid, f"record id=0x25010004 arg1={pid} arg2={tid} arg4=3")
        self.say(cpu, tid, "record id=0x25000002 arg1=1")

    def text(self):
        return "\n".join(self.lines) + "\n"


# call (kind, number, name), the end record's error and results, the outcome of the wait
ENDS = ((("bsd", 305, "psynch_cvwait"), "error=0x13c", "timed out"),  # ETIMEDOUT | ECVCLEARED
        (("bsd", 305, "psynch_cvwait"), "error=0x204", "interrupted"),  # EINTR | ECVPREPOST
        (("bsd", 305, "psynch_cvwait"), "error=0 result=0x100", "satisfied"),
        (("bsd", 544, "ulock_wait2"), "error=0 result=0xffffffc4", "timed out"),  # ULF_NO_ERRNO: -ETIMEDOUT
        (("bsd", 515, "ulock_wait"), "error=0 result=0xfffffffc", "interrupted"),
        (("bsd", 515, "ulock_wait"), "error=0 result=2", "satisfied"),
        (("bsd", 374, "kevent_qos"), "error=0 result=0", "timed out"),
        (("bsd", 375, "kevent_id"), "error=0 result=1", "satisfied"),
        (("bsd", 368, "workq_kernreturn"), "error=-2", "satisfied"),
        (("bsd", 93, "select"), "error=-1", "interrupted"),
        (("trap", 38, "semaphore_timedwait_trap"), "result=49", "timed out"),
        (("trap", 36, "semaphore_wait_trap"), "result=14", "interrupted"),
        (("trap", 90, "mach_wait_until_trap"), "result=0", "satisfied"))


class Ends(Scene):
    """One wait of the main thread, which another thread ends; the call's end record is `end`."""

    def __init__(self, call, end):
        super().__init__(False)
        kind, number, _ = call
        self.process(500, "Mail")
        self.main, self.other = self.thread(5001), self.thread(5002)
        start = f"trap_start nr={number}" if kind == "trap" else f"syscall_start nr={number}"
        self.home(self.other)
        self.block(self.main, (start, None))
        self.work(50)
        self.device(self.other)
        self.wakes(self.other, self.main)
        self.home(self.other)
        self.runs(self.main)
        self.say(self.main, f"trap_end nr={number} {end}" if kind == "trap" else f"syscall_end nr={number} {end} pid=500")
        self.work(1)
        self.home(self.main)


class FirstItem(Scene):
    """A new worker of libdispatch begins with its first item: no call of it ends (thread_bootstrap_return)."""

    worker = 3003

    def __init__(self):
        super().__init__(False)
        self.process(300, "xpcd")
        self.creator, self.late = self.thread(3001), self.thread(self.worker)
        self.block(self.creator, PARK)
        self.work(1)
        self.device_wakes()
        self.wakes(self.creator, self.worker)
        self.sleeps(self.creator)
        self.runs(self.worker)
        self.work(5)
        self.block(self.worker, PARK)

    def device_wakes(self):
        for text in ("interrupt_start", f"mach_wake thread={self.creator}", "interrupt_end"):
            self.say(self.creator, text, on=0)
        self.runs(self.creator)
