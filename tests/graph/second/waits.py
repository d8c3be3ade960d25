"""The end of a vertex: its wait, the object and the result of that wait; and the two rules that merge several waits."""
from parts import FAULT, FUTEX, NEVER, NO_SYSCALL, OP_SYSCALL, Wait

INTERRUPTIBLE, UNINTERRUPTIBLE, STOPPED, TRACED, DEAD, FROZEN = 1, 2, 4, 8, 0x80, 0x8000
EINTR, EAGAIN, ETIMEDOUT = 4, 11, 110
LONGEST_TIMEOUT = 10 * 365 * 86400 * 10**9
REWAIT_RUN, YIELD_WAIT, YIELD_RUN, LATE = 200_000, 50_000_000, 10_000_000, 500_000_000


class Waits:
    """Part of the builder: the methods for a thread's wait."""

    def flush_ops(self, thread):
        doing = thread.doing
        if doing.op_open:
            doing.op_open = False
            self.add_op(thread, OP_SYSCALL << 24 | doing.syscall)
        doing.vertex.ops, doing.ops = doing.ops, []

    @staticmethod
    def add_op(thread, code):
        ops = thread.doing.ops
        if ops and ops[-1][0] == code:
            ops[-1][1] += 1
        else:
            ops.append([code, 1])

    # --- a wait begins ---

    def wait_kind(self, thread, os_state):
        doing = thread.doing
        if os_state & (STOPPED | TRACED | FROZEN):
            return "stopped"
        if doing.syscall == NO_SYSCALL:
            if thread.process.kernel:
                return "kernel"
            return "fault" if doing.syscall_known else "other"
        call = self.call(doing.syscall)
        if call.wait == "poll" and self.polls_nothing(call, doing.syscall_arg):
            return "sleep"
        if call.wait in ("read", "write", "disk") and os_state & UNINTERRUPTIBLE:
            return "disk"
        return "other" if call.wait == "disk" else call.wait

    @staticmethod
    def polls_nothing(call, arg):
        count = {"poll": 1, "ppoll": 1, "select": 0, "pselect6": 0}.get(call.name)
        return count is not None and arg[count] == 0

    def awaited_object(self, doing):
        if doing.syscall == NO_SYSCALL:
            return 0
        if self.call(doing.syscall).name == "waitid":
            return doing.syscall_arg[1] if doing.syscall_arg[0] else 0
        return doing.syscall_arg[0]

    def time_left(self, expiry):
        for now in (self.now, self.now + self.input.wall_offset):
            if 0 <= expiry - now < LONGEST_TIMEOUT:
                return expiry - now
        return NEVER

    def begin_wait(self, thread, os_state):
        doing, vertex = thread.doing, thread.doing.vertex
        vertex.end = self.now
        wait = vertex.wait = Wait(self.now)
        wait.kind = self.wait_kind(thread, os_state)
        wait.syscall, wait.object = doing.syscall, self.awaited_object(doing)
        if doing.object:
            wait.inode, wait.peer, wait.type = doing.object
        wait.user, wait.kernel, wait.holder = doing.user, doing.kernel, doing.holder
        if os_state & STOPPED:
            stop = self.stops.get(thread.process.pid)
            if stop:
                wait.add_detail(4, stop.detail())
        if os_state & FROZEN:
            wait.add_detail(6, [0, 0, 0, 0])
        if doing.mapping:
            wait.add_detail(FUTEX, doing.mapping)
        if doing.own_timer:
            wait.timeout = self.time_left(doing.own_timer.expiry)
        doing.forget_notes()
        self.flush_ops(thread)

    # --- a wait ends ---

    def end_wait(self, thread, cause):
        doing, vertex = thread.doing, thread.doing.waited()
        if not vertex:
            return
        wait = vertex.wait
        wait.end = self.now
        wait.by_timer, wait.by_device = bool(cause and cause.by_timer), bool(cause and cause.by_device)
        vertex.self_timed = bool(cause and cause.self_timed)
        wait.outcome = "satisfied"
        if vertex.self_timed and wait.kind != "sleep":
            wait.outcome = "timed out"
        if not cause and self.last_lost and self.last_lost >= vertex.end:
            wait.outcome = "unknown"
            vertex.flags.add("gap")
        doing.wait_open = doing.syscall != NO_SYSCALL or not doing.syscall_known

    def call_returned(self, thread, number, result):
        """The result of the system call in which the thread waited tells how the wait ended."""
        doing = thread.doing
        doing.wait_open = False
        vertex = doing.previous()
        if not vertex:
            return
        wait = vertex.wait
        if wait.syscall == NO_SYSCALL:  # the call was entered before the trace began
            if wait.kind != "other":
                return
            wait.syscall, wait.kind = number, self.call(number).wait
        if wait.syscall != number:
            return
        wait.result = result
        if wait.outcome == "unknown" or not self.input.linux:
            return
        wait.outcome = self.outcome_by_result(wait, result)
        timed = wait.outcome == "timed out" or (wait.kind == "sleep" and wait.outcome == "satisfied")
        if not timed:
            vertex.self_timed = False
        elif not doing.cause.edge:
            vertex.self_timed = True
            self.join_yield_run_late(doing)

    @staticmethod
    def outcome_by_result(wait, result):
        if result == -EINTR or 512 <= -result <= 516:
            return "interrupted"
        if wait.kind == "sleep":
            return "satisfied"
        if result == -ETIMEDOUT or (result == -EAGAIN and wait.by_timer) or (wait.kind == "poll" and result == 0):
            return "timed out"
        return "satisfied"

    # --- several waits that are one ---

    def rewaits(self, thread):
        """The thread blocks again inside the same system call, soon and without another action: the wait continues."""
        doing = thread.doing
        before, vertex = doing.previous(), doing.vertex
        if not before or not doing.wait_open or doing.syscall == NO_SYSCALL:
            return False
        if before.wait.syscall != doing.syscall or doing.acted or doing.ops or vertex.run >= REWAIT_RUN:
            return False
        before.flags |= vertex.flags & {"gap"}
        before.wait.rewakes += 1
        before.wait.outcome = "never ended"
        vertex.gone = True
        doing.vertex, doing.before = before, doing.before[1:]
        doing.cause.edge = None
        doing.forget_notes()
        self.count("merge.rewait")
        return True

    @staticmethod
    def may_be_turn(vertex):
        wait = vertex.wait.end - vertex.end
        meant = min(wait, vertex.wait.timeout) if wait <= LATE else wait
        return vertex.self_timed and vertex.run // vertex.repeat <= YIELD_RUN and meant <= YIELD_WAIT

    @staticmethod
    def same_turn(a, b):
        return ((a.wait.syscall, a.wait.kind, a.wait.object, a.ops, a.wait.user[:1])
                == (b.wait.syscall, b.wait.kind, b.wait.object, b.ops, b.wait.user[:1]))

    def join_yield_run(self, thread):
        """Merges a third turn, or a later one, that is like those before it."""
        doing = thread.doing
        turn, before = doing.vertex, doing.previous()
        older = doing.before[1] if len(doing.before) > 1 else None
        if not before or turn.repeat != 1 or not self.may_be_turn(turn) or not self.may_be_turn(before):
            return False
        if not self.same_turn(before, turn):
            return False
        if "yields" in before.flags:
            self.absorb(before, turn)
            doing.vertex = before
        else:
            if not older or not self.may_be_turn(older) or not self.same_turn(older, before):
                return False
            self.absorb(older, before)
            self.absorb(older, turn)
            doing.vertex = older
        doing.cause.edge = None
        doing.before = []
        return True

    def join_yield_run_late(self, doing):
        """Merges the last turn, whose wake-up was unknown until now."""
        turn, *older = doing.before
        if older and "yields" in older[0].flags and turn.repeat == 1 and self.may_be_turn(turn) and \
                self.may_be_turn(older[0]) and self.same_turn(older[0], turn):
            self.absorb(older[0], turn)
            doing.before = older[:1]

    def absorb(self, run, turn):
        run.end, run.wait, run.self_timed = turn.end, turn.wait, turn.self_timed
        run.run += turn.run
        run.runnable += turn.runnable
        run.repeat += turn.repeat
        run.yields += turn.yields + 1
        run.flags |= {"yields"} | turn.flags & {"gap"}
        turn.gone = True
        self.count("merge.yield_run")

    # --- details of a wait ---

    def note_stack(self, thread, user, kernel):
        doing = thread.doing
        vertex = doing.waited()
        if doing.state == "running":
            doing.user, doing.kernel = user, kernel
        elif vertex and not vertex.wait.user and not vertex.wait.kernel:
            vertex.wait.user, vertex.wait.kernel = user, kernel

    def note_object(self, thread, arg):
        doing = thread.doing
        vertex = doing.waited()
        if doing.state == "running":
            doing.object = arg[1:]
        elif vertex and not vertex.wait.inode:
            vertex.wait.inode, vertex.wait.peer, vertex.wait.type = arg[1:]

    def note_holder(self, thread, tid):
        doing = thread.doing
        vertex = doing.waited()
        if doing.state == "running":
            doing.holder = tid
        elif vertex and not vertex.wait.holder:
            vertex.wait.holder = tid

    @staticmethod
    def note_mapping(thread, arg):
        doing = thread.doing
        if doing.state != "running":
            return
        if arg[3] & 0xFF == 1:
            doing.mapping = list(arg)
            return
        before = doing.previous()
        if before and not doing.ops and not doing.op_open and before.wait.kind == "fault":
            before.wait.add_detail(FAULT, arg)

    def add_detail(self, thread, kind, arg):
        vertex = thread.doing.waited()
        if vertex:
            vertex.wait.add_detail(kind, arg)
