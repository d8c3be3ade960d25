"""A small model of Apple silicon's kernel, which writes the records of xnu-11417.121.6 in the order in which its functions do, and a file
as bsd/kern/kdebug.c:1912 does. It was written from the sources alone, apart from the scenes of darwin_scene.py, and knows nothing of Argus."""
import struct

START, END = 1, 2
TH_WAIT, TH_RUN, TH_UNINT, TH_TERMINATE, TH_IDLE = 0x1, 0x4, 0x8, 0x10, 0x80  # osfmk/kern/thread.h
EJUSTRETURN = -2
INTERRUPT_TIMER, INTERRUPT_OTHER = 2, 3  # bsd/sys/kdebug.h:199
THREAD_TIMED_OUT = 1  # osfmk/kern/kern_types.h
KERNEL_TASK = 1  # the process of the kernel's threads in a thread map: bsd/sys/kdebug_private.h:484
PAGE = 16384


def code(class_, subclass, number):
    return class_ << 24 | subclass << 16 | number << 2


# osfmk/kern/sched_prim.c
SCHED, HANDOFF, MKRUNNABLE, IDLE, BLOCK, WAIT, DISPATCH = (code(1, 0x40, number) for number in (0, 2, 6, 9, 15, 16, 32))
INTERRUPT = code(1, 5, 0)  # osfmk/arm64/sleh.c:2673
THREAD_NAME, THREAD_TERMINATE = code(7, 1, 4), code(7, 0, 3)
CSWITCH, TI_DATA, GEN_EVENT = code(0x25, 1, 5), code(0x25, 1, 1), code(0x25, 0, 0)  # osfmk/kperf/buffer.h


def bsd(number):
    return code(4, 0xC, number)


def trap(number):
    return code(1, 0xC, number)


def disk(flags):
    return code(3, 2, flags)


