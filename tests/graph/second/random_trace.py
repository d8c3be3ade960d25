"""Random small traces as text for mktrace.

Most are plausible: a few threads on two cpus call, wait, wake, are interrupted, fork and die, and emit the recorder's records.
Then some are disturbed: records left out or moved, losses, and nonsensical records. There are few different numbers (five
timers, four inodes …), so that records are related to each other. No two records have the same time, because the order of two
simultaneous vertices is undefined.
"""
import random

TIMERS, REQUESTS, WORKS, KEYS, INODES = range(1, 6), range(1, 4), range(1, 4), range(1, 5), range(1, 5)
STACKS = {1: [0x401000, 0x402000], 2: [0x401000, 0x403000], 3: [0x404000], 4: [0xFFFFFFFF81000000]}
SIGNALS = [5, 9, 10, 14, 15, 17, 18, 19]
TIDS = list(range(10, 18))
CALLS = ["read", "write", "poll", "futex", "nanosleep", "clock_nanosleep", "sched_yield", "kill", "wait4", "fsync", "sendto",
         "recvfrom", "exit", "exit_group", "waitid", "close", "pause", "getpid", "openat", "ppoll", "select"]
FUTEX_OPERATIONS = [128, 129, 3, 4, 5, 6, 7, 9, 137, 11, 12, 13]
ERRORS = [0, 0, 0, 0, 4, 11, 110, 32, 516]
TABLES = """cpus 3
thread 10 pid 10 ppid 1 name editor
thread 11 pid 10 name "editor worker"
thread 12 pid 12 name server
thread 13 pid 13 kernel name ksoftirqd/0
thread 14 pid 14 kernel name kworker/0:1
thread 15 pid 15 name shell
thread 16 pid 16 kernel name irq/25-disk
probe 1 7 source
probe 2 7 idle
probe 3 0 toolkit
probe 4 8 other
flag 1 10 0x9000 flip bytes 4 semantics flip
flag 2 10 0x9008 queue bytes 4 value 1 semantics queue
"""


class Thread:
    def __init__(self, tid, pid):
        self.tid, self.pid, self.state, self.call, self.cpu = tid, pid, "asleep", None, None
        self.why, self.timer, self.restarts = None, None, False


