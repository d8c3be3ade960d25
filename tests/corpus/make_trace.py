#!/usr/bin/env python3
"""Makes the broken traces of tests/corpus/trace: make_trace.py MKTRACE.

Each is example.trace (tests/build) with one thing wrong; the file's name says which. What a fuzzer finds is
added beside them by hand, with a name that says what it was.
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = 4096  # offset of the first chunk


def whole(mktrace):
    text = os.path.join(HERE, "..", "build", "example.trace")
    path = os.path.join(HERE, "trace", "whole.argus")
    subprocess.run([mktrace, text, path], check=True)
    with open(path, "rb") as trace_file:
        return trace_file.read()


def chunks(data):
    """(offset, stored size, kind) of each chunk."""
    at = FIRST
    while at < len(data):
        kind, _, stored = struct.unpack_from("<HHI", data, at + 4)
        yield at, stored, kind
        at += (64 + stored + 7) // 8 * 8


def records_chunk(data):
    return next((at, stored) for at, stored, kind in chunks(data) if kind == 1)


def seal_chunk(data, at):
    stored = struct.unpack_from("<I", data, at + 8)[0]
    struct.pack_into("<I", data, at + 56, zlib.crc32(data[at + 64 : at + 64 + stored]))
    struct.pack_into("<I", data, at + 60, zlib.crc32(data[at : at + 60]))


def seal_header(data):
    struct.pack_into("<I", data, 4092, zlib.crc32(data[:4092]))


def with_header(data, offset, form, value):
    data = bytearray(data)
    struct.pack_into(form, data, offset, value)
    seal_header(data)
    return data


def with_chunk(data, offset, form, value):
    """One field of the first record chunk's header changed, with right checksums."""
    data = bytearray(data)
    at, _ = records_chunk(data)
    struct.pack_into(form, data, at + offset, value)
    seal_chunk(data, at)
    return data


def with_payload(data, offset, byte):
    data = bytearray(data)
    at, _ = records_chunk(data)
    data[at + 64 + offset] = byte
    seal_chunk(data, at)
    return data


SNAPSHOTS = """
thread 10 name editor
image pid 10 start 0x400000 end 0x480000 offset 4096 inode 7 path /bin/x
snapshot 0x8000000000000001 pid 10 pc 0x401000 sp 0x7ffc00001000 time 2us words 0x401010 0x0 0x401020 0x7ffc00001020
snapshot 0x8000000000000002 pid 10 pc 0x402000 sp 0x7ffc00001000 time 3us end 1 words
"""


