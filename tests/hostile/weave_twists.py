"""The twists of weave.py. Each changes what a trace says; its name becomes a part of the file's name."""
import copy
import struct

from woven import (EVIL, EXTREMES, MASK, NEW_THREAD, OTHER_IDS, RUNNABLE, STACK_RECORD, SWITCH, decode, string, varint, zigzag)

TWISTS = {}


def twist(function):
    TWISTS[function.__name__] = function
    return function


@twist
def one_thread(w, dice):
    """All records are of one thread, which so waits for itself and wakes itself."""
    tid = dice.choice(w.tids())
    for record in w.records:
        record[1] = tid


@twist
def few_threads(w, dice):
    for record in w.records:
        record[1] %= 3
        if record[2] in (RUNNABLE, SWITCH):
            record[4 + (record[2] == SWITCH)] %= 3


@twist
def wakes_itself(w, dice):
    for record in w.records:
        if record[2] == RUNNABLE:
            record[4] = record[1]


@twist
def parents_in_a_ring(w, dice):
    """Threads that create their own creator; processes that are their own parents."""
    tids = w.tids()
    for i, entry in enumerate(w.threads):
        entry[2] = w.threads[(i + 1) % len(w.threads)][1] if i % 2 else entry[1]
    low = min(w.times())
    for i, tid in enumerate(tids * 20):
        w.records.append([low + i, tid, NEW_THREAD, 0, tids[(i * 7 + 1) % len(tids)], tids[(i * 3) % len(tids)], i % 2, tid])


@twist
def backward(w, dice):
    """Time runs backward, in the order of the file."""
    low, high = min(w.times()), max(w.times())
    for record in w.records:
        record[0] = low + high - record[0]


@twist
def one_instant(w, dice):
    instant = dice.choice(w.times())
    for record in w.records:
        record[0] = instant


@twist
def ages(w, dice):
    """From the first nanosecond to the end of 64 bits."""
    low, high = min(w.times()), max(w.times())
    for record in w.records:
        record[0] = (record[0] - low) * MASK // max(1, high - low)


@twist
def around_the_end(w, dice):
    high = max(w.times())
    for record in w.records:
        record[0] = MASK - (high - record[0])


@twist
def timebase(w, dice):
    w.base = dice.choice([((1 << 32) - 1, 1), (1, (1 << 32) - 1), ((1 << 32) - 1, (1 << 32) - 2), (125, 3), (1 << 31, 7)])
    w.anchor, w.wall = dice.choice(EXTREMES), dice.choice(EXTREMES)


@twist
def other_system(w, dice):
    """Linux's records under the header of macOS, or the other way round."""
    w.os = 3 - w.os if w.os in (1, 2) else 2
    w.arch = dice.choice([1, 2])


@twist
def odd_machine(w, dice):
    w.os, w.arch, w.page = dice.choice([0, 1, 2, 77]), dice.choice([0, 1, 2, 99]), dice.choice([0, 1, 3, (1 << 32) - 1])


@twist
def many_cpus(w, dice):
    w.cpus, w.mixed = 65536, dice.random() < 0.7
    for i, record in enumerate(w.records):
        record[3] = i * 257 % 65536


@twist
def one_cpu(w, dice):
    for record in w.records:
        record[3] = 0


@twist
def ids_shuffled(w, dice):
    ids = sorted({record[2] for record in w.records})
    other = dict(zip(ids, dice.sample(ids, len(ids))))
    for record in w.records:
        record[2] = other[record[2]]


@twist
def ids_of_all_kinds(w, dice):
    for record in w.records:
        if dice.random() < 0.3:
            record[2] = dice.choice(OTHER_IDS)


@twist
def starts_are_ends(w, dice):
    for record in w.records:
        if record[2] & 3:
            record[2] ^= 3


@twist
def never_ends(w, dice):
    w.records = [record for record in w.records if record[2] & 3 != 2]


@twist
def only_ends(w, dice):
    w.records = [record for record in w.records if record[2] & 3 != 1]


@twist
def arguments_turned(w, dice):
    for record in w.records:
        record[4:8] = record[5:8] + record[4:5]


@twist
def arguments_extreme(w, dice):
    for record in w.records:
        for i in range(4, 8):
            if dice.random() < 0.3:
                record[i] = dice.choice(EXTREMES)


@twist
def arguments_are_threads(w, dice):
    tids = w.tids()
    for record in w.records:
        record[dice.randrange(4, 8)] = dice.choice(tids)


@twist
def threads_extreme(w, dice):
    other = {tid: dice.choice(EXTREMES) for tid in w.tids()}
    for record in w.records:
        record[1] = other.get(record[1], record[1])
    for entry in w.threads:
        entry[:3] = [other.get(entry[0], 0), dice.choice(EXTREMES), dice.choice(EXTREMES)]


@twist
def said_twice(w, dice):
    """Each table twice, the second time with other content under the same IDs."""
    for name in ("threads", "images", "stacks", "probes", "flags", "late", "counters"):
        entries = getattr(w, name)
        again = copy.deepcopy(entries)
        for i, entry in enumerate(again):
            entry[1:] = copy.deepcopy(entries[-1 - i][1:])
        entries += again
    w.symbols += [(address, module, name) for address, name, module in w.symbols]
    w.symbols.sort()
    w.records += copy.deepcopy(w.records)