class Machine:
    """A small machine that runs, and the lines that its recorder would write."""

    def __init__(self, rng):
        self.rng, self.now, self.lines = rng, 1_000_000, []
        self.threads = {tid: Thread(tid, pid) for tid, pid in ((10, 10), (11, 10), (12, 12), (13, 13), (14, 14), (15, 15))}
        self.on = {0: None, 1: None}
        self.sent, self.queued, self.issued, self.addresses = [], [], [], 100
        self.accesses = 0
        self.armed = {}
        self.favourites = rng.sample(CALLS, 2)
        self.step = rng.choice([300, 3_000, 200_000])
        self.habits = {action: rng.choice([0, 1, 1, 3]) for action in ACTIONS}

    def emit(self, cpu, text, tid=None):
        self.now += self.rng.randint(1, self.step)
        thread = self.on[cpu]
        tid = (thread.tid if thread else 0) if tid is None else tid
        self.lines.append(f"{self.now} cpu{cpu} t{tid} {text}")

    def switch(self, cpu, state, following):
        thread = self.on[cpu]
        if thread and state == "R":
            self.lines.append(f"{self.now} cpu{cpu} t{thread.tid} cpu_limits cpus={1 + cpu} group={thread.tid % 2}")
        self.emit(cpu, f"switch state={state} next={following.tid if following else 0}")
        if thread:
            thread.state, thread.cpu = {"R": "runnable", "X": "dead"}.get(state, "asleep"), None
            thread.why = state
        self.on[cpu] = following
        if following:
            following.state, following.cpu = "running", cpu

    def runnable(self):
        ready = [thread for thread in self.threads.values() if thread.state == "runnable"]
        return self.rng.choice(ready) if ready else None

    def asleep(self):
        found = [thread for thread in self.threads.values() if thread.state == "asleep"]
        return self.rng.choice(found) if found else None

    def wake(self, cpu, context, thread=None, stack=True):
        thread = thread or self.asleep()
        if not thread or thread.state not in ("asleep", "runnable"):
            return
        before = stack and self.rng.random() < 0.2
        if before:
            self.emit(cpu, f"stack user={self.rng.choice(list(STACKS))} why=wake")
        self.emit(cpu, f"make_runnable thread={thread.tid} context={context}")
        if not before and stack and self.rng.random() < 0.3:
            self.emit(cpu, f"stack user={self.rng.choice(list(STACKS))} why=wake")
        thread.state = "runnable"

    def run(self, steps):
        for _ in range(steps):
            cpu = self.rng.choice([0, 1])
            thread = self.on[cpu]
            if not thread:
                if self.rng.random() < 0.6 and self.runnable():
                    self.switch(cpu, "R", self.runnable())
                else:
                    self.interrupt(cpu)
                continue
            names = [name for name in ACTIONS if self.habits[name]]
            weights = [self.habits[name] * ACTIONS[name][1] for name in names]
            if not names or sum(weights) == 0:
                self.block(cpu, thread)
                continue
            ACTIONS[self.rng.choices(names, weights)[0]][0](self, cpu, thread)
        return self.lines

    # --- the actions of a thread ---

    def enter(self, cpu, thread, name=None):
        name = name or self.rng.choice(self.rng.choice([CALLS, self.favourites]))
        if thread.restarts and self.rng.random() < 0.7:
            name = "restart_syscall"
        thread.restarts = False
        thread.call = name
        second = self.rng.choice([0, 1, 2, *(FUTEX_OPERATIONS if name == "futex" else ())])
        self.emit(cpu, f"syscall_start nr={name} arg1={self.rng.randint(0, 2)} arg2={second} arg3={self.rng.choice([0, 1, 1, 2])}")

    def leave(self, cpu, thread):
        name = thread.call or self.rng.choice(CALLS)
        error = self.rng.choice(ERRORS)
        thread.restarts = error == 516
        result = "" if error else f" result={self.rng.randint(0, 2)}"
        self.emit(cpu, f"syscall_end nr={name} error={error}{result} pid={thread.pid}")
        thread.call = None

    def call(self, cpu, thread):
        if thread.call:
            self.leave(cpu, thread)
        else:
            self.enter(cpu, thread)

    def note(self, cpu, thread):
        pick = self.rng.choice(["object", "lock", "mapping", "ready", "stack"])
        inode = self.rng.choice(INODES)
        self.emit(cpu, {
            "object": f"object fd=5 inode={inode} peer={inode + 1} mode=fifo",
            "lock": f"lock address=0x7000 word={self.rng.choice([2, 2, 3, 11, 12])} owner={self.rng.choice(TIDS)}",
            "mapping": f"mapping address=0x7000 inode={inode} why={self.rng.choice([1, 2])}",
            "ready": f"ready fd=5 inode={inode}",
            "stack": f"stack user={self.rng.choice(list(STACKS))} kernel=4 why=block"}[pick])

    def arm(self, cpu, thread):
        timer = self.rng.choice(TIMERS)
        self.armed[timer] = thread
        self.emit(cpu, f"timer_armed timer={timer} expiry={self.now + self.rng.randint(0, 10 * self.step)}")

    def block(self, cpu, thread):
        if not thread.call and self.rng.random() < 0.7:
            self.enter(cpu, thread)
        for _ in range(self.rng.choice([0, 0, 1, 2])):
            self.note(cpu, thread)
        if self.rng.random() < 0.3:
            self.arm(cpu, thread)
        state = self.rng.choice(["S", "S", "S", "D", "T"])
        self.switch(cpu, state, self.runnable())
        if self.rng.random() < 0.1:
            self.emit(cpu, f"stack user={self.rng.choice(list(STACKS))} why=block", thread.tid)

    def sleep_turns(self, cpu, thread):
        """A loop that sleeps: the thread's own timer ends each turn."""
        timer = self.rng.choice(TIMERS)
        other = self.on[cpu]
        if thread.call:
            self.leave(cpu, thread)
        name = self.rng.choice(["nanosleep", "poll", "futex"])
        for _ in range(self.rng.randint(2, 6)):
            self.enter(cpu, thread, name)
            self.emit(cpu, f"timer_armed timer={timer} expiry={self.now + 1000}")
            self.switch(cpu, "S", None)
            self.emit(cpu, "interrupt_start irq=1")
            self.emit(cpu, f"timer_fired_start timer={timer}")
            self.wake(cpu, "hardirq", thread, stack=False)
            self.emit(cpu, f"timer_fired_end timer={timer}")
            self.emit(cpu, "interrupt_end irq=1")
            self.switch(cpu, "R", thread)
            error = {"nanosleep": 0, "poll": 0, "futex": 110}[name]
            self.emit(cpu, f"syscall_end nr={name} error={error} pid={thread.pid}")
            thread.call = None
            if self.rng.random() < 0.2:
                self.wake(cpu, "task")
        assert other is thread

    def rewait(self, cpu, thread):
        """Woken, and waits again inside the same call."""
        if not thread.call:
            self.enter(cpu, thread, self.rng.choice(["futex", "poll", "read"]))
        for _ in range(self.rng.randint(1, 3)):
            self.switch(cpu, "S", None)
            self.wake(cpu, self.rng.choice(["task", "softirq", "hardirq"]), thread)
            self.switch(cpu, "R", thread)

    def contend(self, cpu, thread):
        """The thread waits for a futex, which the other CPU wakes; or for a socket whose other end is on this machine."""
        waker = self.on[1 - cpu]
        if not waker:
            return
        waits, wakes = self.rng.choice([("futex", "futex"), ("recvfrom", "sendto"), ("sendto", "recvfrom"), ("poll", "write")])
        if thread.call:
            self.leave(cpu, thread)
        self.enter(cpu, thread, waits)
        if self.rng.random() < 0.5:
            self.note(cpu, thread)
        self.switch(cpu, "S", None)
        if waker.call:
            self.leave(1 - cpu, waker)
        self.enter(1 - cpu, waker, wakes)
        if wakes == "futex":
            self.wake(1 - cpu, "task", thread)
            return
        self.emit(1 - cpu, "softirq_start vector=net_rx")
        self.wake(1 - cpu, "softirq", thread)
        self.emit(1 - cpu, "softirq_end vector=net_rx")

    def early(self, cpu, thread):
        """Woken by another CPU while it is leaving its own."""
        other = 1 - cpu
        if not thread.call:
            self.enter(cpu, thread)
        self.emit(other, f"make_runnable thread={thread.tid} context={self.rng.choice(['task', 'hardirq'])}")
        self.switch(cpu, "S", None)
        thread.state = "runnable"
        if self.rng.random() < 0.3:
            self.wake(other, "task", thread)

    def wake_somebody(self, cpu, thread):
        self.wake(cpu, "task")

    def preempt(self, cpu, thread):
        self.switch(cpu, "R", self.runnable())

    def fork(self, cpu, thread):
        free = [tid for tid in TIDS if tid not in self.threads or self.threads[tid].state == "dead"]
        if not free:
            return
        tid, process = self.rng.choice(free), self.rng.choice([0, 1])
        child = self.threads[tid] = Thread(tid, tid if process else thread.pid)
        self.emit(cpu, f"new_thread thread={tid} pid={child.pid} new_process={process} parent={thread.pid}")
        self.emit(cpu, "name_new name=child")
        self.emit(cpu, f"make_runnable thread={tid} new=1 context=task")
        child.state = "runnable"
        if self.rng.random() < 0.3:
            self.emit(cpu, f"exec pid={thread.pid}")
            self.emit(cpu, "name_exec name=program")

    def exit(self, cpu, thread):
        if self.rng.random() < 0.7:
            self.enter(cpu, thread, "exit")
        self.emit(cpu, f"thread_exit thread={thread.tid} last={self.rng.choice([0, 1])}")
        if self.rng.random() < 0.7:
            self.wake(cpu, "task")
        self.switch(cpu, "X", self.runnable())

    def sample(self, cpu, thread):
        self.emit(cpu, f"sample user={self.rng.choice(list(STACKS))} kernel=4 pc=0x401234")

    def signal(self, cpu, thread):
        target = self.rng.choice(list(self.threads.values()))
        number = self.rng.choice(SIGNALS)
        if self.rng.random() < 0.5:
            self.enter(cpu, thread, "kill")
        if self.rng.random() < 0.5:
            self.wake(cpu, "task", target, stack=False)
        if self.rng.random() < 0.2:
            self.emit(cpu, "timer_armed timer=0x77")  # armed by the scheduler for the end of the time slice
        whole = self.rng.choice([0, 1])
        self.emit(cpu, f"signal_sent signal={number} thread={target.tid} process={whole} result={self.rng.choice([0, 0, 0, 2, 4])}")

    def flag(self, cpu, thread):
        self.accesses += 1
        if self.accesses % 8 == 3:  # in memory that others may share; not by chance, which would change all other records
            which = self.accesses // 8
            self.lines.append(f"{self.now} cpu{cpu} t{thread.pid} flag_shared flag={[0x9000, 0x9008][which % 2]} inode=77 device=1 "
                              f"offset={which // 2 % 2 * 64}")
        name = self.rng.choice(["flag_write", "flag_read", "flag_read"])
        sequence = self.rng.choice([0, self.accesses, self.accesses, max(self.accesses - 2, 0)])
        self.emit(cpu, f"{name} flag={self.rng.choice([0x9000, 0x9008])} value={self.rng.choice([0, 1, 2, 257])} "
                       f"bytes={self.rng.choice([0, 1, 4])} sequence={sequence}")

    def take_signal(self, cpu, thread):
        self.emit(cpu, f"signal_delivered signal={self.rng.choice(SIGNALS)} handler=0x401000")

    def itimer(self, cpu, thread):
        self.emit(cpu, f"itimer_armed which={self.rng.choice([0, 1])} value=5")

    def send(self, cpu, thread):
        kind, place = self.rng.choice(["unix_datagram", "unix_stream", "pipe", "eventfd"]), 0
        self.addresses += 8
        place = self.addresses
        self.sent.append((kind, place))
        if not thread.call:
            self.enter(cpu, thread, "sendto")
        self.emit(cpu, f"message channel={ord(kind[0])} kind={kind} flags=sent bytes=8 position={place}")

    def receive(self, cpu, thread):
        if not self.sent:
            return
        if thread.call:
            self.leave(cpu, thread)
        self.enter(cpu, thread, "recvfrom")
        look, first = self.rng.random() < 0.2, self.rng.random() < 0.7
        kind, place = self.sent[0] if look else self.sent.pop(0 if first else self.rng.randrange(len(self.sent)))
        flags = "looked" if look else "received"
        self.emit(cpu, f"message channel={ord(kind[0])} kind={kind} flags={flags} bytes=8 position={place}")

    def queue_callback(self, cpu, thread):
        what = self.rng.choice(["queued", "queued", "cancelled"])
        self.emit(cpu, f"callback_{what} key={self.rng.choice(KEYS)} probe={self.rng.choice([1, 2, 4, 9])}")

    def callback(self, cpu, thread):
        sp = self.rng.choice([0x7000, 0x7800, 0x8000, 0x8800, 0x9000])
        self.emit(cpu, self.rng.choice([
            f"callback_start key={self.rng.choice([0, *KEYS])} function=0x402000 probe={self.rng.choice([1, 2, 4])} sp={sp}",
            f"callback_start key={self.rng.choice(KEYS)} function=0x402000 probe=2 sp={sp}",
            f"callback_end key={self.rng.choice([0, 0, 1])} probe=1 sp={sp}",
            f"ui_event kind={self.rng.choice([1, 3, 5, 77])} probe=3 sp={self.rng.choice([0, sp])}",
            f"ui_event kind=3 probe=3 sp={self.rng.choice([0, sp])}",
            "handler function=0x403000 probe=3"]))

    def work(self, cpu, thread):
        work = self.rng.choice(WORKS)
        self.emit(cpu, self.rng.choice([f"work_queued work={work} function=0x500 context=task",
                                        f"work_start work={work} function=0x500", f"work_end work={work}"]))

    def block_io(self, cpu, thread):
        request = self.rng.choice(REQUESTS)
        if self.rng.random() < 0.3:
            self.emit(cpu, f"block_queued request={request} sector={self.rng.choice([0, 8])}")
        if self.rng.random() < 0.2:
            return
        self.emit(cpu, f"block_issued request={request} sector={self.rng.choice([0, 8])} bytes=4096 device={self.rng.choice([8, 9])} op={self.rng.choice([0, 1])}")
        if self.rng.random() < 0.5:
            self.emit(cpu, f"block_file request={request} inode={self.rng.choice(INODES)}")
        if self.rng.random() < 0.1:
            self.emit(cpu, f"block_completed request={request} bytes=4096")
            self.wake(cpu, "task")

    # --- events on a CPU ---

    def interrupt(self, cpu, _=None):
        soft_only = self.rng.random() < 0.3
        if not soft_only:
            self.emit(cpu, "interrupt_start irq=1")
            self.inside(cpu, "hardirq")
            if self.rng.random() < 0.1:
                self.emit(cpu, "interrupt_start irq=2")
                self.inside(cpu, self.rng.choice(["hardirq", "unknown"]))
                self.emit(cpu, "interrupt_end irq=2")
            self.emit(cpu, "interrupt_end irq=1")
        for _ in range(self.rng.choice([0, 1, 1, 2]) if not soft_only else 1):
            vector = self.rng.choice(["timer", "net_rx", "net_rx", "net_rx", "block_done", "sched", "hrtimer", "rcu"])
            self.emit(cpu, f"softirq_start vector={vector}")
            self.inside(cpu, self.rng.choice(["softirq", "softirq", "unknown"]))
            self.emit(cpu, f"softirq_end vector={vector}")
        if self.rng.random() < 0.1:
            self.wake(cpu, self.rng.choice(["task", "unknown"]))

    def inside(self, cpu, context):
        """The contents of an interrupt or softirq."""
        what = self.rng.choice(["timer", "block", "wake", "work", "signal", "nothing"])
        if what == "timer":
            timer = self.rng.choice(TIMERS)
            self.emit(cpu, f"timer_fired_start timer={timer}")
            self.wake(cpu, context, self.armed.get(timer) if self.rng.random() < 0.7 else None, stack=False)
            if self.rng.random() < 0.2:
                self.emit(cpu, f"timer_armed timer={timer} expiry={self.now + 5000}")
            self.emit(cpu, f"timer_fired_end timer={timer}")
            if self.rng.random() < 0.3:
                self.emit(cpu, f"timer_armed timer={timer} expiry={self.now + 5000}")
        elif what == "block":
            for _ in range(self.rng.choice([1, 1, 2])):
                self.emit(cpu, f"block_completed request={self.rng.choice(REQUESTS)} bytes={self.rng.choice([4096, 4096, 512])}")
            self.wake(cpu, context)
        elif what == "work":
            work = self.rng.choice(WORKS)
            self.emit(cpu, f"work_start work={work} function=0x600")
            self.wake(cpu, context)
            self.emit(cpu, f"work_end work={work}")
        elif what == "signal":
            if self.rng.random() < 0.5:
                self.emit(cpu, f"itimer_fired which={self.rng.choice([0, 1])} pid=10")
            self.wake(cpu, context, stack=False)
            self.emit(cpu, f"signal_sent signal=14 thread={self.rng.choice(TIDS)} process=1 context={context}")
        elif what == "wake":
            self.wake(cpu, context)


