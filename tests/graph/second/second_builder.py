#!/usr/bin/env python3
"""A second builder of the event graph: slow and simple, written from docs/graph-rules.md, rules.def and the headers.

    second_builder.py FILE.argus        prints the graph as JSON, in the form of finished.canonical()

It keeps everything in objects and searches where the C builder has an index. property.py compares the two. It does not pair
sends with receives, which tests/event and tests/messages test. The pairs are its input, and without them its graph has no
message edges. It does not know function names either, by which a call stack can change the meaning of a futex wake-up
(patterns.def), so it cannot handle traces with symbols.
"""
import json
import sys
import types

import finished
import lives
from call_records import CallRecords
from callbacks import Callbacks
from flag_accesses import FlagAccesses
from parts import BLOCK, NO_SYSCALL, OP_FORK, OP_WAKE, OP_WORK, READY, SIGNAL, Actor, Cause, Cpu, Edge, Request, Signal, Timer
from splits import Message
from threads import Threads
from trace_input import LOST, UNKNOWN_CALL, Input, syscalls
from waits import Waits
from wakeups import Wakeups

CALLS = syscalls()
# These may follow the switch of their thread.
NOTES = {"stack", "object", "lock", "file_lock", "file_lock_name", "open_end", "waiting", "remote", "file_name", "call_path",
         "flag_shared", "shared_memory", "suspended", "clock_step", "left_out"}
STOPS, CONTINUE, TRAP, CHILD = {19, 20, 21, 22}, 18, 5, 17
MOST_WOKEN, MOST_FIRING = 16, 4
MUTEX_HAS_WAITERS, TID_MASK = 2, 0x3FFFFFFF


def name_hash(name):
    value = 2166136261
    for byte in name:
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value & 0xFFFFFF


