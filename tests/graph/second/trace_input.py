"""The records of a trace in time order, and the tables that a graph needs, for the second builder.

Files are read by tests/trace/decode.py, which knows nothing of the C reader. Order: time, then CPU, then position in the file.
A record with the ID LOST marks lost records: their number, and the time of the last record before them on that CPU.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "trace"))

import decode  # noqa: E402

LOST = "lost"
SYSCALL_CLASS = 0x040C0000


class Record:
    """One record; `name` is the tracepoint's, `func` 0, 1 (start) or 2 (end)."""

    __slots__ = ("time", "tid", "name", "func", "cpu", "arg", "number")

    def __init__(self, time, tid, name, func, cpu, arg, number=0):
        self.time, self.tid, self.name, self.func = time, tid, name, func
        self.cpu, self.arg, self.number = cpu, arg, number

    def as_call(self, number, arg):
        """The same record, as if it were of another system call."""
        return Record(self.time, self.tid, self.name, self.func, self.cpu, list(arg), number)


def table(path, pattern):
    return re.findall(pattern, (ROOT / path).read_text(), re.MULTILINE)


def tracepoint_names():
    """Names by debugid without function bits, from the one table of names and IDs."""
    ids = {name: int(value, 16) for name, value in
           table("libargus/include/argus/record.h", r"#define (ARGUS_ID_\w+)\s+(0x[0-9a-f]+)u")}
    for name, subclass, code in table("libargus/include/argus/record.h",
                                      r"#define (ARGUS_ID_\w+)\s+ARGUS_DEBUGID\(ARGUS_CLASS, (\d+), (\d+)\)"):
        ids[name] = 0x60 << 24 | int(subclass) << 16 | int(code) << 2
    rows = table("libargus/event/tracepoints.def", r"^TRACEPOINT\((\w+), (ARGUS_ID_\w+),")
    return {ids[constant]: name for name, constant in rows}


class Syscall:
    """The properties of a system call: the kind of wait in it, and whether it sends, kills, exits, yields."""

    def __init__(self, name, wait, flags):
        self.name, self.wait = name, wait.lower()
        self.uses_descriptor, self.sends = "SYSCALL_FD" in flags, "SYSCALL_SEND" in flags
        self.changes = "SYSCALL_CHANGE" in flags
        self.kills, self.exits = "SYSCALL_KILL" in flags, "SYSCALL_EXIT" in flags
        self.yields, self.restarts = "SYSCALL_YIELD" in flags, "SYSCALL_RESTART" in flags


UNKNOWN_CALL = Syscall("", "OTHER", "")


def syscalls():
    rows = table("libargus/event/syscalls_x86_64.def", r"^SYSCALL\((\d+), (\w+), (\w+), (.*)\)")
    return {int(number): Syscall(name, wait, flags) for number, name, wait, flags in rows}


NAMES = tracepoint_names()


def to_record(raw):
    time, tid, identity, cpu, *arg = raw
    event = identity & ~3
    if event & 0xFFFF0000 == SYSCALL_CLASS:
        return Record(time, tid, "syscall", identity & 3, cpu, arg, (identity >> 2) & 0x3FFF)
    name = NAMES.get(event)
    return Record(time, tid, name, identity & 3, cpu, arg) if name else None


class Input:
    """The contents of a file, as far as the second builder needs them."""

    def __init__(self, path):
        trace = decode.Trace(pathlib.Path(path).read_bytes())
        if trace.numerator != trace.denominator:
            raise ValueError("the second builder knows clocks of ns only")
        self.linux = trace.os == 1
        by_cpu, times = {}, []
        for chunk in trace.chunks:
            if chunk.kind == decode.RECORDS:
                self.add_chunk(trace, chunk, by_cpu.setdefault(chunk.cpu, []), times)
        every = [record for cpu in sorted(by_cpu) for record in by_cpu[cpu]]
        self.records = sorted(every, key=lambda record: (record.time, record.cpu))
        self.start, self.end = min(times, default=0), max(times, default=0)
        self.threads = [(e[0], e[1], e[3], e[4], e[5]) for e in trace.threads]  # tid, pid, kernel, time, name
        self.stacks = trace.stacks
        self.spaces = {number: row[1] for number, row in trace.probes.items()}
        self.flags = [row[:6] for row in trace.flags.values()]  # pid, address, bytes, semantics, since, value
        self.wall_offset = trace.wall - trace.anchor

    @staticmethod
    def add_chunk(trace, chunk, records, times):
        last = max((record.time for record in records if record.name != LOST), default=0)
        last = max([last] + [record.time for record in records[-1:]])
        if chunk.lost:
            records.append(Record(max(chunk.first, last), 0, LOST, 0, chunk.cpu, [chunk.lost, last, 0, 0]))
        for raw in trace.records(chunk):
            times.append(raw[0])
            record = to_record(raw)
            if record:
                records.append(record)
