"""The states of threads: running, runnable, waiting; and the boundaries of their vertices."""
from parts import NO_SYSCALL, Vertex

EARLY_WAKEUP = 1_000_000


class Threads:
    """Part of the builder."""

    # --- vertices ---

    def begin_vertex(self, thread, *flags):
        doing = thread.doing
        vertex = Vertex(thread, self.now, *flags)
        self.vertices[thread].append(vertex)
        if doing.vertex:
            doing.before = [doing.vertex] + doing.before[:1]
        doing.vertex = vertex
        doing.acted, doing.cause.edge = False, None

    def settle(self, thread):
        """Turns the cause of the current vertex into an edge."""
        edge = thread.doing.cause.edge
        if edge:
            made = edge.copy()
            made.to = thread.doing.vertex
            self.edges.append(made)
            thread.doing.cause.edge = None

    def end_vertex(self, thread, now, *flags):
        vertex = thread.doing.vertex
        vertex.end = now
        vertex.flags |= set(flags)
        self.flush_ops(thread)
        self.settle(thread)

    def cut(self, thread, rule):
        self.account(thread, self.now)
        self.end_vertex(thread, self.now)
        thread.doing.wait_open = False
        self.begin_vertex(thread, "split")
        self.count(rule)

    def account(self, thread, now):
        doing = thread.doing
        if doing.state == "running":
            if not doing.cpu.interrupted():
                doing.vertex.run += now - doing.since
            doing.since = now

    def set_state(self, thread, state):
        thread.doing.state, thread.doing.since = state, self.now

    # --- state changes ---

    def leave_wait(self, thread, cause):
        self.end_wait(thread, cause)
        if not self.join_yield_run(thread):
            self.settle(thread)
        self.count("boundary.wait")
        self.begin_vertex(thread, *(["continues"] if self.goes_on(thread) else []))

    def goes_on(self, thread):
        """A callback, or a turn of the event loop, continues after a wait inside of it."""
        doing = thread.doing
        polled = doing.vertex.wait.kind in ("poll", "sleep")
        if polled and not doing.has_turns:
            doing.open = []
        return self.is_open(doing) or (doing.has_turns and not polled)

    def begin_first(self, thread):
        self.count("boundary.first_record")
        self.begin_vertex(thread, "first")

    def runs(self, thread, cpu, seen):
        """`seen`: a switch brought the thread to the CPU; otherwise a record shows that it is there."""
        doing = thread.doing
        if doing.state == "gone":
            return
        if doing.state == "unseen":
            self.begin_first(thread)
        elif doing.state == "running" and doing.cpu is not cpu:
            if doing.cpu.thread is thread:
                doing.cpu.known, doing.cpu.thread = False, None
            doing.vertex.flags.add("gap")
        elif doing.state == "runnable" and seen:
            doing.vertex.runnable += self.now - doing.since
        elif doing.state == "runnable":
            doing.vertex.flags.add("gap")
        elif doing.state == "waiting":
            self.leave_wait(thread, None)
            if not seen:
                doing.vertex.flags.add("gap")
        self.set_state(thread, "running")
        doing.cpu, doing.undo_early, doing.early_ns = cpu, False, 0

    def leaves(self, thread, os_state):
        self.account(thread, self.now)
        if os_state == 0:
            if thread.doing.state == "running":
                self.set_state(thread, "runnable")
        elif os_state & 0x80:
            self.ends(thread)
        elif thread.doing.state == "running":
            self.blocks(thread, os_state)

    def blocks(self, thread, os_state):
        doing = thread.doing
        if not self.rewaits(thread):
            self.begin_wait(thread, os_state)
        self.set_state(thread, "waiting")
        early = doing.early_ns and self.now - doing.early_ns <= EARLY_WAKEUP
        doing.early_ns = 0
        if early:
            self.woken(thread, doing.early_cause.copy())
            doing.undo_early = True

    def woken(self, thread, cause):
        doing = thread.doing
        if doing.state == "unseen":
            self.begin_first(thread)
        elif doing.state == "waiting":
            self.leave_wait(thread, cause)
        elif doing.state == "lost" or (doing.state == "runnable" and not doing.undo_early and self.last_lost > doing.since):
            self.woken_unseen(thread, cause)
        elif doing.state == "runnable" and doing.undo_early:
            self.woken_again(thread, cause)
        else:
            if doing.state == "running":  # it may be leaving the CPU
                doing.early_ns, doing.early_cause = self.now, cause.copy()
            return
        doing.cause = cause.copy()
        if doing.cause.edge:
            doing.cause.edge.to_ns = self.now
        self.set_state(thread, "runnable")

    def woken_again(self, thread, cause):
        """The second wake-up shows that the early one did not end the wait."""
        doing = thread.doing
        if doing.previous():
            self.end_wait(thread, cause)
        doing.vertex.start = doing.vertex.end = self.now
        doing.undo_early = False

    def woken_unseen(self, thread, cause):
        """The thread has waited since some moment after its records were lost."""
        doing = thread.doing
        doing.vertex.end = doing.since
        doing.vertex.flags.add("gap")
        doing.vertex.wait.kind = "other"
        doing.op_open = False
        self.flush_ops(thread)
        doing.state = "lost"
        self.leave_wait(thread, cause)
        doing.previous().wait.outcome = "unknown"
        doing.wait_open = doing.syscall_known = False
        doing.syscall = NO_SYSCALL
        doing.interrupted, doing.goes_on = None, False

    def killed(self, thread):
        doing = thread.doing
        if not doing.wait_open or not doing.previous():
            return
        doing.wait_open = False
        wait = doing.previous().wait
        if not self.call(wait.syscall).exits:
            wait.outcome = "killed"

    def ends(self, thread):
        doing = thread.doing
        if doing.state == "gone":
            return
        if doing.vertex:
            self.count("boundary.thread_exit")
            if doing.state == "waiting":
                self.leave_wait(thread, None)
            self.killed(thread)
            self.end_vertex(thread, self.now, "exited", "last")
        self.set_state(thread, "gone")
        self.lives.end(thread)

    def lose(self, thread, since):
        doing = thread.doing
        if doing.state != "running":
            return
        doing.vertex.flags.add("gap")
        if since > doing.since:
            self.account(thread, since)
        doing.state = "lost"
        self.forget_calls(thread)

    @staticmethod
    def forget_calls(thread):
        doing = thread.doing
        if doing.vertex:
            doing.vertex.flags.add("gap")
        doing.syscall_known, doing.syscall = False, NO_SYSCALL
        doing.interrupted, doing.goes_on = None, False
        doing.wait_open = doing.op_open = False
        doing.open = []

    def close(self, thread):
        """The trace ends."""
        doing = thread.doing
        if not doing.vertex or doing.state == "gone":
            return
        self.count("boundary.last_record")
        end, vertex = self.end, doing.vertex
        if doing.state == "waiting":
            lost = self.last_lost and self.last_lost >= vertex.end
            vertex.wait.end, vertex.wait.outcome = end, "unknown" if lost else "never ended"
            vertex.flags |= {"last", "gap"} if lost else {"last"}
            self.settle(thread)
            return
        if doing.state == "running":
            self.account(thread, end)
        elif doing.state == "runnable":
            vertex.runnable += end - doing.since
        elif doing.state == "lost":
            end = doing.since
        self.end_vertex(thread, end, "last")