ACTIONS = {
    "call": (Machine.call, 4), "block": (Machine.block, 3), "wake": (Machine.wake_somebody, 4), "preempt": (Machine.preempt, 1),
    "interrupt": (Machine.interrupt, 3), "fork": (Machine.fork, 0.5), "exit": (Machine.exit, 0.3), "sample": (Machine.sample, 1),
    "signal": (Machine.signal, 1), "take": (Machine.take_signal, 1), "itimer": (Machine.itimer, 0.3), "send": (Machine.send, 1),
    "receive": (Machine.receive, 1.5), "queue": (Machine.queue_callback, 1), "callback": (Machine.callback, 3),
    "work": (Machine.work, 2), "block_io": (Machine.block_io, 1), "arm": (Machine.arm, 1), "note": (Machine.note, 1),
    "flag": (Machine.flag, 1.5), "turns": (Machine.sleep_turns, 0.5), "rewait": (Machine.rewait, 0.5),
    "contend": (Machine.contend, 1.5), "early": (Machine.early, 0.7),
}


def nonsense(rng):
    """Any record with any arguments, except those that a reader refuses."""
    names = ["switch", "make_runnable", "interrupt_start", "interrupt_end", "timer_armed", "timer_cancelled", "timer_fired_start",
             "timer_fired_end", "syscall_start", "syscall_end", "object", "lock", "new_thread", "exec", "thread_exit", "stack",
             "sample", "softirq_start", "softirq_end", "work_start", "work_end", "work_queued", "block_issued", "block_queued",
             "block_completed", "block_file", "itimer_armed", "itimer_fired", "signal_sent", "signal_delivered", "ready", "mapping", "file_lock",
             "callback_queued", "callback_cancelled", "callback_start", "callback_end", "ui_event", "handler", "flag_write",
             "flag_read"]
    name = rng.choice(names)
    values = [0, 0, 1, 1, 2, 3, 4, 10, 11, 12, 13, 14, 15, 128, 0x8000]
    call = f" nr={rng.choice(CALLS)}" if name.startswith("syscall") else ""
    return name + call + "".join(f" arg{i}={rng.choice(values)}" for i in range(1, 5))


