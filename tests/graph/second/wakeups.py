"""The cause of a wake-up: the rules in the order in which they are tried."""
from parts import Cause, Edge

HOUSEKEEPERS = [b"migration/", b"ksoftirqd/", b"rcu_", b"rcuc/", b"rcuog/", b"rcuop/", b"rcuos/", b"cpuhp/", b"idle_inject/"]
TIMER, NET_RX, SCHED, HRTIMER, RCU = 1, 3, 7, 8, 9  # softirqs

REQUEUE, CMP_REQUEUE, WAKE_OP, LOCK_PI, UNLOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, CMP_REQUEUE_PI, LOCK_PI2 = (
    3, 4, 5, 6, 7, 9, 11, 12, 13)  # of futex(2)


class Wakeups:
    """Part of the builder."""

    @staticmethod
    def context(cpu, said):
        if said < 4:
            return ["task", "softirq", "hardirq", "nmi"][said]
        if cpu.interrupts or cpu.firing:
            return "hardirq"
        return "softirq" if cpu.softirqs else "task"

    def who_is_behind(self, cpu, record, wakee):
        """The cause of a wake-up."""
        context = self.context(cpu, record.arg[3])
        if context == "task" and cpu.thread and cpu.thread.process.kernel and cpu.thread.name.startswith(b"irq/"):
            context = "hardirq"
        waker = cpu.thread if cpu.thread and cpu.thread.doing.vertex else None
        call = self.call(waker.doing.syscall) if waker else self.call(0xFFFF)
        awaited = wakee.doing.vertex.wait.kind if wakee.doing.state == "waiting" and wakee.doing.vertex else "none"
        interrupt, timer = context != "task", cpu.timer()

        if wakee.doing.trapped and awaited == "stopped" or not interrupt and waker and waker.doing.trapped:
            wakee.doing.trapped = wakee.doing.trapped and wakee.doing.state != "waiting"
            return self.culled("cull.watchpoint")
        if wakee.process.kernel and any(wakee.name.startswith(name) for name in HOUSEKEEPERS):
            return self.culled("cull.housekeeping")
        if interrupt and timer and timer.owner and timer.vertex:
            own = timer.owner is wakee and wakee.doing.own_timer is timer
            return Cause(Edge(timer.vertex, timer.armed, "timer", "timer.fired"), by_timer=True, self_timed=own)
        if interrupt and cpu.completing and cpu.completed_by.issuer.vertex:
            cause = cpu.completed_by.issuer.cause("block I/O", "block.completed")
            cause.by_device = True
            return cause
        if context == "softirq" and cpu.softirq_work and cpu.softirq_work.vertex:
            return cpu.softirq_work.cause("work", "work.softirq")
        if interrupt and (cpu.firing or (context == "softirq" and cpu.softirqs & {TIMER, HRTIMER})):
            return self.culled("cull.timer", by_timer=True, self_timed=True)
        if context == "softirq" and waker and NET_RX in cpu.softirqs and not cpu.interrupts and not cpu.softirq_from_interrupt:
            if call.sends or (call.wait == "read" and awaited in ("write", "poll")) or waker.doing.exiting or call.exits:
                return self.by_waker(waker, cpu, "wake-up", "wake.softirq_local")
        if interrupt and not cpu.interrupts and cpu.softirqs & {SCHED, RCU} or not interrupt and not waker:
            return self.culled("cull.scheduler")
        if interrupt:
            return self.culled("cull.device", by_device=True)
        if call.kills:
            return self.by_waker(waker, cpu, "signal", "wake.signal")
        if waker.doing.exiting or call.exits:
            return self.by_waker(waker, cpu, "wake-up", "wake.exit")
        if call.wait == "futex" and awaited == "futex" and self.input.linux and self.is_condition(waker.doing, wakee.doing):
            return self.by_waker(waker, cpu, "wake-up", "wake.condition")
        if call.wait == "futex" and awaited == "futex":
            return self.by_waker(waker, cpu, "wake-up", "wake.unlock", strong=False)
        return self.by_waker(waker, cpu, "wake-up", "wake.task")

    @staticmethod
    def is_condition(waker, wakee):
        """Whether a futex wake-up is for a thread that waits for a condition, not for a lock (libargus/graph/rules/condition.c)."""
        wakes, waits = waker.syscall_arg[1] & 127, wakee.syscall_arg[1] & 127
        if wakes in (REQUEUE, CMP_REQUEUE, WAKE_OP, CMP_REQUEUE_PI) or waits == WAIT_REQUEUE_PI:
            return True
        if wakes == UNLOCK_PI or waits in (LOCK_PI, LOCK_PI2):
            return False
        if wakee.word == 2 or (wakee.word == 3 and waits == WAIT_BITSET):
            return False
        return waker.syscall_arg[2] & 0xFFFFFFFF > 1 or waits == WAIT_BITSET

    def culled(self, rule, **what):
        self.count(rule)
        return Cause(**what)

    def by_waker(self, waker, cpu, kind, rule, strong=True):
        waker.doing.acted = True
        stack = cpu.wake_stack or ()
        return Cause(Edge(waker.doing.vertex, self.now, kind, rule, strong, stack), by_waker=True)
