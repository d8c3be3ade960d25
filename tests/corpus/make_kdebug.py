"""Writes tests/corpus/kdebug: make_kdebug.py MKTRACE MKKDEBUG FOLDER.

A sound file of each version, and files with one thing wrong: lengths that are too large, overlap what follows them, or lead back
to themselves; files that are cut off; files with swapped bytes.
"""
import pathlib
import plistlib
import struct
import subprocess
import sys
import tempfile

TRACE = """os darwin
cpus 2
thread 100 pid 1 kernel name kernel_task
thread 200 pid 57 name app
900 cpu0 t200 record id=0x25990000
100 cpu0 t200 mach_msg2_start options=3 size=72 remote=0x903
110 cpu0 t200 mach_wake thread=100
120 cpu0 t200 mach_block
130 cpu0 t200 mach_sched next=100
140 cpu1 t100 perf_user_stack frames=200
150 cpu1 t100 perf_user_frames arg1=1 arg2=2 arg3=3 arg4=4
160 cpu1 t100 record id=0x07010001 arg1=5 arg2=7 arg3=0x61
170 cpu1 t100 record id=0x07010002 arg1=0x62
180 cpu1 t100 record id=0x1f050000 arg3=0xfffffffffffff000
190 cpu1 t100 record id=0x1f050004 arg2=7
200 cpu1 t100 turnstile_waiter turnstile=7 thread=200
210 cpu1 t100 turnstile_holder thread=100 turnstile=7
220 cpu1 t100 dispatch_pop item=1
230 cpu1 t100 dispatch_done item=1
240 cpu1 t100 record id=0x03010091 arg1=5 arg2=0x61
250 cpu1 t100 record id=0x03010090 arg1=0x62626262 arg4=0x63
260 cpu1 t200 record id=0x03010092 arg1=0x62
270 cpu1 t100 record id=0x0120001c arg1=0xa1 arg2=1 arg3=100
280 cpu1 t100 record id=0x01200020 arg1=0x4449502073656761
290 cpu1 t100 record id=0x01200008 arg1=100 arg3=0xa1
300 cpu1 t100 msg_send message=5 voucher=0xa1
310 cpu0 t200 msg_recv message=5 voucher=0xa1
320 cpu0 t200 record id=0x60110008 arg1=100 arg4=4
330 cpu0 t200 mach_wake thread=100 result=2
340 cpu0 t200 record id=0x60140004 arg1=9
350 cpu1 t100 record id=0x6014000d arg1=9
360 cpu1 t100 record id=0x60140014 arg1=9 arg3=6
"""
VERSIONS = ("v1", "v1+", "v1-32", "v1+-32", "v2", "v2-32", "v3", "v3-32", "v3-new", "v3-new-32", "v3-kernel", "v3-kernel-32")


LISTS = (
    (0x800f, b"0x25990000 PERF_Preamble\n0x1\n0x99999999999 x\n0x5 \"\\\n\0\0"),
    (0x8001, plistlib.dumps({"Binaries": [{"UUID": "11111111-2222-2222-3333-333344444444", "Path": "/a", "Name": "b"}, 1, []]})),
    (0x8004, plistlib.dumps({"pid": 57, "x": [{"uuid": bytes(16), "Address": 2**64 - 1, "Size": 2**64 - 1}]}, fmt=plistlib.FMT_BINARY)),
    (0x8c00, plistlib.dumps({"hw_model": "Mac", "os_name": 5}, fmt=plistlib.FMT_BINARY)),
    (0x8004, b"bplist00" + bytes(range(40))),
    (0x1f00, bytes(12)),
)


def chunk(tag, data, length=None):
    return struct.pack("<IHHQ", tag, 0, 0, len(data) if length is None else length) + data + bytes(-len(data) % 8)


def poke(data, at, form, value):
    data = bytearray(data)
    struct.pack_into(form, data, at, value)
    return bytes(data)


def breakages(name, data):
    yield "cut-head", data[:30]
    yield "cut-record", data[:-17]
    yield "swapped", data[3::-1] + data[4:]
    if name.startswith(("v1", "v2")):
        for count in (0, 1, 127, 128, 0x7fffffff, 0xffffffff):
            yield f"threads-{count:x}", poke(data, 4, "<I", count)
        return
    for tag in (0x1c00, 0x1d00, 0x1e00, 0x8c00):
        at = data.find(struct.pack("<II", tag, 0))
        if at < 0:
            continue
        lengths = (0, 1, 8, 24, 0xfffffffffffffff0, 0x7fffffffffffffff, len(data))
        for length in lengths[2:3] + lengths[5:6] if name.endswith("-32") else lengths:
            yield f"{tag:x}-{length:x}", poke(data, at + 8, "<Q", length)
    yield "lists", data + bytes(-len(data) % 8) + b"".join(chunk(*row) for row in LISTS)
    yield "to-the-end", data + bytes(-len(data) % 8) + chunk(0x1e00, bytes(72), 0xffffffffffffffff)
    yield "head-long", poke(data, 8, "<Q", len(data) - 16)
    yield "head-all", poke(data, 8, "<Q", 0xffffffffffffffff)


def main():
    mktrace, mkkdebug, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        text, argus, made = (pathlib.Path(scratch) / name for name in ("trace", "argus", "made"))
        text.write_text(TRACE)
        subprocess.run([mktrace, text, argus], check=True)
        for version in VERSIONS:
            subprocess.run([mkkdebug, version, argus, made], check=True)
            data = made.read_bytes()
            (folder / version).write_bytes(data)
            for name, broken in breakages(version, data):
                (folder / f"{version}-{name}").write_bytes(broken)


main()
