"""Scenes of waits that the kernel ends in its own way: through one of its threads, or without a return to the caller."""
import darwin_scene as darwin
from semantics_scenes import Scene, answer


class Network(Scene):
    """The main thread waits for a thread in recvfrom(), which a thread of the kernel wakes: an interrupt has woken that one."""

    def __init__(self):
        super().__init__(False)
        self.process(0, "kernel_task", kernel=True)
        self.input = self.thread(90, "dlil_input_en0")
        self.process(500, "Mail")
        self.main = self.thread(5001)
        self.loader = self.thread(5002, "loader")
        self.home(self.main)
        self.sleeps(self.input)
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
        self.begin(self.loader, ("syscall_start nr=29 arg1=5", ("bsd", 29, 500)))
        self.sleeps(self.loader)
        self.work(ms)
        for text in ("interrupt_start", f"mach_wake thread={self.input}", "interrupt_end"):
            self.say(self.input, text, on=0)
        self.runs(self.input)
        self.say(self.input, f"mach_wake thread={self.loader}")
        self.sleeps(self.input)
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
