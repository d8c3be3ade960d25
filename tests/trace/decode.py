#!/usr/bin/env python3
"""A second, naive decoder of trace files, written from docs/man/argus-trace.5.md alone.

It reads the whole file, follows the page literally, and is slow. `decode.py FILE` prints what dump_records prints for the same
file, line by line; agree.py compares the two.
"""
import ctypes
import ctypes.util
import functools
import hashlib
import itertools
import struct
import sys
import zlib

MASK = (1 << 64) - 1
MIXED = 0xFFFFFFFF
CHUNK = struct.Struct("<4sHHIIQQQIIQII")
HEADER = struct.Struct("<8sHHIIIIIQQIIQ16s128s")
PADDING, RECORDS, THREADS, IMAGES, STACKS, SYMBOLS, BUILD_IDS, NOTE, END, SNAPSHOTS = range(10)
PROBES = 10
FLAGS = 11
LATE_STACKS = 12
NAMES = 13
CODE = 14
INLINED = 15
ENCRYPTED = 16
STACK, BLOCK = 0x60000004, 1


NO_CODEC, ZLIB, ZSTD = range(3)


TEST_KEY = bytes(range(1, 33))  # of the traces that tests write


class Missing(Exception):
    """This machine lacks a library."""


class Damaged(Exception):
    """The bytes contradict the page."""


def require(condition, what):
    if not condition:
        raise Damaged(what)


def inflate(stored, _):
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(stored)
    except zlib.error as error:
        raise Damaged(str(error)) from error
    require(stream.eof and not stream.unused_data, "zlib stream")
    return data


@functools.lru_cache
def zstd_library():
    """libzstd by ctypes: Debian's dpkg needs the library, so it is installed, but the Python module rarely is."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    except OSError as error:
        raise Missing(str(error)) from error
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    for name in "ZSTD_findFrameCompressedSize", "ZSTD_decompress", "ZSTD_isError":
        getattr(library, name).restype = ctypes.c_size_t
    return library


def unpack_zstd(stored, size):
    require(stored[:4] == struct.pack("<I", 0xFD2FB528), "zstd magic")
    library, length = zstd_library(), ctypes.c_size_t(len(stored))
    require(library.ZSTD_getFrameContentSize(stored, length) == size, "zstd content size")
    require(library.ZSTD_findFrameCompressedSize(stored, length) == len(stored), "zstd frame")
    room = ctypes.create_string_buffer(max(size, 1))
    got = library.ZSTD_decompress(room, ctypes.c_size_t(size), stored, length)
    require(not library.ZSTD_isError(ctypes.c_size_t(got)) and got == size, "zstd frame")
    return room.raw[:size]


UNPACK = {NO_CODEC: lambda stored, _: stored, ZLIB: inflate, ZSTD: unpack_zstd}


class Bytes:
    """A payload that is read from its beginning."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        require(self.at + count <= len(self.data), "cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def varint(self):
        return self.varints(1)[0]

    def varints(self, count):
        """Traces of tests have millions of them, so this is not as naive as the rest."""
        data, at, values = self.data, self.at, []
        try:
            for _ in range(count):
                value = byte = data[at]
                if byte >= 0x80:
                    value &= 0x7F
                    for shift in range(7, 70, 7):
                        at += 1
                        byte = data[at]
                        require(shift < 63 or byte <= 1, "tenth byte of a varint")
                        value |= (byte & 0x7F) << shift
                        if byte < 0x80:
                            break
                at += 1
                values.append(value)
        except IndexError as error:
            raise Damaged("cut off") from error
        self.at = at
        return values

    def varint32(self):
        value = self.varint()
        require(value < 1 << 32, "32-bit field")
        return value

    def zigzag(self):
        return self.zigzags(1)[0]

    def zigzags(self, count):
        return [(value >> 1) ^ -(value & 1) for value in self.varints(count)]

    def string(self):
        return readable(self.take(self.varint()))

    def end(self):
        require(self.at == len(self.data), "bytes left over")


def readable(data):
    """The text up to a NUL; a `?` for each byte that is not valid UTF-8, and a name has no line breaks or tabs."""
    text = data.decode("utf-8", "surrogateescape").split("\0")[0]
    return "".join("?" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text.translate({10: 11, 9: 12})).encode()


