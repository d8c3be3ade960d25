#!/usr/bin/env python3
"""Makes the broken traces of tests/corpus/trace: make_trace.py MKTRACE.

Each is example.trace (tests/build) with one thing wrong; the file's name says which. Inputs found by a fuzzer are added by
hand, with a name that describes the bug.
"""
import ctypes
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
import decode  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST = 4096  # offset of the first chunk


def made(mktrace, text):
    """The bytes of a trace, packed with zlib."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.argus")
        subprocess.run([mktrace, "-", path], input=text, text=True, check=True)
        with open(path, "rb") as trace_file:
            return trace_file.read()


def whole(mktrace):
    with open(os.path.join(HERE, "..", "build", "example.trace"), encoding="utf-8") as trace_file:
        text = trace_file.read()
    header = ("cpus", "ring", "os", "arch", "wall", "#")
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.split() and not line.startswith(header))
    return made(mktrace, "\n".join([*lines[:first], "codec zlib", *lines[first:]]) + "\n")


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
    """Changes one field of the first record chunk's header, with correct checksums."""
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
    """A trace with a chunk of snapshots; `change` may change its header and unpacked payload."""
    data = made(mktrace, "codec zlib\n" + SNAPSHOTS)
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


def encrypted(content, codec=0, size=None, key=decode.TEST_KEY):
    """The payload of an encrypted chunk. The nonce is always the same, which only a test may do."""
    head = decode.key_id(key) + bytes(range(24)) + struct.pack("<II", codec, len(content) if size is None else size)
    room = ctypes.create_string_buffer(len(content) + 16)
    decode.sodium_library().crypto_aead_xchacha20poly1305_ietf_encrypt(
        room, None, content, ctypes.c_ulonglong(len(content)), head, ctypes.c_ulonglong(len(head)), None, head[16:40], key)
    return head + room.raw


def flipped(payload, at):
    return payload[:at] + bytes([payload[at] ^ 1]) + payload[at + 1:]