class Builder(Threads, Callbacks, CallRecords, FlagAccesses, Waits, Wakeups):
    def __init__(self, source, pairs=()):
        self.input, self.end = source, source.end
        self.lives = lives.Lives(source.threads)
        self.now = self.last_lost = 0
        self.cpus, self.timers, self.works, self.requests, self.queued = {}, {}, {}, {}, {}
        self.queued, self.reads, self.signals, self.stops, self.itimers = {}, {}, {}, {}, {}
        self.uses, self.messages, self.rules, self.flags, self.open_fds = {}, {}, {}, {}, {}
        self.shared_flags = {}
        self.edges, self.notes, self.samples, self.message_points = [], [], [], []
        self.vertices = Lines()
        for record in source.records:
            self.take(record)
        self.lives.tables_until(1 << 64)
        self.end = max(self.end, self.now)
        for thread in self.lives.threads:
            self.close(thread)
        self.add_messages(pairs)

    def count(self, rule):
        self.rules[rule] = self.rules.get(rule, 0) + 1

    def call(self, number):
        return CALLS.get(number, UNKNOWN_CALL) if self.input.linux else UNKNOWN_CALL

    def stack(self, identity):
        return tuple(self.input.stacks.get(identity, ()))

    # --- one record ---

    def take(self, record):
        self.now = record.time
        self.lives.tables_until(record.time)
        cpu = self.cpus.setdefault(record.cpu, Cpu())
        if record.name not in NOTES and record.name != LOST:
            if not cpu.known or cpu.tid != record.tid:
                self.find_on(cpu, record.tid)
            self.forget(cpu, record)
        getattr(self, "on_" + record.name)(cpu, record)

    def find_on(self, cpu, tid):
        """A thread that emits a record is on the CPU, whatever the previous records implied."""
        if cpu.known and cpu.thread:
            self.lose(cpu.thread, 0)
        cpu.tid, cpu.known, cpu.thread = tid, True, self.lives.thread(tid)
        if cpu.thread:
            self.runs(cpu.thread, cpu, False)

    @staticmethod
    def forget(cpu, record):
        """Drops the state to which only the next record may refer."""
        cpu.records += 1
        cpu.past = cpu.past[-3:] + [(record.name, record.func, None)]
        cpu.wakee = None
        if record.name in ("make_runnable", "timer_armed"):
            return
        cpu.wake_stack = None
        if not cpu.interrupted():
            cpu.completing = None
        if record.name != "signal_sent":
            cpu.woken, cpu.itimer = [], None

    def actor(self, cpu, said):
        """The originator of the CPU's current action."""
        if self.context(cpu, said) == "task":
            vertex = cpu.thread.doing.vertex if cpu.thread else None
            return Actor(cpu.thread, vertex, self.now) if vertex else Actor()
        if cpu.firing:
            timer = cpu.timer()
            return Actor(timer.owner, timer.vertex, timer.armed) if timer and timer.vertex else Actor()
        if cpu.completing:
            return cpu.completed_by.issuer
        return cpu.softirq_work or Actor()

    # --- switches and wake-ups ---

    def on_switch(self, cpu, record):
        if cpu.thread:
            self.leaves(cpu.thread, record.arg[0] if self.input.linux else 0)
        cpu.end_interrupts()
        cpu.tid, cpu.known, cpu.thread = record.arg[1], True, self.lives.thread(record.arg[1])
        if cpu.thread:
            self.runs(cpu.thread, cpu, True)
            self.softirqs_go_to(cpu, cpu.thread)

    @staticmethod
    def softirqs_go_to(cpu, thread):
        """Keeps the last completion valid, because the next wake-up may still result from it."""
        if thread.process.kernel and thread.name.startswith(b"ksoftirqd/"):
            cpu.completion_goes_on()

    def on_lost(self, cpu, record):
        self.last_lost = self.now
        if cpu.known and cpu.thread:
            self.lose(cpu.thread, record.arg[1])
        cpu.end_interrupts()
        cpu.known, cpu.thread, cpu.last_new = False, None, None

    def on_make_runnable(self, cpu, record):
        wakee = self.lives.thread(record.arg[0])
        if not wakee or wakee is cpu.thread or (record.arg[2] == 1 and wakee.doing.state == "runnable"):
            return
        self.softirqs_go_to(cpu, wakee)
        cause = self.who_is_behind(cpu, record, wakee)
        if cpu.completing and wakee.doing.state == "waiting":
            request = cpu.completing
            self.add_detail(wakee, BLOCK, [request.target, cpu.completed_bytes, 1, request.inode])
        if len(cpu.woken) < MOST_WOKEN:
            cpu.woken.append(wakee)
        if cause.by_waker and wakee.process is not cpu.thread.process:
            main = self.main_thread(wakee)
            self.add_op(cpu.thread, OP_WAKE << 24 | name_hash(main.name))
        self.woken(wakee, cause)
        if cause.by_waker and cpu.wake_stack is None:
            cpu.wakee = wakee
        cpu.wake_stack = None

    def main_thread(self, thread):
        main = self.lives.find(thread.process.pid)
        return main if main and main.process is thread.process else thread

    def on_stack(self, cpu, record):
        user, kernel = self.stack(record.arg[0]), self.stack(record.arg[1])
        if record.arg[2] == 2:
            if cpu.wakee is None:
                cpu.wake_stack = user or None
                return
            doing = cpu.wakee.doing
            cause = doing.early_cause if doing.state == "running" else doing.cause
            if cause and cause.edge and not cause.edge.stack:
                cause.edge.stack = user
            cpu.wakee = None
        elif record.arg[2] == 1 and self.lives.find(record.tid):
            self.note_stack(self.lives.find(record.tid), user, kernel)

    def on_sample(self, cpu, record):
        if cpu.thread and cpu.thread.doing.vertex:
            self.samples.append((cpu.thread.doing.vertex, {
                "time": self.now, "pc": record.arg[2], "user": list(self.stack(record.arg[0])),
                "kernel": list(self.stack(record.arg[1]))}))

    # --- what comes with system calls ---

    def on_syscall_more(self, cpu, record):
        pass

    def on_object(self, cpu, record):
        thread, inode = self.lives.find(record.tid), record.arg[1]
        if not thread or not inode:
            return
        self.note_object(thread, record.arg)
        call = self.call(thread.doing.syscall)
        writes = int(call.wait == "write" or call.sends)
        _, last, before = self.uses.get((inode, thread), [0, 0, 0])
        self.uses[inode, thread] = [record.arg[2], self.now if writes or not before & 1 else last, before | writes | 2 * call.changes]

    def on_lock(self, cpu, record):
        waiter = self.lives.find(record.tid)
        word = record.arg[1] & 0xFFFFFFFF
        if waiter:
            waiter.doing.word = word
        is_mutex = word == MUTEX_HAS_WAITERS
        tid = record.arg[2] & 0xFFFFFFFF if is_mutex else word & TID_MASK
        holder = self.lives.find(tid)
        if waiter and holder and holder is not waiter and (is_mutex or holder.process is waiter.process):
            self.note_holder(waiter, tid)

    def on_ready(self, cpu, record):
        doing = cpu.thread.doing if cpu.thread else None
        if doing and doing.wait_open and doing.previous() and doing.previous().wait.syscall == doing.syscall:
            doing.previous().wait.add_detail(READY, record.arg)

    def on_mapping(self, cpu, record):
        if cpu.thread:
            self.note_mapping(cpu.thread, record.arg)

    def on_message(self, cpu, record):
        thread = cpu.thread
        if not thread or not thread.doing.vertex:
            return
        message = Message(thread, self.now, bool(record.arg[1] >> 56 & 1))
        self.message_points.append(message)
        self.messages[thread.life, self.now] = message
        thread.doing.marks["last"], thread.doing.had_message = message.now, True

    def add_messages(self, pairs):
        for sender, sent, receiver, received, exact in pairs:
            send, receive = self.messages[sender, sent], self.messages[receiver, received]
            send.partner, receive.partner = send.partner or receive, receive.partner or send
            self.edges.append(Edge(send.vertex, min(sent, received), "message", "message", bool(exact),
                                   to=receive.vertex, to_ns=received, inside=True))

    # --- interrupts and timers ---

    def pause(self, cpu):
        if cpu.thread and not cpu.interrupted():
            self.account(cpu.thread, self.now)
            self.count("boundary.interrupt")

    def resume(self, cpu):
        if cpu.thread and not cpu.interrupted() and cpu.thread.doing.state == "running":
            cpu.thread.doing.since = self.now

    @staticmethod
    def just_before(cpu):
        return cpu.past[-2] if len(cpu.past) > 1 else (None, 0, None)

    def on_interrupt(self, cpu, record):
        if record.func == 1:
            self.pause(cpu)
            cpu.interrupts += 1
        elif cpu.interrupts:
            cpu.completion_goes_on()
            cpu.interrupts -= 1
            cpu.past[-1] = ("interrupt", 2, "left")
            self.resume(cpu)

    def on_softirq(self, cpu, record):
        """If the end of an interrupt begins a softirq, the softirq belongs to the device; so does the softirq after it."""
        vector = record.arg[0] & 63
        cpu.completion_goes_on()
        if record.func == 1:
            self.pause(cpu)
            if not cpu.softirqs:
                cpu.softirq_from_interrupt = self.just_before(cpu)[2] == "left"
            cpu.softirqs.add(vector)
        elif vector in cpu.softirqs:
            cpu.softirqs.remove(vector)
            if cpu.softirq_from_interrupt:
                cpu.past[-1] = ("softirq", 2, "left")
            self.resume(cpu)

    def on_timer_fired(self, cpu, record):
        if record.func == 1:
            self.pause(cpu)
            if len(cpu.firing) == MOST_FIRING:
                cpu.firing = []
            cpu.firing.append((record.arg[0], self.timers.get(record.arg[0])))
        elif cpu.firing:
            timer = cpu.timer()
            if timer and timer.owner and timer.owner.doing.own_timer is timer:
                timer.owner.doing.own_timer = None
            cpu.firing.pop()
            cpu.past[-1] = ("timer_fired", 2, record.arg[0])
            self.resume(cpu)

    def on_timer_armed(self, cpu, record):
        key = record.arg[0]
        timer = self.timers.setdefault(key, Timer())
        timer.expiry = record.arg[2]
        rearmed = (cpu.firing and cpu.firing[-1][0] == key) or self.just_before(cpu) == ("timer_fired", 2, key)
        if rearmed:  # rearmed by its own callback: the thread that armed it first stays the owner
            return
        timer.owner, timer.vertex = None, None
        if cpu.interrupted():
            return
        timer.armed, timer.owner = self.now, cpu.thread
        if cpu.thread:
            timer.vertex = cpu.thread.doing.vertex
            cpu.thread.doing.own_timer = cpu.thread.doing.own_timer or timer

    def on_timer_cancelled(self, cpu, record):
        if cpu.thread and cpu.thread.doing.own_timer and cpu.thread.doing.own_timer is self.timers.get(record.arg[0]):
            cpu.thread.doing.own_timer = None
        if cpu.thread and record.arg[0] in self.timers and not (cpu.interrupts or cpu.softirqs or cpu.firing):
            self.count("cull.timer_cancelled")

    # --- work queues and disks ---

    def on_work_queued(self, cpu, record):
        by = self.works[record.arg[0]] = self.actor(cpu, record.arg[3])
        if by.thread and by.since == self.now:
            by.thread.doing.acted = True

    def on_work(self, cpu, record):
        if record.func != 1:
            cpu.softirq_work = None
        elif cpu.interrupted():
            cpu.softirq_work, cpu.completing = self.works.get(record.arg[0]), None
        elif cpu.thread:
            by = self.works.get(record.arg[0])
            if by:
                self.works[record.arg[0]] = Actor()
                self.begin_work(cpu.thread, by.cause("work", "work.executed"))
            if cpu.thread.doing.state == "running":
                self.add_op(cpu.thread, OP_WORK << 24 | record.arg[1] & 0xFFFFFF)

    def begin_work(self, thread, cause):
        """Begins another vertex, unless the current one was woken for this work and has done nothing yet."""
        doing = thread.doing
        if not cause.edge or doing.state != "running":
            return
        idle = not doing.acted and not doing.ops and not doing.op_open
        woken = not doing.vertex.flags & {"first", "forked", "split"} and (
            not doing.cause.edge or doing.cause.edge.kind in ("wake-up", "timer"))
        if idle and woken and cause.edge.from_ns <= doing.vertex.start:
            if doing.cause.edge and doing.cause.edge.source is cause.edge.source:
                cause.edge.stack = doing.cause.edge.stack
        else:
            self.cut(thread, "boundary.work")
        doing.cause = cause
        cause.edge.to_ns = doing.vertex.start

    def on_block_issued(self, cpu, record):
        queued = self.queued.pop(record.arg[0], None)
        before = self.requests.get(record.arg[0])
        issuer = self.actor(cpu, 4)
        if queued and queued[1] == record.arg[1]:
            issuer = queued[0]
        elif before and before.issued and before.sector == record.arg[1]:
            issuer = before.issuer
        self.requests[record.arg[0]] = Request(issuer, record)

    def on_block_queued(self, cpu, record):
        before = self.requests.get(record.arg[0])
        if not before or not before.issued:
            self.requests.pop(record.arg[0], None)
            self.queued[record.arg[0]] = self.actor(cpu, 4), record.arg[1]

    def on_block_file(self, cpu, record):
        if record.arg[0] in self.requests:
            self.requests[record.arg[0]].inode = record.arg[1]

    def on_block_completed(self, cpu, record):
        request = self.requests.get(record.arg[0])
        if not request or not request.issued:
            if not cpu.interrupted():
                cpu.completing = None
            return
        request.issued = record.arg[2] < request.bytes - request.done
        request.done += record.arg[2]
        stacked = (cpu.completed and cpu.interrupted() and cpu.completed_at + 1 == cpu.records
                   and (cpu.completed.target ^ request.target) & 0xFFFFFFFF)
        if not stacked:
            cpu.completed_by = request
        cpu.completing = cpu.completed = request
        cpu.completed_at, cpu.completed_bytes = cpu.records, request.done

    # --- threads and processes ---

    def on_new_thread(self, cpu, record):
        earlier = self.lives.find(record.arg[0])
        if earlier and earlier is not cpu.thread and earlier.doing.vertex:
            if earlier.doing.state == "running":
                self.lose(earlier, 0)
            self.ends(earlier)
        child = cpu.last_new = self.lives.new_thread(record, cpu.thread)
        if not child or child is cpu.thread:
            return
        child.doing.syscall_known = True
        self.begin_vertex(child, "forked")
        self.count("boundary.thread_start")
        self.set_state(child, "runnable")
        if cpu.thread and cpu.thread.doing.vertex:
            child.doing.cause = Cause(Edge(cpu.thread.doing.vertex, self.now, "fork", "fork", to_ns=self.now))
            cpu.thread.doing.acted = True
            self.add_op(cpu.thread, OP_FORK << 24)

    def on_thread_exit(self, cpu, record):
        thread = self.lives.find(record.arg[0])
        if thread:
            self.killed(thread)
            thread.doing.exiting = True

    def on_exec(self, cpu, record):
        thread = self.lives.thread(record.tid)
        if thread:
            thread.process.kernel = False
            self.count("boundary.exec")

    @staticmethod
    def rename(thread, record):
        if thread:
            thread.name = b"".join(arg.to_bytes(8, "little") for arg in record.arg).split(b"\0")[0]

    def on_name_new(self, cpu, record):
        self.rename(cpu.last_new, record)

    def on_name_exec(self, _, record):
        self.rename(self.lives.thread(record.tid), record)

    on_name_thread = on_name_exec

    # --- signals ---

    def on_signal_sent(self, cpu, record):
        number, target, result, said = record.arg
        thread = self.lives.find(target & 0xFFFFFFFF)
        if not thread or result & 0xFF not in (0, 4):
            return
        woken = [wakee for wakee in cpu.woken if wakee.process is thread.process]
        cpu.woken = []
        for wakee in woken:
            cause = wakee.doing.early_cause if wakee.doing.state == "running" else wakee.doing.cause
            if cause and cause.edge and cause.edge.kind == "wake-up":
                cause.edge.kind, cause.edge.strong, cause.edge.rule = "signal", True, "signal.sent"
        sender = cpu.itimer or self.actor(cpu, said)
        if not sender.vertex:
            return
        if number == TRAP and sender.thread is thread is cpu.thread:
            thread.doing.trapped = True
        if number == CHILD and sender.thread.doing.trapped:
            return
        to_process = target & 1 << 32
        whom = ("process", thread.process.pid) if to_process else ("thread", thread.tid)
        self.signals[(*whom, number)] = Signal(sender, number, result >> 32, bool(woken))
        if number in STOPS:
            self.stops[thread.process.pid] = self.signals[(*whom, number)]
        if number == CONTINUE:
            self.stops.pop(thread.process.pid, None)

    def on_signal_delivered(self, cpu, record):
        thread = cpu.thread
        if not thread or not thread.doing.vertex:
            return
        found = [self.signals[key] for key in (("thread", thread.tid, record.arg[0]),
                                               ("process", thread.process.pid, record.arg[0])) if key in self.signals]
        signal = next((signal for signal in found if not signal.taken), None)
        if not signal:
            return
        signal.taken = True
        before = thread.doing.previous()
        if before and len(thread.doing.ops) <= 1 and before.wait.outcome == "interrupted" and not before.wait.details:
            before.wait.add_detail(SIGNAL, signal.detail())
        if not signal.woke and signal.sender.thread is not thread and thread.doing.state == "running":
            self.edges.append(Edge(signal.sender.vertex, signal.sender.since, "signal", "signal.taken",
                                   to=thread.doing.vertex, to_ns=self.now, inside=True))

    def on_itimer_armed(self, cpu, record):
        if cpu.thread:
            self.itimers[cpu.thread.process.pid, record.arg[0] & 0xFF] = self.actor(cpu, 0)

    def on_itimer_fired(self, cpu, record):
        cpu.itimer = self.itimers.get((record.arg[1], record.arg[0] & 0xFF))

    def on_suspended(self, cpu, record):
        pass

    def on_left_out(self, cpu, record):
        """Whatever was open in records that are left out may have ended unseen."""
        changed = [bit for bit in range(10) if record.arg[1] >> bit & 1]
        for forget in [self.forgetting[bit] for bit in changed if bit in self.forgetting]:
            forget(self)

    def forget_all_calls(self):
        for thread in self.lives.threads:
            self.forget_calls(thread)
            thread.doing.word = None
        self.queued = {key: block for key, block in self.queued.items() if isinstance(block, tuple)}
        self.reads = {}

    def forget_timers(self):
        for thread in self.lives.threads:
            thread.doing.own_timer = None
        for cpu in self.cpus.values():
            cpu.firing, cpu.itimer = [], None
            cpu.past = [(name, func, None) if name == "timer_fired" else (name, func, left) for name, func, left in cpu.past]
        self.timers, self.itimers = {}, {}

    def forget_interrupts(self):
        for cpu in self.cpus.values():
            cpu.end_interrupts()

    def forget_work(self):
        for cpu in self.cpus.values():
            cpu.softirq_work = None
        self.works = {}

    def forget_requests(self):
        for cpu in self.cpus.values():
            cpu.completed = cpu.completed_by = cpu.completing = None
        self.requests = {}
        self.queued = {key: callback for key, callback in self.queued.items() if not isinstance(callback, tuple)}

    def forget_signals(self):
        self.signals, self.stops = {}, {}

    forgetting = {1: forget_all_calls, 2: forget_all_calls, 3: forget_timers, 4: forget_interrupts, 5: forget_work,
                  6: forget_requests, 7: forget_signals, 9: forget_all_calls}

    def on_open_end(self, cpu, record):
        if self.lives.thread(record.tid) and record.arg[0]:
            self.open_fds[record.tid, record.arg[2]] = [record.arg[0], record.arg[3]]

    def on_shared_memory(self, cpu, record):
        self.lives.thread(record.tid)

    def on_waiting(self, cpu, record):
        """A thread without any other record waited from before the first one on."""
        thread = self.lives.thread(record.tid)
        if not thread or thread.doing.state != "unseen":
            return
        now, self.now, doing = self.now, self.input.start, thread.doing
        call, state = record.arg[0] & 0xFFFFFFFF, record.arg[0] >> 32
        if call < NO_SYSCALL:
            doing.syscall, doing.syscall_known, doing.op_open = call, True, True
            doing.syscall_arg = [record.arg[1], record.arg[2], 0, 0]
        self.begin_first(thread)
        self.begin_wait(thread, state)
        self.set_state(thread, "waiting")
        self.note_stack(thread, self.stack(record.arg[3]), ())
        fd = self.open_fds.get((thread.process.pid, record.arg[1]))
        if fd and call < NO_SYSCALL and self.call(call).uses_descriptor:
            self.on_object(cpu, types.SimpleNamespace(tid=record.tid, arg=[record.arg[1], fd[0], 0, fd[1]]))
        self.now = now

    on_clock_step = on_file_lock = on_file_lock_name = on_remote = on_file_name = on_call_path = on_cpu_limits = on_cpu_group = on_memory_stall = on_memory_group = on_memory_size = on_suspended


class Lines(dict):
    """The vertices of each thread, in the order in which they began."""

    def __missing__(self, thread):
        self[thread] = []
        return self[thread]


def build(path, pairs=()):
    return finished.finished(Builder(Input(path), pairs))


if __name__ == "__main__":
    print(json.dumps(build(sys.argv[1]), indent=1))