def disturb(rng, lines):
    """Leaves out, repeats and adds lines; each remaining line keeps its time."""
    how = rng.choice(["not", "not", "missing", "nonsense", "lost", "all"])
    result = []
    for line in lines:
        time, cpu, tid, rest = line.split(" ", 3)
        if how in ("missing", "all") and rng.random() < 0.05:
            continue
        if how in ("nonsense", "all") and rng.random() < 0.08:
            tid = rng.choice([tid, tid, tid, f"t{rng.choice(TIDS)}"])
            rest = nonsense(rng)
        if how in ("lost", "all") and rng.random() < 0.02:
            result.append(f"lost {cpu} 3")
            if rng.random() < 0.7:
                continue
        result.append(f"{time} {cpu} {tid} {rest}")
    return result


def random_trace(seed, longest=120):
    """The lines of a trace; tables first."""
    rng = random.Random(seed)
    machine = Machine(rng)
    lines = disturb(rng, machine.run(rng.randint(5, longest)))
    tables = [line for line in TABLES.splitlines() if line.startswith(("cpus", "probe")) or rng.random() < 0.9]
    stacks = [f"stack {number} " + " ".join(hex(frame) for frame in frames) for number, frames in STACKS.items()]
    return tables + stacks, lines


# Each category that can be left out, some together as the recorder does, and the stacks, of which nothing is to be forgotten.
LEFT_OUT = [1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9, 0x206]


def with_left_out(seed):
    """The same trace, but the recorder leaves out categories now and then."""
    tables, lines = random_trace(seed)
    rng, result, out = random.Random(~seed), [], 0
    for line in lines:
        if line[0].isdigit() and rng.random() < 0.03:
            for changed in rng.choices(LEFT_OUT, k=rng.choice([1, 2])):
                out ^= changed
                result.append(f"{line.split()[0]} cpu0 t0 left_out categories={out} changed={changed}")
        result.append(line)
    return tables, result