def with_encrypted(data, change):
    """Encrypts the chunk of snapshots; `change` makes the payload from its content."""
    at, stored = next((at, stored) for at, stored, kind in chunks(data) if kind == 9)
    header = bytearray(data[at : at + 64])
    payload = change(zlib.decompress(data[at + 64 : at + 64 + stored]))
    struct.pack_into("<HHII", header, 4, 16, 0, len(payload), len(payload))
    rest = data[at + (64 + stored + 7) // 8 * 8 :]
    whole_file = bytearray(data[:at] + header + payload + bytes(-len(payload) % 8) + rest)
    seal_chunk(whole_file, at)
    return whole_file


def encrypted_files(snapshots):
    changes = {
        "encrypted": encrypted,
        "encrypted-packed": lambda content: encrypted(zlib.compress(content), 1, len(content)),
        "encrypted-other-key": lambda content: encrypted(content, key=bytes(32)),
        "encrypted-key-id": lambda content: flipped(encrypted(content), 3),
        "encrypted-nonce": lambda content: flipped(encrypted(content), 20),
        "encrypted-codec": lambda content: encrypted(content, 3),
        "encrypted-is-not-packed": lambda content: encrypted(content, 1),
        "encrypted-size": lambda content: encrypted(content, 0, len(content) + 1),
        "encrypted-size-huge": lambda content: encrypted(content, 1, 0xFFFFFFFF),
        "encrypted-tag": lambda content: flipped(encrypted(content), -1 + len(encrypted(content))),
        "encrypted-cut-off": lambda content: encrypted(content)[:-7],
        "encrypted-short": lambda content: encrypted(content)[:63],
        "encrypted-empty": lambda content: b"",
        "encrypted-nothing": lambda content: encrypted(b""),
        "encrypted-nonsense": lambda content: encrypted(bytes(range(200))),
    }
    return {name: with_encrypted(snapshots, change) for name, change in changes.items()}


def zeros_of_zstd(size):
    """Blocks of one repeated byte: each names the byte and the number of repetitions."""
    count = size // 65536
    return b"".join(struct.pack("<I", 65536 << 3 | 2 | (i == count - 1))[:3] + b"\0" for i in range(count))


def bomb(data, codec, packed):
    """Three stack chunks of 16 MiB of zeros each, packed."""
    data = bytearray(data)
    for sequence in range(100, 103):
        at = len(data)
        data += struct.pack("<4sHHIIQQQIIQII", b"CHNK", 4, codec, len(packed), 16 << 20, sequence, 0, 0, 1 << 20,
                            0xFFFFFFFF, 0, 0, 0)
        data += packed + bytes(-len(packed) % 8)
        seal_chunk(data, at)
    return data


def zstd_frame(content, descriptor=0xA0, size=None):
    """A zstd frame of blocks that are not compressed; the descriptor says one segment and 4 bytes of content size (RFC 8878)."""
    blocks = [content[at : at + 65536] for at in range(0, len(content), 65536)] or [b""]
    data = struct.pack("<IBI", 0xFD2FB528, descriptor, len(content) if size is None else size)
    for number, block in enumerate(blocks):
        last = number == len(blocks) - 1
        data += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return data


def with_zstd(data, change):
    """Packs the first record chunk with zstd; `change` makes the stored bytes from the frame and its content."""
    at, stored = records_chunk(data)
    header = bytearray(data[at : at + 64])
    payload = data[at + 64 : at + 64 + stored]
    if struct.unpack_from("<H", header, 6)[0] == 1:
        payload = zlib.decompress(payload)
    packed = change(zstd_frame(payload), payload)
    struct.pack_into("<H", header, 6, 2)
    struct.pack_into("<II", header, 8, len(packed), len(payload))
    rest = data[at + (64 + stored + 7) // 8 * 8 :]
    changed = bytearray(data[:at] + header + packed + bytes(-len(packed) % 8) + rest)
    seal_chunk(changed, at)
    return changed


def zstd_files(data):
    changes = {
        "zstd": lambda frame, payload: frame,
        "zstd-behind": lambda frame, payload: frame + b"behind",
        "zstd-cut-off": lambda frame, payload: frame[:-7],
        "zstd-empty": lambda frame, payload: b"",
        "zstd-header-only": lambda frame, payload: frame[:9],
        "zstd-size": lambda frame, payload: zstd_frame(payload, size=len(payload) + 1),
        "zstd-size-huge": lambda frame, payload: zstd_frame(payload, size=0xFFFFFFFF),
        "zstd-size-unknown": lambda frame, payload: frame[:4] + b"\x00\x58" + frame[9:],
        "zstd-dictionary": lambda frame, payload: frame[:4] + b"\xa1\x07" + frame[5:],
        "zstd-two-frames": lambda frame, payload: zstd_frame(payload[:9]) + zstd_frame(payload[9:]),
        "zstd-skippable": lambda frame, payload: struct.pack("<II", 0x184D2A50, len(payload)) + payload,
        "zstd-0.7": lambda frame, payload: b"\x27" + frame[1:],
        "zstd-block-type": lambda frame, payload: frame[:9] + bytes([frame[9] | 6]) + frame[10:],
        "zstd-is-zlib": lambda frame, payload: zlib.compress(payload),
    }
    files = {name: with_zstd(data, change) for name, change in changes.items()}
    return files | {"zlib-is-zstd": with_chunk(files["zstd"], 6, "<H", 1), "codec-3": with_chunk(data, 6, "<H", 3)}


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
        "bomb": bomb(data, 1, zlib.compress(bytes(16 << 20), 9)),
    }
    files["whole"] = data
    files["zstd-bomb"] = bomb(data, 2, zstd_frame(b"", size=16 << 20)[:9] + zeros_of_zstd(16 << 20))
    files.update(zstd_files(data))
    files.update(snapshot_files(sys.argv[1]))
    files.update(encrypted_files(files["snapshots"]))
    for name, content in files.items():
        with open(os.path.join(HERE, "trace", name + ".argus"), "wb") as trace_file:
            trace_file.write(content)


if __name__ == "__main__":
    main()