class Kernel:
    def __init__(self, cpus=2, scheduler=True):
        self.now, self.records, self.map, self.pids = 1_000_000_000, [], [], {}
        self.scheduler = scheduler  # False: kperf alone is on
        self.idle = [10 + cpu for cpu in range(cpus)]
        self.on = list(self.idle)  # cpu → thread
        self.idles = [True] * cpus
        self.parked = set(self.idle)  # threads in a continuation: they come by a stack handoff
        for tid in self.idle:
            self.thread(tid, KERNEL_TASK, "kernel_task")

    def thread(self, tid, pid, name):
        self.map.append((tid, pid, name))
        self.pids[tid] = 0 if pid == KERNEL_TASK else pid

    def say(self, cpu, debugid, *args):
        kperf = debugid >> 24 == 0x25
        if kperf != self.scheduler:
            args = [value & (1 << 64) - 1 for value in args] + [0] * (4 - len(args))
            self.records.append((self.now, *args, self.on[cpu], debugid, cpu))
        self.now += 700

    def ms(self, ms):
        self.now += int(ms * 1_000_000)

    def cpu_of(self, tid):
        return self.on.index(tid)

    def switch(self, cpu, tid, state, handoff):
        """thread_invoke(), then thread_dispatch() in the context of the new thread; kperf_on_cpu()."""
        old = self.on[cpu]
        self.say(cpu, HANDOFF if handoff else SCHED, 0, tid, 31, 31)
        self.on[cpu], self.idles[cpu] = tid, False
        self.say(cpu, CSWITCH, tid, self.pids[tid])
        self.say(cpu, DISPATCH, old, 0, state, 1)

    def runs(self, tid, cpu=0):
        """A runnable thread comes on a cpu that idles (processor_idle())."""
        assert self.idles[cpu], self.on
        self.say(cpu, IDLE | END, 0, 3, tid, 0)
        self.switch(cpu, tid, TH_RUN | TH_IDLE, tid in self.parked)
        self.parked.discard(tid)

    def sleeps(self, tid, continuation=False, state=TH_WAIT):
        """assert_wait(), thread_block(); then the cpu idles."""
        cpu = self.cpu_of(tid)
        self.say(cpu, WAIT, 0xFFFFFE0012345678, 2, 0)
        self.say(cpu, BLOCK, 0, 0xFFFFFE0007001000 if continuation else 0)
        if continuation:
            self.parked.add(tid)
        self.switch(cpu, self.idle[cpu], state, continuation)
        self.say(cpu, IDLE | START, 0)
        self.idles[cpu] = True

    def wakes(self, cpu, tid):
        self.say(cpu, MKRUNNABLE, tid, 31, 0, 1)

    def times_out(self, cpu, tid):
        """thread_timer_expire() in the interrupt of the clock: clear_wait(THREAD_TIMED_OUT)."""
        self.say(cpu, INTERRUPT | START, 0, 0xFFFFFE0007123456, 0, INTERRUPT_TIMER)
        self.say(cpu, MKRUNNABLE, tid, 31, THREAD_TIMED_OUT, 1)
        self.say(cpu, INTERRUPT | END)

    def interrupt(self, cpu, *woken):
        self.say(cpu, INTERRUPT | START, 0, 0xFFFFFE0007123456, 0, INTERRUPT_OTHER)
        for tid in woken:
            self.wakes(cpu, tid)
        self.say(cpu, INTERRUPT | END)

    def call(self, tid, number, *args):
        self.say(self.cpu_of(tid), bsd(number) | START, *args)

    def returns(self, tid, number, error=0, result=0):
        self.say(self.cpu_of(tid), bsd(number) | END, error, result, 0, self.pids[tid])

    def sample(self, tid):
        cpu = self.cpu_of(tid)
        self.say(cpu, GEN_EVENT | START, 1, 1)
        self.say(cpu, TI_DATA, self.pids[tid], tid, 0, 3)
        self.say(cpu, GEN_EVENT | END, 1)

    def names(self, tid, name, cpu):
        """A kernel thread that comes up, takes its name, and waits for work."""
        self.runs(tid, cpu)
        self.say(cpu, THREAD_NAME, *struct.unpack("<4Q", name.encode().ljust(32, b"\0")))
        self.sleeps(tid, continuation=True)

    # --- mach_msg2 (trap 47): options, bits and size, ports ---

    def receives(self, tid):
        """The event loop's wait."""
        self.say(self.cpu_of(tid), trap(47) | START, 0x16F000000, 2, 0, 0x707)
        self.sleeps(tid, continuation=True)

    def event(self, tid, cpu=0):
        """A device sends the event loop a message."""
        self.interrupt(cpu, tid)
        self.runs(tid, cpu)
        self.say(cpu, trap(47) | END, 0)

    def sends(self, tid, options, bits, remote, local=0):
        self.say(self.cpu_of(tid), trap(47) | START, 0x16F000000, options, bits | 128 << 32, remote | local << 32)

    def sent(self, tid):
        self.say(self.cpu_of(tid), trap(47) | END, 0)

    # --- the file ---

    def write(self, path):
        """A RAW_VERSION1 file with a map of the cpus in its padding (kdbg_write_v1_header()), ticks of 125/3 ns."""
        cpus = struct.pack("<II", 0x55AA0101, len(self.idle)) + b"".join(struct.pack("<II8s", cpu, 0, b"AP") for cpu in range(len(self.idle)))
        padding = PAGE - (24 + 32 * len(self.map)) % PAGE
        extra = (padding - 4096) // 32 + 1 if padding > 4096 else 0
        data = struct.pack("<iiQI4x", 0x55AA0101, len(self.map) + extra, 1_700_000_000, 0)
        data += b"".join(struct.pack("<Qi20s", tid, pid, name.encode()) for tid, pid, name in self.map) + bytes(32 * extra)
        data += cpus.ljust(PAGE - len(data) % PAGE, b"\0")
        data += b"".join(struct.pack("<QQQQQQIIQ", now * 3 // 125, *rest, 0) for now, *rest in self.records)
        path.write_bytes(data)
