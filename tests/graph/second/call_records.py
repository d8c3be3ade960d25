"""System calls: their starts and ends, and those that a signal interrupts."""
from parts import NO_SYSCALL, OP_SYSCALL
from splits import Mark

ERESTART_RESTARTBLOCK = 516


class CallRecords:
    """Part of the builder."""

    def on_syscall(self, cpu, record):
        if not cpu.thread or not cpu.thread.doing.vertex:
            return
        doing = cpu.thread.doing
        record, restarts = self.restarted(doing, record)
        if record.func == 1:
            doing.syscall, doing.syscall_arg = record.number, list(record.arg)
            doing.interrupted, doing.goes_on = None, restarts
            doing.op_open, doing.wait_open, doing.word = True, False, None
            if self.call(record.number).uses_descriptor:
                doing.marks["begun"] = Mark(cpu.thread, self.now)
            doing.trapped = False
        elif record.func == 2:
            self.call_ends(cpu.thread, record)
        doing.syscall_known, doing.own_timer, doing.early_ns = True, None, 0
        doing.forget_notes()

    def restarted(self, doing, record):
        """A restart_syscall() stands for the call that a signal interrupted, with the arguments of that call."""
        if self.call(record.number).restarts and record.func == 1 and doing.interrupted:
            number, arg = doing.interrupted
            return record.as_call(number, arg), True
        if self.call(record.number).restarts and record.func == 2 and doing.goes_on:
            return record.as_call(doing.syscall, record.arg), True
        return record, False

    def call_ends(self, thread, record):
        doing, number = thread.doing, record.number
        interrupted = record.arg[0] & 0xFFFF == ERESTART_RESTARTBLOCK and doing.syscall == number
        doing.interrupted, doing.goes_on = (number, doing.syscall_arg) if interrupted else None, False
        failed = record.arg[0] != 0
        result = record.arg[1] - (1 << 64) if record.arg[1] >> 63 else record.arg[1]
        if doing.wait_open:
            self.call_returned(thread, number, -(record.arg[0] & 0xFFFF) if failed else result)
        if doing.op_open and doing.syscall == number:
            self.add_op(thread, OP_SYSCALL << 24 | failed << 16 | number)
        if self.call(number).yields:
            doing.vertex.yields += 1 + (record.arg[2] & 0xFFFFFFFF)
        doing.op_open, doing.syscall = False, NO_SYSCALL
        if doing.had_message:
            doing.marks["ended"], doing.had_message = Mark(thread, self.now), False
        self.lives.belongs(thread, record.arg[3])