@twist
def stacks_of_ends(w, dice):
    """Deep stacks of marks, interpreter frames and one address again and again."""
    for entry in w.stacks:
        address = dice.choice([0x400010, 1 << 60 | 0x400010, 1 << 61 | 0x7FFC00001000, 1 << 62 | 0x7FFC00001000, MASK, 0, 3])
        entry[1] = [dice.choice([address, *entry[1], dice.randrange(16)]) for _ in range(dice.choice([1, 2, 127]))]
    w.stacks += [[identity ^ 0x2545F4914F6CDD1C, [1 << 60 | 1, 1 << 62 | 2, *frames][:127]] for identity, frames in w.stacks]


@twist
def stacks_everywhere(w, dice):
    """Each record has a stack just after it, of an ID that exists or nearly exists."""
    known = [identity for identity, _ in w.stacks] or [1]
    if not w.stacks:
        w.stacks = [[1, [0x400010, 0x400020, 0x400030]]]
    w.records = [entry for record in w.records for entry in (record, [
        record[0], record[1], STACK_RECORD, record[3], dice.choice(known), dice.choice([0, 1, *known]), dice.randrange(8), dice.choice(EXTREMES)])]


@twist
def late_stacks(w, dice):
    times, known = w.times(), [identity for identity, _ in w.stacks] or [1]
    for tid in w.tids() * 30:
        w.late.append([tid, dice.choice([*times, *EXTREMES]), dice.choice(EXTREMES), dice.choice([0, 0x7FFC00001000, MASK]), dice.choice(known)])


@twist
def names_of_64_kb(w, dice):
    long = EVIL + "L" * 65000
    for entry in w.threads[:6]:
        entry[4] = long
    pid = w.threads[0][1] if w.threads else 1
    w.images += [[pid, 0x400000 + (i << 20), 1 << 20, 0, 0, i, 0, 0, b"", f"/{long}{i}"] for i in range(4)]
    w.symbols += [(0xFFFFFFFF81000000 + i, long, long) for i in range(2)]
    w.probes += [[65536 + i, i % 12, i % 3, i, long, long, long] for i in range(12)]
    w.flags += [[i, pid, 0x601000 + 8 * i, 8, i % 3, 0, 0, long] for i in range(4)]
    w.notes += [long, "recorded without signals: " + long, "package of " + long, "the recording machine: " + long]


@twist
def names_evil(w, dice):
    for entry in w.threads:
        entry[4] = EVIL + str(entry[0])
    for entry in w.images:
        entry[-1] = "/" + EVIL
    w.notes += [EVIL, "\n\nargus: all is well", "%s%s%n", "recorded by perf_event, because " + EVIL, "this kernel has no tracepoint " + EVIL]


@twist
def images_overlap(w, dice):
    for pid in {entry[1] for entry in w.threads} or {1}:
        for i in range(150):
            start = dice.choice([0, 1, 0x400000, i << 12, MASK - (i << 12)])
            w.images.append([pid, start, dice.choice([0, 1, MASK, 4096 * i]), dice.choice(EXTREMES), dice.choice(w.times()), i % 5,
                             i % 2, 0, bytes([i % 3]) * (i % 21), dice.choice(["/dev/watchdog", "/proc/self/mem", "/x", "", "//", "/dev/zero"])])


@twist
def notes_of_hangs(w, dice):
    for value in EXTREMES:
        w.notes += [f"kept for a hang: pid {value}, tid {value}, from {value} ns, for {value} ns, over, of x", f"diagnosed: LongWait, signature {value:x}, {EVIL}",
                    f"kept for a hang: pid -{value}, tid 99999999999999999999999, from -1 ns, for  ns, lasting, of ", "diagnosed: , signature , "]


@twist
def losses(w, dice):
    w.lost, w.per_chunk = dice.choice([MASK, 1 << 63, 1]), 3
    w.counters += [["records", MASK], ["lost", 1], ["lost", MASK], ["stacks_lost", MASK], ["", 0], [EVIL, 7]]


