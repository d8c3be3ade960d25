"""Reads and writes of data flags: which write produced the value that a thread read."""
from parts import OP_FLAG_READ, OP_FLAG_WRITE, Actor, Edge


class FlagAccesses:
    """Part of the builder."""

    def access(self, cpu, record, op):
        """The flag and the access to it: the value, its number in the order of accesses (0: not known), and the actor."""
        thread = cpu.thread
        if not thread or not thread.doing.vertex:
            return None, None
        self.add_op(thread, op << 24 | record.arg[0] & 0xFFFFFF)
        size = record.arg[2] >> 56 & 15
        value = record.arg[1] & ((1 << 8 * size) - 1 if 0 < size < 8 else (1 << 64) - 1)
        key = thread.process, record.arg[0]
        return self.flag(key), {"value": value, "sequence": record.arg[3], "watch": key,
                                "by": Actor(thread, thread.doing.vertex, self.now)}

    def flag(self, key):
        """The flag of a process and address, or the one with which it shares its memory."""
        if key not in self.flags:
            self.flags[key] = {"writes": [], "unmatched": None, "seen": {}, "pieces": [], **self.described(*key)}
        return self.flags[key]

    def on_flag_shared(self, _cpu, record):
        thread = self.lives.thread(record.tid)
        if thread:
            key = thread.process, record.arg[0]
            self.flags[key] = self.shared_flags.setdefault(tuple(record.arg[1:4]), self.flag(key))

    @staticmethod
    def is_before(write, read):
        """Each process counts the accesses by itself."""
        if write["watch"] != read["watch"] or not write["sequence"] or not read["sequence"]:
            return None
        return write["sequence"] < read["sequence"]

    def described(self, process, address):
        """The description of a flag in the trace's table."""
        rows = [row for row in self.input.flags if row[:2] == (process.pid, address) and row[4] <= self.now]
        _, _, size, semantics, _, value = max(rows, key=lambda row: row[4], default=(0, 0, 0, 0, 0, 0))
        return {"bytes": size, "semantics": ["value", "flip", "queue"][semantics], "value": value}

    def turn(self, flag, write):
        """Pairs writes: for a flip, setting and clearing; for a queue, adding a piece of work and taking it."""
        def number(value):
            bits = 8 * flag["bytes"] if 0 < flag["bytes"] < 8 else 64
            value &= (1 << bits) - 1
            return value - (1 << bits) if value >> bits - 1 else value
        before, after, flip = flag["value"], write["value"], flag["semantics"] == "flip"
        change = (after != 0) - (before != 0) if flip else number(after) - number(before)
        if (change + (1 << 63)) % (1 << 64) - (1 << 63) not in range(-64, 65):
            flag["pieces"].clear()
            return
        flag["pieces"] += [write["by"]] * change
        taken, flag["pieces"] = flag["pieces"][:max(-change, 0)], flag["pieces"][max(-change, 0):]
        last = None
        for actor in taken:
            same = last and (last.vertex, last.since) == (actor.vertex, actor.since)
            if not same and actor.thread is not write["by"].thread:
                self.flag_edge(actor, write["by"], "flag.flipped" if flip else "flag.queued")
            last = actor

    def flag_edge(self, source, target, rule):
        self.edges.append(Edge(source.vertex, min(source.since, target.since), "data flag", rule, to=target.vertex,
                               to_ns=target.since, inside=True))

    def on_flag_write(self, cpu, record):
        flag, write = self.access(cpu, record, OP_FLAG_WRITE)
        if not flag:
            return
        cpu.thread.doing.acted = True
        if flag["semantics"] != "value":
            self.turn(flag, write)
        before, flag["value"] = flag["value"], write["value"]
        flag["writes"].append(write)
        read = flag["unmatched"]
        if read and write["value"] == read["value"] and self.was_seen(write, before, read):
            flag["unmatched"] = None
            self.seen(flag, len(flag["writes"]), read)

    def was_seen(self, write, before, read):
        """The exception of a read may overtake that of the write: then the value is new, and the write follows within 10 ms."""
        order = self.is_before(write, read)
        return order or order is False and before != write["value"] and self.now - read["by"].since <= 10_000_000

    def on_flag_read(self, cpu, record):
        """Finds the latest of the last four writes that came before the read and wrote the value that was read."""
        flag, read = self.access(cpu, record, OP_FLAG_READ)
        if not flag:
            return
        last = len(flag["writes"])
        for number in range(last, max(last - 4, 0), -1):
            write = flag["writes"][number - 1]
            if self.is_before(write, read) is not False and write["value"] == read["value"]:
                self.seen(flag, number, read)
                return
        flag["unmatched"] = read

    def seen(self, flag, number, read):
        """A write causes only the first read of it by each thread."""
        write, reader = flag["writes"][number - 1], read["by"].thread
        if flag["seen"].get(reader, 0) >= number:
            return
        flag["seen"][reader] = number
        if write["by"].thread is not reader:
            self.flag_edge(write["by"], read["by"], "flag.written")
