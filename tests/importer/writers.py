"""Writes the events of scene.py in the format of each tracer, by code of its own: nothing of argus-import is used.

Sources: tools/perf/Documentation/perf.data-file-format.txt, Documentation/trace/ftrace.rst, trace-cmd.dat.v6(5), the CTF 1.8
specification, protos/perfetto/trace of Perfetto.
"""
import os
import struct

import scene
import wrapped

# --- the kernel's binary layout of events: name, type, size, offset; the first 8 bytes are common ---

COMMON = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
          ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1)]
LAYOUTS = {
    "sched_switch": ("sched", 301, [
        ("char prev_comm[16]", 8, 16, 0), ("pid_t prev_pid", 24, 4, 1), ("int prev_prio", 28, 4, 1),
        ("long prev_state", 32, 8, 1), ("char next_comm[16]", 40, 16, 0), ("pid_t next_pid", 56, 4, 1), ("int next_prio", 60, 4, 1)]),
    "sched_waking": ("sched", 302, [
        ("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("int prio", 28, 4, 1), ("int target_cpu", 32, 4, 1)]),
    "sys_enter": ("raw_syscalls", 303, [("long id", 8, 8, 1), ("unsigned long args[6]", 16, 48, 0)]),
    "sys_exit": ("raw_syscalls", 304, [("long id", 8, 8, 1), ("long ret", 16, 8, 1)]),
}


def format_text(name):
    _, number, fields = LAYOUTS[name]
    lines = [f"name: {name}", f"ID: {number}", "format:"]
    for group in (COMMON, fields):
        lines += [f"\tfield:{text};\toffset:{offset};\tsize:{size};\tsigned:{signed};" for text, offset, size, signed in group]
        lines.append("")
    return ("\n".join(lines) + '\nprint fmt: "%s", "\u00e4"\n').encode()  # a module's text may be UTF-8


def payload(event):
    _, _, thread, name, values = event
    _, number, fields = LAYOUTS[name]
    data = bytearray(struct.pack("<HBBi", number, 0, 0, thread))
    for text, offset, size, _ in fields:
        field = text.split()[-1].split("[")[0]
        value = values[field]
        if isinstance(value, str):
            part = value.encode().ljust(size, b"\0")
        elif isinstance(value, list):
            part = struct.pack("<6Q", *value)
        else:
            part = value.to_bytes(size, "little", signed=value < 0)
        assert len(data) == offset
        data += part
    return bytes(data)


# --- perf.data ---

def tracing_data():
    """What perf copies out of tracefs."""
    sized = lambda data: struct.pack("<Q", len(data)) + data
    data = b"\x17\x08\x44tracing0.6\0" + bytes([0, 8]) + struct.pack("<I", 4096)
    data += b"header_page\0" + sized(b"") + b"header_event\0" + sized(b"") + struct.pack("<I", 0)
    systems = sorted({layout[0] for layout in LAYOUTS.values()})
    data += struct.pack("<I", len(systems))
    for system in systems:
        names = [name for name in LAYOUTS if LAYOUTS[name][0] == system]
        data += system.encode() + b"\0" + struct.pack("<I", len(names)) + b"".join(sized(format_text(name)) for name in names)
    return data + struct.pack("<I", 0) * 2 + struct.pack("<Q", 0)


SAMPLE_TYPE = 0x10000 | 0x2 | 0x4 | 0x80 | 0x400  # identifier, tid, time, cpu, raw


def perf_attr(number):
    attr = struct.pack("<IIQQQQ", 2, 112, number, 1, SAMPLE_TYPE, 0) + struct.pack("<Q", 1 << 18)
    return attr.ljust(112, b"\0")


def record(kind, body, misc=0):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(thread, time, cpu, number):
    return struct.pack("<IIQIIQ", scene.PROCESSES.get(thread, 0), thread, time, cpu, 0, number)


PERF_IDS = {name: 1000 + place for place, name in enumerate(LAYOUTS)}
PERF_FEATURES = {1: tracing_data(), 6: struct.pack("<I", 8) + b"x86_64\0\0",
                 29: struct.pack("<IIQQ", 1, 1, 1700000000 * scene.SECOND, scene.START)}


def perf_records(events):
    records = b""
    for thread, name in scene.NAMES.items():
        if thread:
            body = struct.pack("<II", scene.PROCESSES[thread], thread) + name.encode().ljust(8, b"\0")
            records += record(3, body + trailer(thread, 0, 0, 0))
    for event in events:
        time, cpu, thread, name, _ = event
        raw = payload(event)
        raw = struct.pack("<I", len(raw) + (-(len(raw) + 4) % 8)) + raw + b"\0" * (-(len(raw) + 4) % 8)
        records += record(9, struct.pack("<QIIQII", PERF_IDS[name], scene.PROCESSES.get(thread, 0), thread, time, cpu, 0) + raw)
    return records


def zstd_pieces(data, size):
    """One zstd frame of raw blocks (RFC 8878), in pieces of this many bytes."""
    yield struct.pack("<I", 0xFD2FB528) + b"\x00\x58"
    for part in in_parts(data, size):
        yield (len(part) << 3).to_bytes(3, "little") + part


def perf_compressed(path, events):
    """perf record -z: pieces of one stream, which divide records anywhere; both kinds of record."""
    records = b""
    for place, piece in enumerate(zstd_pieces(perf_records(events), 999)):
        if place % 2:
            records += record(83, (struct.pack("<Q", len(piece)) + piece).ljust(8 + len(piece) + -len(piece) % 8, b"\0"))
        else:
            records += struct.pack("<IHH", 81, 0, 8 + len(piece)) + piece  # not padded
    perf_data(path, events, records)


def perf_bomb(path, events, blocks):
    """After the events: compressed records of a kind that nobody knows, 128 KB in each block of 4 bytes: one byte, repeated (RFC 8878)."""
    stream = struct.pack("<I", 0xFD2FB528) + b"\x00\x58" + ((128 << 10 << 3 | 2).to_bytes(3, "little") + b"\x08") * blocks
    packed = b"".join(struct.pack("<IHH", 81, 0, 8 + len(part)) + part for part in in_parts(stream, 32000))
    perf_data(path, events, perf_records(events) + packed)


def perf_pipe(path, events):
    """perf record -o -: records take the place of tables."""
    out = b"PERFILE2" + struct.pack("<Q", 16)
    for name, number in PERF_IDS.items():
        out += record(64, perf_attr(LAYOUTS[name][1]) + struct.pack("<Q", number))
    for bit, data in PERF_FEATURES.items():
        if bit == 1:
            out += record(66, struct.pack("<I", len(data))) + data.ljust(len(data) + -len(data) % 8, b"\0")
        else:
            out += record(80, struct.pack("<Q", bit) + data)
    path.write_bytes(out + perf_records(events))


CLOCK_ID = 2000


def perf_renamed(path, events):
    """perf record -e cpu-clock,sched:… COMMAND: samples of the clock have no CPU, and the command has perf's name before it starts. Its
    window renames itself later. Of a loss of the clock's samples, the CPU is not known either."""
    def comm(name, time):
        body = struct.pack("<II", scene.CLIENT, scene.CLIENT) + name.ljust(16, b"\0")
        return record(3, body + trailer(scene.CLIENT, time, 0, PERF_IDS["sched_switch"]))
    sample_type = SAMPLE_TYPE & ~0x480
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, sample_type, 0, 1 << 18).ljust(112, b"\0")
    lost = struct.pack("<QQIIQQ", 0, 7, scene.CLIENT, scene.CLIENT, scene.START + 1, CLOCK_ID)
    records = comm(b"perf-exec", 0) + comm(b"starter", scene.START - 10) + comm(b"gui", scene.START - 5) + record(2, lost)
    renamed = [(*event[:4], {name: "gui" if value == "window" else value for name, value in event[4].items()}) for event in events]
    sample = record(9, struct.pack("<QIIQ", CLOCK_ID, scene.CLIENT, scene.CLIENT, scene.START + 2))
    perf_data(path, events, records + sample + perf_records(renamed), [(attr, CLOCK_ID)])


def perf_data(path, events, records=None, others=()):
    """`others`: further events, each with its ID."""
    features = PERF_FEATURES
    attrs = [(perf_attr(LAYOUTS[name][1]), number) for name, number in PERF_IDS.items()] + list(others)
    records = records or perf_records(events)
    header_bytes, attr_bytes = 104, 128
    ids_at = header_bytes
    attrs_at = ids_at + 8 * len(attrs)
    data_at = attrs_at + attr_bytes * len(attrs)
    sections, contents = b"", b""
    contents_at = data_at + len(records) + 16 * len(features)
    for bit in sorted(features):
        sections += struct.pack("<QQ", contents_at + len(contents), len(features[bit]))
        contents += features[bit]
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", header_bytes, attr_bytes, attrs_at, attr_bytes * len(attrs), data_at,
                                       len(records), 0, 0) + struct.pack("<4Q", sum(1 << bit for bit in features), 0, 0, 0)
    body = b"".join(struct.pack("<Q", number) for _, number in attrs)
    for place, (attr, _) in enumerate(attrs):
        body += attr + struct.pack("<QQ", ids_at + 8 * place, 8)
    path.write_bytes(header + body + records + sections + contents)


# --- text ---

STATES = "RSDTtXZPI"


def ftrace_text(path, events):
    lines = ["# tracer: nop", "#", "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION"]
    for time, cpu, thread, name, values in events:
        if name == "sched_switch":
            state = values["prev_state"]
            letter = "R" if not state else STATES[state.bit_length()]
            body = "prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d next_prio=%d" % (
                values["prev_comm"], values["prev_pid"], values["prev_prio"], letter, values["next_comm"], values["next_pid"],
                values["next_prio"])
        elif name == "sched_waking":
            body = "comm=%s pid=%d prio=%d target_cpu=%03d" % tuple(values.values())
        elif name == "sys_enter":
            body = "NR %d (%s)" % (values["id"], ", ".join("%x" % value for value in values["args"]))
        else:
            body = "NR %d = %d" % (values["id"], values["ret"])
        who = "<idle>" if not thread else scene.NAMES[thread]
        process = "(%7d)" % scene.PROCESSES[thread] if thread else "(-------)"
        lines.append("%16s-%-7d %s [%03d] d..2. %d.%09d: %s: %s" % (
            who, thread, process, cpu, time // scene.SECOND, time % scene.SECOND, name, body))
    path.write_text("\n".join(lines) + "\n")


# --- Perfetto ---

def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


PERFETTO = {
    "sched_switch": (4, ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"]),
    "sched_waking": (20, ["comm", "pid", "prio"]),
    "sys_enter": (329, ["id", "args"]),
    "sys_exit": (330, ["id", "ret"]),
}


def perfetto_event(event):
    time, _, thread, name, values = event
    place, fields = PERFETTO[name]
    inner = b""
    for index, field in enumerate(fields, 1):
        value = values[field]
        for one in value if isinstance(value, list) else [value]:
            inner += message(index, one) if isinstance(one, str) else number(index, one)
    return number(1, time) + number(2, thread) + number(5, 0) + message(place, inner)


def perfetto_tree():
    tree = b""
    for pid in (100, 200):
        tree += message(1, number(1, pid) + number(2, 1) + message(3, scene.NAMES[pid]))
    for thread, process in scene.PROCESSES.items():
        tree += message(2, number(1, thread) + message(2, scene.NAMES[thread]) + number(3, process))
    return message(1, message(2, tree))


def perfetto_clocks():
    clocks = message(1, number(1, 1) + number(2, 1700000000 * scene.SECOND)) + message(1, number(1, 6) + number(2, scene.START))
    return message(1, message(6, clocks))


def perfetto(path, events):
    out = perfetto_tree() + perfetto_clocks()
    for cpu in (0, 1):
        bundle = number(1, cpu) + b"".join(message(2, perfetto_event(event)) for event in events if event[1] == cpu)
        out += message(1, message(1, bundle))
    path.write_bytes(out)


def perfetto_samples(path, count, name="rebuild", depth=1):
    """Samples of thread 201 in rebuild(), called by main(), whose clock (3) is 7 s behind that of the kernel's events. Then a sample that
    tells that 5 were lost before, and two that the profiler skipped."""
    clocks = message(1, number(1, 3) + number(2, scene.START - 7 * scene.SECOND)) + message(1, number(1, 6) + number(2, scene.START))
    text = lambda iid, value: number(1, iid) + message(2, value)
    names = message(5, text(1, name)) + message(5, text(2, "main")) + message(17, text(1, "/opt/bin/server"))
    names += message(19, number(1, 1) + number(7, 1))
    names += b"".join(message(6, number(1, iid) + number(2, name) + number(3, 1) + number(4, 64)) for iid, name in ((1, 1), (2, 2), (3, 0)))
    names += message(7, number(1, 9) + number(2, 3) + number(2, 2) + number(2, 1) * depth)
    out = message(1, message(6, clocks)) + message(1, number(10, 5) + number(13, 1) + message(12, names) + message(59, number(58, 3)))
    begin = scene.START - 6 * scene.SECOND
    packet = lambda time, sample: message(1, number(8, time) + number(10, 5) + message(66, sample))
    whose = number(1, 1) + number(2, 200) + number(3, scene.SERVER)
    for at in range(count):
        out += packet(begin + at * 1000000, whose + number(4, 9))
    out += packet(begin + 500000, number(1, 1) + number(17, 5)) + packet(begin + 600000, whose + number(18, 2)) * 2
    with open(path, "ab") as file:
        file.write(out)


def perfetto_many_processes(path, count, name, depth):
    """A sample of each of many processes, in functions with long names."""
    text = lambda iid, value: number(1, iid) + message(2, value)
    names = b"".join(message(5, text(iid, f"{iid}{name}")) + message(6, number(1, iid) + number(2, iid)) for iid in range(1, depth + 1))
    out = message(1, number(10, 6) + message(12, names + message(7, number(1, 9) + b"".join(number(2, iid) for iid in range(1, depth + 1)))))
    for at in range(count):
        sample = number(1, 1) + number(2, 1000 + at) + number(3, 1000 + at) + number(4, 9)
        out += message(1, number(8, scene.START + at) + number(10, 6) + message(66, sample))
    with open(path, "ab") as file:
        file.write(out)


def packed(field, values):
    return message(field, b"".join(varint(value) for value in values))


def differences(values):
    return [values[0]] + [b - a for a, b in zip(values, values[1:])] if values else []


def perfetto_columns(path, events):
    """The same with switches and wake-ups in columns."""
    out = perfetto_tree() + perfetto_clocks()
    for cpu in (0, 1):
        own = [event for event in events if event[1] == cpu]
        switches = [event for event in own if event[3] == "sched_switch"]
        wakes = [event for event in own if event[3] == "sched_waking"]
        names = sorted(set(scene.NAMES.values()))
        columns = b"".join(message(5, name) for name in names)
        columns += packed(1, differences([event[0] for event in switches]))
        columns += packed(2, [event[4]["prev_state"] for event in switches])
        columns += packed(3, [event[4]["next_pid"] for event in switches])
        columns += packed(4, [120] * len(switches)) + packed(6, [names.index(event[4]["next_comm"]) for event in switches])
        columns += packed(7, differences([event[0] for event in wakes])) + packed(8, [event[4]["pid"] for event in wakes])
        columns += packed(10, [120] * len(wakes)) + packed(11, [names.index(event[4]["comm"]) for event in wakes])
        columns += packed(12, [0] * len(wakes))
        rest = [event for event in own if event[3] not in ("sched_switch", "sched_waking")]
        bundle = number(1, cpu) + message(4, columns) + b"".join(message(2, perfetto_event(event)) for event in rest)
        out += message(1, message(1, bundle))
    path.write_bytes(out)


# --- CTF, with LTTng's names ---

CTF_METADATA = """/* CTF 1.8 */
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = true; } := int64_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { domain = "kernel"; hostname = "test"; kernel_release = "6.1.0"; tracer_name = "lttng-modules"; };
clock { name = monotonic; freq = 1000000000; offset_s = 1699999950; };
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := stamp_t;
stream { id = 0;
  packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t content_size; uint64_t packet_size; uint32_t cpu_id; };
  event.header := struct { uint32_t id; stamp_t timestamp; };
  event.context := struct { int64_t _tid; int64_t _pid; string _procname; };
};
event { name = "sched_switch"; id = 0; stream_id = 0; fields := struct { string _prev_comm; int64_t _prev_tid; int64_t _prev_prio;
  int64_t _prev_state; string _next_comm; int64_t _next_tid; int64_t _next_prio; }; };
event { name = "sched_waking"; id = 1; stream_id = 0; fields := struct { string _comm; int64_t _tid; int64_t _prio; int64_t _target_cpu; }; };
event { name = "syscall_entry_read"; id = 2; stream_id = 0; fields := struct { uint64_t _fd; uint64_t _count; }; };
event { name = "syscall_exit_read"; id = 3; stream_id = 0; fields := struct { int64_t _ret; }; };
event { name = "syscall_entry_write"; id = 4; stream_id = 0; fields := struct { uint64_t _fd; uint64_t _count; }; };
event { name = "syscall_exit_write"; id = 5; stream_id = 0; fields := struct { int64_t _ret; }; };
"""


def text_field(value):
    return value.encode() + b"\0"


def ctf_event(event, with_context=True):
    time, _, thread, name, values = event
    if name == "sched_switch":
        kind, body = 0, (text_field(values["prev_comm"]) + struct.pack("<qqq", values["prev_pid"], 120, values["prev_state"]) +
                         text_field(values["next_comm"]) + struct.pack("<qq", values["next_pid"], 120))
    elif name == "sched_waking":
        kind, body = 1, text_field(values["comm"]) + struct.pack("<qqq", values["pid"], 120, values["target_cpu"])
    elif name == "sys_enter":
        kind, body = 2 + 2 * values["id"], struct.pack("<QQ", values["args"][0], values["args"][2])
    else:
        kind, body = 3 + 2 * values["id"], struct.pack("<q", values["ret"])
    context = struct.pack("<qq", thread, scene.PROCESSES.get(thread, 0)) + text_field(scene.NAMES[thread])
    return struct.pack("<IQ", kind, time) + (context if with_context else b"") + body


def ctf(path, events):
    folder = path / "kernel"
    folder.mkdir(parents=True)
    (folder / "metadata").write_text(CTF_METADATA)
    for cpu in (0, 1):
        own = [event for event in events if event[1] == cpu]
        content = b"".join(ctf_event(event) for event in own)
        size = 8 + 36 + len(content)
        header = struct.pack("<II", 0xc1fc1fc1, 0) + struct.pack("<QQQQI", own[0][0], own[-1][0], size * 8, size * 8, cpu)
        (folder / f"channel0_{cpu}").write_bytes(header + content)


def ctf_packet(cpu, lost, first, last, content):
    """A packet of a stream that counts the events that were lost."""
    size = 8 + 44 + len(content)
    return struct.pack("<II", 0xc1fc1fc1, 0) + struct.pack("<QQQQQI", first, last, size * 8, size * 8, lost, cpu) + content


def kernel_packets(path, packets, counts="events_discarded"):
    """`packets`: a list of (cpu, events lost so far, events of the scene); the events do not tell their thread. With
    counts="packet_seq_num", the number of the packet instead of events that were lost."""
    folder = path / "kernel"
    folder.mkdir(parents=True)
    metadata = CTF_METADATA.replace("uint64_t packet_size;", f"uint64_t packet_size; uint64_t {counts};")
    context = metadata.index("  event.context")
    (folder / "metadata").write_text(metadata[:context] + metadata[metadata.index("\n", context) + 1:])
    for cpu, lost, events in packets:
        content = b"".join(ctf_event(event, False) for event in events)
        with open(folder / f"channel0_{cpu}", "ab") as stream:
            stream.write(ctf_packet(cpu, lost, events[0][0], events[-1][0], content))


PERF_METADATA = CTF_METADATA[:CTF_METADATA.index("env {")] + """env { domain = "perf"; hostname = "test"; release = "6.1.0"; };
""" + CTF_METADATA[CTF_METADATA.index("clock {"):CTF_METADATA.index("  event.context")] + """};
event { name = "sched:sched_switch"; id = 0; stream_id = 0; fields := struct { uint32_t perf_tid; uint32_t perf_pid; string prev_comm;
  int64_t prev_pid; int64_t prev_prio; int64_t prev_state; string next_comm; int64_t next_pid; int64_t next_prio; }; };
event { name = "sched:sched_waking"; id = 1; stream_id = 0; fields := struct { uint32_t perf_tid; uint32_t perf_pid; string comm; int64_t pid;
  int64_t prio; int64_t target_cpu; }; };
event { name = "raw_syscalls:sys_enter"; id = 2; stream_id = 0; fields := struct { uint32_t perf_tid; uint32_t perf_pid; int64_t id;
  uint64_t args[6]; }; };
event { name = "raw_syscalls:sys_exit"; id = 3; stream_id = 0; fields := struct { uint32_t perf_tid; uint32_t perf_pid; int64_t id; int64_t ret; }; };
"""


def perf_ctf_event(event):
    time, _, thread, name, values = event
    body = b"".join(text_field(value) if isinstance(value, str) else struct.pack("<6Q", *value) if isinstance(value, list) else
                    struct.pack("<q", value) for value in values.values())
    return struct.pack("<IQII", list(LAYOUTS).index(name), time, thread, scene.PROCESSES.get(thread, 0)) + body


def perf_ctf(path, events):
    """perf data convert --to-ctf: each event tells its thread."""
    path.mkdir()
    (path / "metadata").write_text(PERF_METADATA)
    for cpu in (0, 1):
        own = [event for event in events if event[1] == cpu]
        content = b"".join(perf_ctf_event(event) for event in own)
        size = 8 + 36 + len(content)
        header = struct.pack("<II", 0xc1fc1fc1, 0) + struct.pack("<QQQQI", own[0][0], own[-1][0], size * 8, size * 8, cpu)
        (path / f"perf_stream_{cpu}").write_bytes(header + content)


USER_METADATA = CTF_METADATA[:CTF_METADATA.index("env {")] + """env { domain = "ust"; hostname = "test"; tracer_name = "lttng-ust"; };
""" + CTF_METADATA[CTF_METADATA.index("clock {"):CTF_METADATA.index("stream {")] + """
stream {
  id = 0;
  packet.context := struct { stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t content_size; uint64_t packet_size;
                             uint64_t events_discarded; uint32_t cpu_id; };
  event.header := struct { uint32_t id; stamp_t timestamp; };
};
event { name = "shop:order"; id = 0; stream_id = 0; fields := struct { string what; int64_t number; }; };
"""


def user_packet(cpu, lost, events):
    """Events (time, number) of a program, without contexts."""
    content = b"".join(struct.pack("<IQ", 0, time) + text_field("tea") + struct.pack("<q", number_of) for time, number_of in events)
    return ctf_packet(cpu, lost, events[0][0], events[-1][0], content)


def user_events(path, packets):
    """`packets`: a list of (cpu, events lost so far, events); one stream for each CPU."""
    folder = path / "ust" / "uid" / "0" / "64-bit"
    folder.mkdir(parents=True)
    (folder / "metadata").write_text(USER_METADATA)
    for cpu, lost, events in packets:
        with open(folder / f"channel0_{cpu}", "ab") as stream:
            stream.write(user_packet(cpu, lost, events))


# --- trace.dat ---

def ring_page(events):
    """One page of the kernel's ring buffer: time, length, then events with the difference to the time before."""
    data, time = b"", events[0][0]
    for event in events:
        difference = event[0] - time
        time = event[0]
        if difference >= 1 << 27:  # a time extension: type 30
            data += struct.pack("<II", 30 | (difference & (1 << 27) - 1) << 5, difference >> 27)
            difference = 0
        body = payload(event)
        data += struct.pack("<II", difference << 5, len(body) + 4) + body
    return (struct.pack("<QQ", events[0][0], len(data)) + data).ljust(4096, b"\0")


HEADER_PAGE = b"""\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;
"""
HEADER_EVENT = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n"


def trace_dat(path, events, instance=None):
    """With the name of an instance, its buffer has the events, and the file's own one has none (trace-cmd record -B NAME)."""
    sized = lambda data: struct.pack("<Q", len(data)) + data
    out = b"\x17\x08\x44tracing6\0" + bytes([0, 8]) + struct.pack("<I", 4096)
    out += b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(HEADER_EVENT) + struct.pack("<I", 0)
    systems = sorted({layout[0] for layout in LAYOUTS.values()})
    out += struct.pack("<I", len(systems))
    for system in systems:
        names = [name for name in LAYOUTS if LAYOUTS[name][0] == system]
        out += system.encode() + b"\0" + struct.pack("<I", len(names)) + b"".join(sized(format_text(name)) for name in names)
    saved = "".join("%d %s\n" % pair for pair in scene.NAMES.items() if pair[0]).encode()
    out += struct.pack("<I", 0) + struct.pack("<I", 0) + sized(saved)
    out += struct.pack("<I", 2) + b"options  \0"
    if instance:  # option 3 tells where its part begins, which is behind the file's own
        option = instance.encode() + b"\0"
        empty = struct.pack("<H", 0) + b"flyrecord\0" + struct.pack("<QQQQ", 0, 0, 0, 0)
        out += struct.pack("<HI", 3, 8 + len(option)) + struct.pack("<Q", len(out) + 14 + len(option) + len(empty)) + option + empty
        out += b"flyrecord\0"
    else:
        out += struct.pack("<H", 0) + b"flyrecord\0"
    pages = [b"".join(ring_page(part) for part in in_parts([event for event in events if event[1] == cpu], 20)) for cpu in (0, 1)]
    place = (len(out) + 32 + 4095) // 4096 * 4096
    out += struct.pack("<QQ", place, len(pages[0])) + struct.pack("<QQ", place + len(pages[0]), len(pages[1]))
    path.write_bytes(out.ljust(place, b"\0") + pages[0] + pages[1])


def in_parts(items, size):
    return [items[at:at + size] for at in range(0, len(items), size)]


# name in `argus-import --formats` → file name, writer
FORMATS = {
    "perf.data": ("perf.data", perf_data),
    "trace.dat": ("trace.dat", trace_dat),
    "CTF (LTTng)": ("lttng", ctf),
    "Perfetto": ("window.pftrace", perfetto),
    "ftrace text": ("trace.txt", ftrace_text),
    "systrace (HTML)": ("trace.html", wrapped.systrace(ftrace_text)),
    "atrace -z": ("trace.ctrace", wrapped.atrace(ftrace_text)),
    "Chrome trace (JSON)": ("chrome.json", wrapped.chrome(ftrace_text)),
}