@twist
def sequence_twice(w, dice):
    w.sequence = dice.choice([lambda n: 0, lambda n: MASK, lambda n: n // 2, lambda n: MASK - n, lambda n: n * (1 << 61)])


@twist
def chunks_shuffled(w, dice):
    def shuffled(chunks):
        dice.shuffle(chunks)
        return chunks
    w.order = shuffled


@twist
def chunks_twice(w, dice):
    w.order = lambda chunks: [chunk for chunk in chunks for _ in range(dice.choice([1, 2, 5]))]


@twist
def tiny_chunks(w, dice):
    w.per_chunk, w.codec = 1, dice.choice([0, 1])


@twist
def ring(w, dice):
    """A ring whose size has little to do with the file."""
    w.ring = dice.choice([8, 64, 65536, (1 << 63) - 4104, 1 << 40])


@twist
def callbacks(w, dice):
    w.probes += [[i, i % 13, dice.choice([0, 1, 77]), i, "/lib/x", f"symbol{i}", f"label{i}"] for i in range(20)]
    for record in list(w.records):
        w.records.append([record[0], record[1], dice.choice([0x60030004, 0x60030009, 0x6003000A, 0x6003000C, 0x60030010, 0x60030014]), record[3],
                          dice.choice([0, 1, record[4]]), dice.choice(EXTREMES), dice.choice([*range(22), 0xFFFFFFFE]), dice.choice([0, 1, 0x7FFC00001000, MASK])])
    w.records.sort()


@twist
def messages(w, dice):
    for record in list(w.records):
        w.records.append([record[0], record[1], 0x60020010, record[3], dice.choice([0, 1, 2]), dice.choice([0, 1, 4096, (1 << 48) - 1]) |
                          dice.randrange(14) << 48 | dice.randrange(256) << 56, dice.choice([*EXTREMES, record[0]]), dice.choice([0, 1, 2])])


@twist
def again_and_again(w, dice):
    """The whole trace many times, each time with other threads, or with the same."""
    span, other = max(w.times()) - min(w.times()) + 1, dice.random() < 0.5
    once = w.records[:2000]
    for turn in range(1, min(200, 60000 // max(1, len(once)))):
        for record in once:
            w.records.append([(record[0] + turn * span) & MASK, record[1] + turn * 100000 * other, *record[2:]])


@twist
def flags(w, dice):
    pid = w.threads[0][1] if w.threads else 1
    w.flags += [[i, pid, 0x601000, dice.choice([0, 1, 8]), i % 3, dice.choice(EXTREMES), dice.choice(EXTREMES), f"flag{i}"] for i in range(50)]
    for record in list(w.records):
        w.records.append([record[0], record[1], dice.choice([0x60050004, 0x60050008]), record[3], 0x601000, dice.choice(EXTREMES),
                          dice.choice(EXTREMES), dice.choice(EXTREMES)])


@twist
def paths(w, dice):
    """Parts of names that go on and on."""
    word = int.from_bytes(b"\x1b[31mA/\xff", "little")
    for record in list(w.records):
        kind = dice.choice([0x60020028, 0x60020034, 0x60020038, 0x6001002C, 0x60020044, 0x07010010])
        w.records += [[record[0], record[1], kind, record[3], word, word, word, word] for _ in range(dice.choice([1, 13, 40]))]


@twist
def locks(w, dice):
    tids = w.tids()
    for record in list(w.records):
        w.records.append([record[0], record[1], 0x60020024, record[3], dice.randrange(3), dice.randrange(5) << 32 | dice.randrange(5) << 40 |
                          dice.randrange(4) << 48, dice.choice([0, 5, MASK]), dice.choice([0, 9, MASK])])
        w.records.append([record[0], record[1], 0x6002000C, record[3], 0x601040, dice.choice(tids) | 1 << 31, dice.choice(tids), 0])


@twist
def inlined_in_itself(w, dice):
    """Functions that are inlined in each other, names for every byte, code objects with tables of lines."""
    owner = varint(0) + varint(7) + varint(0) + varint(0) + string("/bin/x")
    name = varint(0) + owner + zigzag(16) + string("f" * 40) + string("/s.c") + varint(1) + varint(0) + varint(0)
    rest = b"".join(varint(1 | 4 | 8) + zigzag(dice.choice([0, 1, -1])) + varint(i) + varint(0) + varint(i % 6) for i in range(3000))
    w.extra.append((decode.NAMES, 3001, name + rest))
    level = b"".join(varint(0) + owner + zigzag(16) + string("f") + string("") + varint(i) + varint(0) + varint(0) + varint(i + 1) for i in range(2000))
    w.extra.append((decode.INLINED, 2000, level))
    lines = bytes(dice.randrange(256) for _ in range(300))
    w.extra.append((decode.CODE, 100, b"".join(varint(w.tids()[0]) + varint(dice.choice([16, 1 << 50, MASK - 999])) + varint(dice.choice([0, 600])) + varint(i) +
                    varint(i) + string(EVIL) + string("/p.py") + varint(len(lines)) + lines for i in range(100))))


@twist
def snapshots(w, dice):
    """Copied stacks that point to themselves, with registers at the end of the address space."""
    out = b""
    for i in range(200):
        sp = dice.choice([0, 8, 0x7FFC00001000, MASK - 7, MASK])
        registers = [dice.choice([sp, *EXTREMES, 0x400010]) for _ in range(dice.choice([0, 9, 17, 33]))]
        words = struct.pack("<64Q", *(dice.choice([sp, sp + 16 & MASK, 0x400010, 0x5041474B43415453, MASK]) for _ in range(64)))
        out += struct.pack("<Q", i % 90 + 1) + b"".join(map(varint, (w.tids()[i % len(w.tids())], w.tids()[0], dice.choice(w.times()), i % 3,
                                                                 len(registers), *registers, len(words)))) + words
    w.extra.append((decode.SNAPSHOTS, 200, out))
    w.extra.append((decode.PADDING, 0, b""))