def with_snapshots(mktrace, change):
    """A trace with a chunk of snapshots, whose header and unpacked payload `change` may change."""
    with tempfile.TemporaryDirectory() as folder:
        text, path = os.path.join(folder, "t.trace"), os.path.join(folder, "t.argus")
        with open(text, "w", encoding="utf-8") as trace_file:
            trace_file.write(SNAPSHOTS)
        subprocess.run([mktrace, text, path], check=True)
        with open(path, "rb") as trace_file:
            data = trace_file.read()
    at, stored = next((at, stored) for at, stored, kind in chunks(data) if kind == 9)
    header = bytearray(data[at : at + 64])
    payload = data[at + 64 : at + 64 + stored]
    if struct.unpack_from("<H", header, 6)[0] & 1:
        payload = zlib.decompress(payload)
    payload = bytearray(payload)
    change(header, payload)
    struct.pack_into("<H", header, 6, 1)
    packed = zlib.compress(bytes(payload))
    struct.pack_into("<II", header, 8, len(packed), len(payload))
    rest = data[at + (64 + stored + 7) // 8 * 8 :]
    whole_file = bytearray(data[:at] + header + packed + bytes(-len(packed) % 8) + rest)
    seal_chunk(whole_file, at)
    return whole_file


def snapshot_files(mktrace):
    """The payload of the first snapshot: id 0..7, pid 8, tid 9, time 10..11, end 12, registers 13."""
    changes = {
        "snapshots": lambda header, payload: None,
        "snapshots-count": lambda header, payload: struct.pack_into("<I", header, 40, 3),
        "snapshots-id-0": lambda header, payload: struct.pack_into("<Q", payload, 0, 0),
        "snapshots-end-7": lambda header, payload: struct.pack_into("<B", payload, 12, 7),
        "snapshots-registers": lambda header, payload: struct.pack_into("<B", payload, 13, 34),
        "snapshots-cut-off": lambda header, payload: payload.__delitem__(slice(-20, None)),
        "snapshots-left-over": lambda header, payload: payload.extend(b"left"),
        "snapshots-large": lambda header, payload: payload.extend(bytes(1 << 20)),
    }
    return {name: with_snapshots(mktrace, change) for name, change in changes.items()}


def bomb(data):
    """Three stack chunks of 16 MiB of zeros each, packed."""
    data = bytearray(data)
    packed = zlib.compress(bytes(16 << 20), 9)
    for sequence in range(100, 103):
        at = len(data)
        data += struct.pack("<4sHHIIQQQIIQII", b"CHNK", 4, 1, len(packed), 16 << 20, sequence, 0, 0, 1 << 20,
                            0xFFFFFFFF, 0, 0, 0)
        data += packed + bytes(-len(packed) % 8)
        seal_chunk(data, at)
    return data


def main():
    data = whole(sys.argv[1])
    at, _ = records_chunk(data)
    files = {
        "empty": b"",
        "text": b"this is no trace\n",
        "header-cut": data[:100],
        "header-only": data[:FIRST],
        "header-crc": data[:20] + b"\xff" + data[21:],
        "version-2": with_header(data, 8, "<H", 2),
        "version-0": with_header(data, 8, "<H", 0),
        "minor-9": with_header(data, 10, "<H", 9),
        "timebase-0": with_header(data, 28, "<I", 0),
        "timebase-huge": with_header(data, 24, "<I", 0xFFFFFFFF),
        "cpus-0": with_header(data, 52, "<I", 0),
        "cpus-many": with_header(data, 52, "<I", 0xFFFFFFFF),
        "ring-odd": with_header(data, 56, "<Q", 65537),
        "ring-huge": with_header(data, 56, "<Q", (1 << 64) - 8),
        "ring-tiny": with_header(data, 56, "<Q", 8),
        "chunk-header-cut": data[: at + 30],
        "payload-cut": data[: at + 90],
        "size-huge": with_chunk(data, 8, "<I", 0xFFFFFFFF),
        "unpacked-huge": with_chunk(data, 12, "<I", 0xFFFFFFFF),
        "flags-unknown": with_chunk(data, 6, "<H", 0x8000),
        "not-compressed": with_chunk(data, 6, "<H", 1),
        "kind-unknown": with_chunk(data, 4, "<H", 4711),
        "records-as-stacks": with_chunk(data, 4, "<H", 4),
        "time-reversed": with_chunk(data, 24, "<Q", (1 << 64) - 1),
        "count-0": with_chunk(data, 40, "<I", 0),
        "count-huge": with_chunk(data, 40, "<I", 0xFFFFFFFF),
        "cpu-unknown": with_chunk(data, 44, "<I", 77),
        "cpu-mixed": with_chunk(data, 44, "<I", 0xFFFFFFFF),
        "lost-all": with_chunk(data, 48, "<Q", (1 << 64) - 1),
        "column-size": with_payload(data, 3, 0xFF),
        "no-chunk-magic": data[:FIRST] + bytes(1000) + data[FIRST:],
        "sequence-twice": data + data[FIRST:],
        "bomb": bomb(data),
    }
    files.update(snapshot_files(sys.argv[1]))
    for name, content in files.items():
        with open(os.path.join(HERE, "trace", name + ".argus"), "wb") as trace_file:
            trace_file.write(content)


if __name__ == "__main__":
    main()