class Chunk:
    def __init__(self, fields, offset, extent, stored):
        (_, self.kind, self.codec, self.stored_size, self.unpacked_size, self.sequence, self.first,
         self.last, self.count, self.cpu, self.lost, self.crc, _) = fields
        self.offset, self.extent, self.stored = offset, extent, stored

    def check(self, cpus):
        require(self.codec in UNPACK, "codec")
        require(max(self.stored_size, self.unpacked_size) <= 16777216, "size")
        require(self.unpacked_size <= self.stored_size * 1040 + 64, "size")
        require(self.kind != SNAPSHOTS or self.unpacked_size <= 1048576, "size")
        require(self.first <= self.last, "time range")
        if self.kind == RECORDS:
            require(self.cpu == MIXED or self.cpu < cpus, "cpu")
            require(self.count <= 131072, "count")
            # Eight sizes, a dictionary, and for each column except the CPU at least one byte for each record.
            require(self.count == 0 or 33 + self.count * 7 <= self.unpacked_size, "count")

    def payload(self):
        require(zlib.crc32(self.stored) == self.crc, "CRC")
        data = UNPACK[self.codec](self.stored, self.unpacked_size)
        require(len(data) == self.unpacked_size, "unpacked size")
        return data


def chunk_at(data, offset, limit):
    """The chunk at `offset`; None if the walk cannot continue from there."""
    if offset + 64 > limit:
        return None
    fields = CHUNK.unpack_from(data, offset)
    size = fields[3]
    crc = zlib.crc32(data[offset : offset + 60])
    if fields[0] != b"CHNK" or fields[-1] != crc or offset + 64 + size > limit:
        return None
    extent = min((64 + size + 7) // 8 * 8, limit - offset)
    return Chunk(fields, offset, extent, data[offset + 64 : offset + 64 + size])


@functools.lru_cache
def sodium_library():
    try:
        library = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
    except OSError as error:
        raise Missing(str(error)) from error
    library.sodium_init()
    return library


def key_id(key):
    return hashlib.blake2b(key, digest_size=16).digest()


def test_key(identity):
    return TEST_KEY if identity == key_id(TEST_KEY) else None


def decrypt(head, encrypted, key):
    plain = ctypes.create_string_buffer(len(encrypted))
    failed = sodium_library().crypto_aead_xchacha20poly1305_ietf_decrypt(
        plain, None, None, encrypted, ctypes.c_ulonglong(len(encrypted)), head, ctypes.c_ulonglong(48), head[16:40], key)
    require(not failed, "tag")
    return plain.raw[:len(encrypted) - 16]


class Trace:
    """`find_key`: the key with an ID, or None."""

    def __init__(self, data, find_key=test_key):
        self.data, self.find_key, self.locked = data, find_key, 0
        require(data[:8] == b"ARGUSTRC", "magic")
        require(len(data) >= 4096, "file header cut off")
        (_, self.major, self.minor, size, self.os, self.arch, self.numerator, self.denominator, self.anchor,
         self.wall, self.page, self.cpus, self.ring, self.boot, host) = HEADER.unpack_from(data)
        self.host = readable(host)
        require(self.major <= 1, "newer version")
        require(struct.unpack_from("<I", data, 4092)[0] == zlib.crc32(data[:4092]), "header CRC")
        require(self.major == 1 and size == 4096, "header")
        require(self.numerator and self.denominator and 1 <= self.cpus <= 65536, "header")
        require(self.ring % 8 == 0 and self.ring < (1 << 63) - 4096, "header")
        self.damage, self.chunks, self.complete = [], [], False
        self.threads, self.images, self.stacks, self.symbols = [], [], {}, set()
        self.build_ids, self.notes, self.counters, self.snapshots = {}, [], [], []
        self.probes, self.flags, self.late_stacks, self.names, self.code = {}, {}, [], {}, set()
        self.walk()
        self.chunks.sort(key=lambda chunk: (chunk.sequence, chunk.offset))
        self.read_tables()
        self.damage.sort()
        self.late_of = {}
        for tid, *entry in self.late_stacks:
            self.late_of.setdefault(tid, []).append(tuple(entry))

    def walk(self):
        area_end = 4096 + self.ring if self.ring else MASK
        limit = min(len(self.data), area_end)
        at = 4096
        while at < limit and area_end - at >= 64:
            chunk = chunk_at(self.data, at, limit)
            if chunk:
                at += chunk.extent
                self.add(chunk)
                continue
            begin = at
            at += 8
            while at < limit and not chunk_at(self.data, at, limit):
                at += 8
            at = min(at, limit)
            self.damage.append((begin, at - begin))

    def add(self, chunk):
        if chunk.kind == PADDING:
            return
        try:
            chunk.check(self.cpus)
            self.chunks.append(chunk)
        except Damaged:
            self.damage.append((chunk.offset, chunk.extent))

    def read_tables(self):
        budget = (64 << 20) + 64 * len(self.data)
        records = [chunk.sequence for chunk in self.chunks if chunk.kind == RECORDS]
        for chunk in self.chunks:
            if chunk.kind == RECORDS:
                continue
            budget -= chunk.unpacked_size
            whole = True
            try:
                require(budget >= 0, "tables too large")
                self.read_table(chunk)
            except Damaged:
                whole = False
                self.damage.append((chunk.offset, chunk.extent))
            if chunk.kind not in (BUILD_IDS, NAMES, NOTE):
                last = not records or chunk.sequence > records[-1]
                self.complete = chunk.kind == END and whole and last
        for image in self.images:
            if not image[9]:
                image[9] = self.build_ids.get((image[6], image[7], image[8], image[10]), b"")

    def read_table(self, chunk):
        kinds = {THREADS: self.thread, IMAGES: self.image, STACKS: self.stack, SYMBOLS: self.symbol,
                 BUILD_IDS: self.build_id, NOTE: self.note, END: self.counter, SNAPSHOTS: self.snapshot,
                 PROBES: self.probe, FLAGS: self.flag, LATE_STACKS: self.late_stack, NAMES: self.name, CODE: self.code_object,
                 INLINED: self.inlined}
        kind = SNAPSHOTS if chunk.kind == ENCRYPTED else chunk.kind
        if kind not in kinds:
            return
        data = chunk.payload() if kind == chunk.kind else self.decrypted(chunk)
        if data is None:
            return
        payload = Bytes(data)
        self.address, self.name_before = 0, None
        entries = [kinds[kind](payload, chunk) for _ in range(chunk.count)]
        payload.end()
        for keep, entry in entries:  # only if the whole table was valid
            keep(entry)

    def decrypted(self, chunk):
        """The payload of the snapshots; None without their key."""
        payload = chunk.payload()
        require(len(payload) >= 64, "length")
        head, encrypted = payload[:48], payload[48:]
        codec, size = struct.unpack_from("<II", head, 40)
        require(codec in UNPACK and size <= 1048576 and chunk.count * 14 <= size, "content")
        require(size <= (len(encrypted) - 16) * 1040 + 64, "size")
        key = self.find_key(head[:16])
        if not key:
            self.locked += chunk.count
            return None
        data = UNPACK[codec](decrypt(head, encrypted, key), size)
        require(len(data) == size, "unpacked size")
        return data

    def thread(self, b, chunk):
        entry = (b.varint(), b.varint(), b.varint(), b.varint() & 1, chunk.last, b.string())
        return self.threads.append, entry

    def file(self, b):
        inode, major, minor, length = b.varint(), b.varint32(), b.varint32(), b.varint()
        require(length <= 20, "build id")
        return [inode, major, minor, b.take(length), b.string()]

    def image(self, b, _):
        pid, start, length, offset, time = (b.varint() for _ in range(5))
        require(start + length <= MASK, "address")
        return self.images.append, [pid, start, start + length, offset, time, None] + self.file(b)

    def stack(self, b, _):
        identity = struct.unpack("<Q", b.take(8))[0]
        count = b.varint()
        require(identity and 1 <= count <= 127, "stack")
        frames, frame = [], 0
        for _ in range(count):
            frame = (frame + b.zigzag()) & MASK
            frames.append(frame)
        return lambda entry: self.stacks.setdefault(*entry), (identity, frames)

    def symbol(self, b, _):
        self.address = (self.address + b.varint()) & MASK
        return self.symbols.add, (self.address, b.string(), b.string())

    def build_id(self, b, _):
        inode, major, minor, build_id, path = self.file(b)
        return lambda entry: self.build_ids.update([entry]), ((inode, major, minor, path), build_id)

    def probe(self, b, _):
        number, shape, space = b.varint32(), b.varint32(), b.varint32()
        return lambda entry: self.probes.update([entry]), (number, (shape, space, b.varint(), b.string(), b.string(), b.string()))

    def flag(self, b, _):
        number, pid, address, size, semantics, since = (b.varint32(), b.varint(), b.varint(), b.varint32(), b.varint32(),
                                                        b.varint())
        value = b.varint()
        label = b.string()
        require(size <= 8 and semantics <= 2, "flag")
        return lambda entry: self.flags.update([entry]), (number, (pid, address, size, semantics, since, value, label))

    def late_stack(self, b, _):
        tid, first, length, sp = b.varint(), b.varint(), b.varint(), b.varint()
        require(first + length <= MASK, "time")
        identity = struct.unpack("<Q", b.take(8))[0]
        require(identity, "stack")
        return self.late_stacks.append, (tid, first, first + length, identity, sp)

    def owner(self, b, of_process):
        if of_process:
            return (1, b.varint())
        length = b.varint()
        require(length <= 20, "build id")
        if length:
            return (0, length, b.take(length))
        return (0, 0, b.varint(), b.varint32(), b.varint32(), b.string())

    def name(self, b, _):
        flags, before = b.varint(), self.name_before
        require(flags < 64 and (before or not flags & (1 | 4 | 8)), "flags of a name")
        owner = before[0] if flags & 1 else self.owner(b, flags & 2)
        place = ((before[1] if flags & 1 else 0) + b.zigzag()) & MASK
        function = before[2] if flags & 4 else b.string()
        source = before[3] if flags & 8 else b.string()
        line, distance, lack = b.varint32(), b.varint(), b.varint32()
        require(lack <= 5, "lack")
        since = b.varint() if flags & 16 else 0
        called = b.string() if flags & 32 else b""
        self.name_before = (owner, place, function, source)
        return lambda entry: self.names.update([entry]), ((owner, place, 0, since), (function, source, line, distance, lack, called))

    def inlined(self, b, _):
        keep, ((owner, place, _, since), name) = self.name(b, _)
        level = b.varint32()
        require(level, "level")
        return keep, ((owner, place, level, since), name)

    def code_object(self, b, _):
        pid, start, length, seen, line = b.varint(), b.varint(), b.varint(), b.varint(), b.varint32()
        require(start + length <= MASK, "address")
        function, source = b.string(), b.string()
        return self.code.add, (pid, start, seen, function, length, line, source, b.take(b.varint32()))

    def late(self, tid, time, own, sp):
        """The stack of the wait that `tid` began at `time`: a late stack of that time or of the same place, or its `own`."""
        of_thread = self.late_of.get(tid, [])
        found = max((entry for entry in of_thread if entry[0] <= time), default=None)
        if found and time <= found[1] and found[2] in self.stacks:
            return found[2]
        places = sorted(entry for entry in of_thread if entry[3] == sp) if sp else []
        before = [entry for entry in places if entry[0] <= time]
        same = before[-1:] or places[:1]
        if same and own in self.stacks and same[0][2] in self.stacks:
            return same[0][2] if self.stacks[same[0][2]][0] == self.stacks[own][0] else own
        return own

    def note(self, b, _):
        return self.notes.append, b.string()

    def counter(self, b, _):
        return self.counters.append, (b.string(), b.varint())

    def snapshot(self, b, _):
        identity = struct.unpack("<Q", b.take(8))[0]
        pid, tid, ticks, end, count = b.varint(), b.varint(), b.varint(), b.varint(), b.varint()
        require(identity and end <= 2 and count <= 33, "snapshot")
        registers = [b.varint() for _ in range(count)]
        return self.snapshots.append, (identity, pid, tid, ticks, end, registers, b.take(b.varint32()))

    def records(self, chunk):
        if chunk.count == 0:
            return []
        payload = Bytes(chunk.payload())
        sizes = struct.unpack("<8I", payload.take(32))
        columns = [Bytes(payload.take(size)) for size in sizes]
        payload.end()
        times, ids, tids, *arguments = columns[:7]
        cpus = columns[7]
        count = ids.varint()
        require(count * 4 <= len(ids.data), "dictionary")
        dictionary = [struct.unpack("<I", ids.take(4))[0] for _ in range(count)]
        require(len(set(dictionary)) == count, "dictionary")
        time, tid, previous, records = chunk.first, 0, {}, []
        rows = zip(times.zigzags(chunk.count), ids.varints(chunk.count), tids.zigzags(chunk.count),
                   cpus.varints(chunk.count) if chunk.cpu == MIXED else itertools.repeat(chunk.cpu),
                   *(column.zigzags(chunk.count) for column in arguments))
        for later, index, other, cpu, *differences in rows:
            time = (time + later) & MASK
            require(index < count and cpu < self.cpus and chunk.first <= time <= chunk.last, "record")
            tid = (tid + other) & MASK
            debugid = dictionary[index]
            before = previous.get(debugid, [0] * 4)
            args = previous[debugid] = [(old + difference) & MASK for old, difference in zip(before, differences)]
            if debugid == STACK and args[2] == BLOCK:
                args = [self.late(tid, time, args[0], args[3]), *args[1:]]
            records.append((time, tid, debugid, cpu, *args))
        for column in columns:
            column.end()
        return records


def lines(trace):
    t = trace
    yield (f"header {t.major}.{t.minor} {t.os} {t.arch} {t.numerator}/{t.denominator} {t.anchor} {t.wall} {t.page} "
           f"{t.cpus} {t.ring} {t.boot.hex()} {t.host.hex()}")
    record_chunks = [chunk for chunk in t.chunks if chunk.kind == RECORDS]
    for c in record_chunks:
        yield f"chunk {c.sequence} {c.offset} {c.cpu} {c.count} {c.lost} {c.first} {c.last}"
        try:
            for r in t.records(c):
                yield f"record {r[0]} {r[1]} {r[2]:08x} {r[3]} {r[4]} {r[5]} {r[6]} {r[7]}"
        except Damaged:
            yield f"damaged-chunk {c.offset}"
    for e in t.threads:
        yield f"thread {e[0]} {e[1]} {e[2]} {e[3]} {e[4]} {e[5].hex()}"
    for e in t.images:
        yield f"image {e[0]} {e[1]} {e[2]} {e[3]} {e[4]} {e[6]} {e[7]} {e[8]} {e[9].hex()} {e[10].hex()}"
    for identity, frames in t.stacks.items():
        yield f"stack {identity} " + " ".join(str(frame) for frame in frames)
    for e in t.snapshots:
        yield (f"snapshot {e[0]} {e[1]} {e[2]} {e[3]} {e[4]} {','.join(str(r) for r in e[5])} {e[6].hex()}")
    for address, name, module in sorted(t.symbols):
        yield f"symbol {address} {name.hex()} {module.hex()}"
    for number, (shape, space, offset, *texts) in sorted(t.probes.items()):
        yield f"probe {number} {shape} {space} {offset} " + " ".join(text.hex() for text in texts)
    for number, (*numbers, label) in sorted(t.flags.items()):
        yield f"flag {number} " + " ".join(map(str, numbers)) + " " + label.hex()
    for pid, start, seen, function, length, line, source, table in sorted(t.code):
        yield f"code {pid} {start} {length} {seen} {line} {function.hex()} {source.hex()} {table.hex()}"
    for (owner, place, level, since), name in sorted(t.names.items()):
        function, source, line, distance, lack, called = name
        if owner[0]:
            owner = f"process {owner[1]}"
        elif owner[1]:
            owner = f"build {owner[2].hex()}"
        else:
            owner = f"file {owner[2]} {owner[3]} {owner[4]} {owner[5].hex()}"
        yield (f"name {owner} {place} {level} {since} {function.hex()} {source.hex()} {line} {distance} {lack} {called.hex()}")
    for note in t.notes:
        yield f"note {note.hex()}"
    for name, value in t.counters:
        yield f"counter {name.hex()} {value}"
    for offset, length in t.damage:
        yield f"damage {offset} {length}"
    last = {}
    for c in record_chunks:
        if c.lost:
            yield f"loss {c.cpu} {c.lost} {last.get(c.cpu, 0)} {c.first}"
        last[c.cpu] = c.last
    count = sum(c.count for c in record_chunks)
    full = [c for c in record_chunks if c.count]
    first, end = min((c.first for c in full), default=0), max((c.last for c in full), default=0)
    start_ns, end_ns = (min(ticks * t.numerator // t.denominator, MASK) for ticks in (first, end))
    lost = min(sum(c.lost for c in record_chunks), MASK)
    yield f"total {count} {lost} {start_ns} {end_ns} {'complete' if t.complete else 'cut'}"


def decode(data, find_key=test_key):
    """All output lines for the bytes of a file; one line that begins with "error" if it is not a trace."""
    try:
        return list(lines(Trace(data, find_key)))
    except Damaged as error:
        return [f"error {error}"]


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as trace_file:
        print("\n".join(decode(trace_file.read())))
