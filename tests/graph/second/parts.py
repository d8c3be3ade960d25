"""The elements of a graph in the second builder: objects that refer to each other, without IDs."""

NEVER = (1 << 64) - 1
NO_SYSCALL = 0xFFFF
FLAGS = {"first": 1, "last": 2, "forked": 4, "exited": 8, "gap": 16, "split": 32, "yields": 64, "continues": 128, "loop": 256,
         "peers": 512}
OP_SYSCALL, OP_WAKE, OP_FORK, OP_CALLBACK, OP_UI_EVENT, OP_WORK, OP_FLAG_WRITE, OP_FLAG_READ = 1, 2, 3, 5, 6, 7, 8, 9
READY, FUTEX, FAULT, BLOCK, SIGNAL = range(5)  # details of a wait
MOST_DETAILS = 33


class Wait:
    """With the kind "none" the vertex ends without a wait."""

    def __init__(self, now):
        self.kind, self.outcome, self.end = "none", "never ended", now
        self.object = self.inode = self.peer = self.type = self.holder = self.rewakes = 0
        self.timeout, self.syscall, self.result = NEVER, NO_SYSCALL, None
        self.user, self.kernel = (), ()
        self.by_timer = self.by_device = False
        self.details = []

    def add_detail(self, kind, arg):
        """Requests of one kind, to one disk and for one file, are added up."""
        for detail in self.details:
            if kind == BLOCK == detail[0] and detail[1] == arg[0] and detail[4] == arg[3]:
                detail[2] += arg[1]
                detail[3] += arg[2]
                return
        if len(self.details) < MOST_DETAILS:
            self.details.append([kind, *arg])


class Vertex:
    count = 0

    def __init__(self, thread, now, *flags):
        Vertex.count += 1
        self.made = Vertex.count
        self.thread, self.start, self.end = thread, now, now
        self.run = self.runnable = self.yields = 0
        self.repeat, self.flags = 1, set(flags)
        self.ops, self.samples, self.notes = [], [], []
        self.wait = Wait(now)
        self.self_timed = False  # a timer that the thread had armed for this wait ended it
        self.gone = False        # a rule removed the vertex

    def until(self):
        return self.end if self.wait.kind == "none" else self.wait.end

    def rank(self):
        if self.flags & {"first", "forked"}:
            return 0
        return 2 if "last" in self.flags else 1


class Edge:
    """One vertex caused another one to run. `inside`: the edge leads to a moment inside of `to`, and not to its beginning."""

    def __init__(self, source, from_ns, kind, rule, strong=True, stack=(), to=None, to_ns=0, inside=False):
        self.source, self.from_ns, self.kind, self.rule = source, from_ns, kind, rule
        self.strong, self.stack, self.to, self.to_ns, self.inside = strong, stack, to, to_ns, inside
        self.message = False

    def copy(self):
        made = Edge(self.source, self.from_ns, self.kind, self.rule, self.strong, self.stack, self.to, self.to_ns, self.inside)
        made.message = self.message
        return made


class Cause:
    """The cause of a thread's wake-up. No edge: nothing in the trace."""

    def __init__(self, edge=None, by_waker=False, by_timer=False, by_device=False, self_timed=False):
        self.edge, self.by_waker, self.by_timer = edge, by_waker, by_timer
        self.by_device, self.self_timed = by_device, self_timed

    def copy(self):
        return Cause(self.edge.copy() if self.edge else None, self.by_waker, self.by_timer, self.by_device, self.self_timed)


class Actor:
    """The originator of an action: a thread's vertex, and when it acted or requested the action."""

    def __init__(self, thread=None, vertex=None, since=0):
        self.thread, self.vertex, self.since = thread, vertex, since

    def cause(self, kind, rule):
        return Cause(Edge(self.vertex, self.since, kind, rule)) if self.vertex else Cause()


class Doing:
    """The current activity of a thread. The states: unseen, running, runnable, waiting, lost, gone."""

    def __init__(self):
        self.state, self.since = "unseen", 0
        self.vertex, self.before = None, []  # the current one, and up to two before it, latest first
        self.cause, self.early_cause, self.early_ns, self.undo_early = Cause(), None, 0, False
        self.cpu = None
        self.syscall, self.syscall_arg, self.syscall_known = NO_SYSCALL, [0] * 4, False
        self.interrupted, self.goes_on = None, False  # a call that can be restarted; the current call restarts it
        self.op_open = self.wait_open = self.acted = self.exiting = self.trapped = False
        self.ops = []
        self.own_timer, self.word = None, None
        self.open, self.loop, self.has_turns = [], Actor(), False
        self.marks, self.had_message = {}, False
        self.forget_notes()

    def forget_notes(self):
        self.user, self.kernel, self.object, self.holder, self.mapping = (), (), None, 0, None

    def previous(self):
        return self.before[0] if self.before else None

    def waited(self):
        """The vertex whose wait is in progress, or has just ended."""
        return self.vertex if self.state in ("waiting", "lost") else self.previous()


class Timer:
    def __init__(self):
        self.owner = self.vertex = None
        self.armed = self.expiry = 0


class Request:
    def __init__(self, issuer, record):
        self.issuer, self.target, self.bytes = issuer, record.arg[3], record.arg[2]
        self.sector = record.arg[1]
        self.inode = self.done = 0
        self.issued = True


class Signal:
    def __init__(self, sender, number, code, woke):
        self.sender, self.number, self.code, self.woke, self.taken = sender, number, code, woke, False

    def detail(self):
        return [self.number, self.sender.thread.tid if self.sender.thread else 0, self.code, 0]


class Cpu:
    """The current activity of a CPU. `past`: the kinds of its last records without notes, the current one last."""

    def __init__(self):
        self.thread, self.tid, self.known = None, None, False
        self.interrupts, self.softirqs, self.softirq_from_interrupt = 0, set(), False
        self.firing = []
        self.past = []
        self.completing = self.completed = self.completed_by = None
        self.completed_at, self.completed_bytes = 0, 0
        self.softirq_work, self.itimer, self.last_new = None, None, None
        self.woken, self.wakee, self.wake_stack = [], None, None
        self.records = 0

    def interrupted(self):
        return bool(self.interrupts or self.softirqs or self.firing)

    def completion_goes_on(self):
        """Records like this one may come between a completion and the events that it causes."""
        if self.completed and self.completed_at + 1 == self.records:
            self.completed_at = self.records

    def timer(self):
        return self.firing[-1][1] if self.firing else None

    def end_interrupts(self):
        self.interrupts, self.softirqs, self.firing = 0, set(), []
        self.completing = self.softirq_work = None
