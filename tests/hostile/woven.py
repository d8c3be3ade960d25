"""A trace as lists that can be changed, and an encoder of its own for them, which follows argus-trace(5)."""
import pathlib
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "trace"))
import decode  # noqa: E402

MASK = decode.MASK
EXTREMES = (0, 1, 2, 15, 16, 127, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 47) - 1, 1 << 62, (1 << 63) - 1, 1 << 63, MASK - 1, MASK)
EVIL = "\x1b]0;owned\x07\x1b[2J\u202eexe.\u2066\x7f\r\x08\u0085<script>alert(1)</script>%s%n'\"`\\"
SWITCH, RUNNABLE, SYSCALL, NEW_THREAD, STACK_RECORD = 0x01400000, 0x01400018, 0x040C0000, 0x07000004, 0x60000004
OTHER_IDS = (0x01050000, 0x0109001C, 0x01090008, 0x0109000A, 0x07000008, 0x0700000C, 0x07010004, 0x07010010, 0x60000008, 0x60010005,
             0x60010009, 0x6001000C, 0x60010010, 0x60010014, 0x6001001C, 0x60010020, 0x60010024, 0x60010028, 0x6001002C, 0x60020008,
             0x6002000C, 0x60020010, 0x60020014, 0x60020018, 0x6002001C, 0x60020020, 0x60020024, 0x60020028, 0x6002002C, 0x60020030,
             0x60020034, 0x60020038, 0x6002003C, 0x60020040, 0x60020044, 0x60020048, 0x6002004C, 0x6002005C, 0x60030004, 0x60030009,
             0x6003000A, 0x6003000C, 0x60030010, 0x60030014, 0x60030018, 0x60040004, 0x60040008, 0x6004000C, 0x60050004, 0x60050008)


MOST_RECORDS = 8000  # that a file begins with


def varint(value):
    value &= MASK
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def zigzag(difference):
    difference &= MASK
    signed = difference - (1 << 64) if difference >> 63 else difference
    return varint((signed << 1) ^ (signed >> 63))


def string(text):
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return varint(len(data)) + data


def of_file(inode, major, minor, build_id, path):
    return varint(inode) + varint(major & 0xFFFFFFFF) + varint(minor & 0xFFFFFFFF) + varint(len(build_id)) + build_id + string(path)


def of_stack(identity, frames):
    out, before = struct.pack("<Q", identity or 1) + varint(len(frames)), 0
    for frame in frames:
        out += zigzag(frame - before)
        before = frame
    return out


class Woven:
    """What a trace says, in lists that the twists change. Records are [time, thread, debugid, cpu, arg1 … arg4]."""

    def __init__(self, trace):
        self.os, self.arch, self.cpus = trace.os, trace.arch, trace.cpus
        self.base, self.ring, self.major = (trace.numerator, trace.denominator), trace.ring, 1
        self.anchor, self.wall, self.page = trace.anchor, trace.wall, trace.page
        self.records = []
        for chunk in trace.chunks:
            if chunk.kind == decode.RECORDS and len(self.records) < MOST_RECORDS:
                self.records += [list(record) for record in trace.records(chunk)]
        self.threads = [[*e[:4], e[5]] for e in trace.threads]
        self.images = [[e[0], e[1], e[2] - e[1], e[3], e[4], *e[6:]] for e in trace.images]
        self.stacks = [[identity, list(frames)] for identity, frames in trace.stacks.items()]
        self.symbols = sorted(trace.symbols)
        self.probes = [[number, *rest] for number, rest in trace.probes.items()]
        self.flags = [[number, *rest] for number, rest in trace.flags.items()]
        self.late = [[e[0], e[1], e[2] - e[1], e[4], e[3]] for e in trace.late_stacks]
        self.notes = list(trace.notes)
        self.counters = [list(pair) for pair in trace.counters]
        self.snapshots, self.names, self.code = [], [], []
        self.lost, self.per_chunk, self.mixed = 0, 4096, True
        self.sequence = lambda number: number
        self.order = lambda chunks: chunks
        self.codec = 1
        self.extra = []  # (kind, count, payload)

    def times(self):
        return [record[0] for record in self.records] or [0]

    def tids(self):
        return sorted({record[1] for record in self.records} | {entry[0] for entry in self.threads}) or [1]


