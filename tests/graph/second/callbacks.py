"""Callbacks and UI events: an event loop executes them one after the other, each in its own vertex."""
from parts import OP_CALLBACK, OP_UI_EVENT, Actor

UI_EVENTS, PURPOSES = 14, {1, 2, 3, 4, 6, 7, 13}


class Callbacks:
    """Part of the builder."""

    @staticmethod
    def is_open(doing):
        """Inside of a callback, and not in an event loop that the callback runs."""
        return bool(doing.open) and not doing.open[-1]["loop"]

    def begin_callback(self, thread, record, is_ui):
        """Whether a vertex begins; false for a callback inside of another one, which belongs to the same vertex."""
        doing = thread.doing
        follows = self.returned(doing, record.arg[3])
        if doing.open and is_ui and not doing.open[-1]["ui"] and not doing.open[-1]["loop"]:
            doing.open.pop()
            follows = True
        if self.is_open(doing):
            return False
        if not (follows and doing.has_turns and doing.loop.vertex):
            doing.loop = Actor(thread, doing.vertex, self.now)
        loop = doing.loop
        doing.open = doing.open[-3:] + [{"sp": record.arg[3], "ui": is_ui, "loop": False}]
        self.cut(thread, "boundary.callback")
        doing.cause = self.who_dispatched(thread, record, is_ui, loop)
        if doing.cause.edge:
            doing.cause.edge.to_ns = self.now
        return True

    @staticmethod
    def returned(doing, sp):
        """Removes the callbacks that have returned according to the stack pointer; returns whether there were any."""
        before = len(doing.open)
        while doing.open and doing.open[-1]["sp"] <= sp:
            doing.open.pop()
        return len(doing.open) < before

    def end_callback(self, thread, record):
        doing = thread.doing
        is_turn = record.arg[0] == 0
        cuts = self.returned(doing, record.arg[3])
        doing.has_turns |= is_turn
        if is_turn and self.is_open(doing):
            doing.open[-1]["loop"] = cuts = True
        if cuts:
            self.cut(thread, "boundary.loop")
            if is_turn:
                doing.vertex.flags.add("loop")

    def who_dispatched(self, thread, record, is_ui, loop):
        if is_ui:
            read = self.reads.get((thread, record.arg[0] & 0xFF))
            if read and read["waiting"]:
                read["waiting"] -= 1
                return read["by"].cause("dispatch", "dispatch.read")
        elif record.arg[0]:
            queued = self.queued.get(self.callback_key(thread, record))
            if queued and queued["waits"]:
                return queued["by"].cause("dispatch", "dispatch.queued")
        return loop.cause("dispatch", "dispatch.ready")

    def callback_key(self, thread, record):
        return thread.process, self.input.spaces.get(record.arg[2], 0), record.arg[0]

    # --- records ---

    @staticmethod
    def running(cpu):
        return cpu.thread if cpu.thread and cpu.thread.doing.vertex and cpu.thread.doing.state == "running" else None

    def note(self, thread, what, probe, function=0, other=0, kind=0, purpose=False, nested=False):
        self.notes.append((thread.doing.vertex, [self.now, function, other, probe & 0xFFFFFFFF, what, kind,
                                                 int(purpose), int(nested)]))

    def on_callback_queued(self, cpu, record):
        if cpu.thread and cpu.thread.doing.vertex:
            by = Actor(cpu.thread, cpu.thread.doing.vertex, self.now)
            self.queued[self.callback_key(cpu.thread, record)] = {"by": by, "waits": True}
            cpu.thread.doing.acted = True

    def on_callback_cancelled(self, cpu, record):
        if cpu.thread and self.callback_key(cpu.thread, record) in self.queued:
            self.queued[self.callback_key(cpu.thread, record)]["waits"] = False

    def on_callback(self, cpu, record):
        thread = self.running(cpu)
        if not thread:
            return
        if record.func != 1:
            self.end_callback(thread, record)
            return
        nested = not self.begin_callback(thread, record, False)
        self.note(thread, 0, record.arg[2], record.arg[1], nested=nested)
        self.add_op(thread, OP_CALLBACK << 24 | record.arg[2] & 0xFFFF)

    def on_ui_event(self, cpu, record):
        thread = self.running(cpu)
        if not thread:
            return
        kind = record.arg[0] if record.arg[0] < UI_EVENTS else 0
        purpose = kind in PURPOSES
        if record.arg[3] == 0:
            read = self.reads.setdefault((thread, kind), {"by": Actor(), "waiting": 0})
            if read["by"].vertex is not thread.doing.vertex:
                read["waiting"] = 0
            read["by"] = Actor(thread, thread.doing.vertex, self.now)
            read["waiting"] += 1
            self.note(thread, 2, record.arg[2], kind=kind, purpose=purpose)
            return
        nested = not self.begin_callback(thread, record, True)
        self.note(thread, 1, record.arg[2], kind=kind, purpose=purpose, nested=nested)
        if not nested:
            self.add_op(thread, OP_UI_EVENT << 24 | kind)

    def on_handler(self, cpu, record):
        thread = self.running(cpu)
        if thread:
            self.note(thread, 3, record.arg[2], record.arg[0], record.arg[1])