def record_payload(records, mixed):
    ids = sorted({record[2] for record in records})
    index = {debugid: i for i, debugid in enumerate(ids)}
    columns = [bytearray() for _ in range(8)]
    first = min(record[0] for record in records)
    columns[1] += varint(len(ids)) + b"".join(struct.pack("<I", debugid) for debugid in ids)
    time, tid, before = first, 0, {}
    for record in records:
        columns[0] += zigzag(record[0] - time)
        columns[1] += varint(index[record[2]])
        columns[2] += zigzag(record[1] - tid)
        old = before.get(record[2], (0, 0, 0, 0))
        for i in range(4):
            columns[3 + i] += zigzag(record[4 + i] - old[i])
        if mixed:
            columns[7] += varint(record[3])
        time, tid, before[record[2]] = record[0], record[1], record[4:8]
    return struct.pack("<8I", *map(len, columns)) + b"".join(columns)


def table(kind, entries, form, per_chunk=20000):
    for i in range(0, len(entries), per_chunk):
        part = entries[i : i + per_chunk]
        yield (kind, len(part), b"".join(form(*entry) for entry in part))


def of_threads(w):
    return table(decode.THREADS, w.threads, lambda *e: b"".join(map(varint, e[:4])) + string(e[4]), 300)


def of_images(w):
    return table(decode.IMAGES, w.images, lambda pid, start, length, offset, time, *f:
                 b"".join(map(varint, (pid, start, min(length, MASK - start), offset, time))) + of_file(*f), 200)


def of_symbols(w):
    out, before = b"", 0
    for address, name, module in w.symbols:
        out += varint(address - before) + string(name) + string(module)
        before = address
    return [(decode.SYMBOLS, len(w.symbols), out)] if w.symbols else []


def of_rest(w):
    yield from table(decode.STACKS, w.stacks, of_stack)
    yield from table(decode.PROBES, w.probes, lambda *e: b"".join(varint(v & 0xFFFFFFFF) for v in e[:3]) + varint(e[3]) +
                     b"".join(map(string, e[4:])), 100)
    yield from table(decode.FLAGS, w.flags, lambda *e: b"".join(map(varint, e[:7])) + string(e[7]), 100)
    yield from table(decode.LATE_STACKS, w.late, lambda tid, first, length, sp, identity:
                     b"".join(map(varint, (tid, first, min(length, MASK - first), sp))) + struct.pack("<Q", identity or 1))
    yield from w.extra
    for note in w.notes:
        yield (decode.NOTE, 1, string(note))
    yield (decode.END, len(w.counters), b"".join(string(name) + varint(value) for name, value in w.counters))


def chunks_of(w):
    """(kind, count, payload, first, last, cpu, lost) in the order of the file."""
    low, high = min(w.times()), max(w.times())
    for maker in (of_threads, of_images, of_symbols):
        for kind, count, payload in maker(w):
            yield [kind, count, payload, low, high, decode.MIXED, 0]
    groups = [w.records] if w.mixed else [[r for r in w.records if r[3] == cpu] for cpu in sorted({r[3] for r in w.records})]
    for records in groups:
        for i in range(0, len(records), w.per_chunk):
            part = records[i : i + w.per_chunk]
            yield [decode.RECORDS, len(part), record_payload(part, w.mixed), min(r[0] for r in part), max(r[0] for r in part),
                   decode.MIXED if w.mixed else part[0][3], w.lost]
    for kind, count, payload in of_rest(w):
        yield [kind, count, payload, low, high, decode.MIXED, 0]


def written(w, most_bytes):
    header = struct.pack("<8sHHIIIIIQQIIQ16s128s", b"ARGUSTRC", 1, 3, 4096, w.os, w.arch, *w.base, w.anchor & MASK, w.wall & MASK,
                         w.page, w.cpus, w.ring, b"woven" + bytes(11), EVIL.encode()[:100])
    header += bytes(4092 - len(header))
    out = bytearray(header + struct.pack("<I", zlib.crc32(header)))
    for number, (kind, count, payload, first, last, cpu, lost) in enumerate(w.order(list(chunks_of(w)))):
        stored = zlib.compress(payload, 9) if w.codec else payload
        if len(out) + len(stored) > most_bytes or len(payload) > 16 << 20 or len(payload) > len(stored) * 1040 + 64:
            continue
        head = struct.pack("<4sHHIIQQQIIQI", b"CHNK", kind, w.codec, len(stored), len(payload), w.sequence(number) & MASK, first, last,
                           count, cpu, lost & MASK, zlib.crc32(stored))
        out += head + struct.pack("<I", zlib.crc32(head)) + stored + bytes(-len(stored) % 8)
    return bytes(out)
