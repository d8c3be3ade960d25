"""Writes tests/corpus/kdebug: make_kdebug.py MKTRACE MKKDEBUG FOLDER.

A sound file of each version, and files with one thing wrong: lengths that are too large, overlap what is behind them, or lead back
to themselves; cut off; with their bytes swapped.
"""
import pathlib
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
"""
VERSIONS = ("v1", "v1+", "v1-32", "v2", "v3", "v3-32", "v3-new", "v3-kernel")


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
        for length in (0, 1, 8, 24, 0xfffffffffffffff0, 0x7fffffffffffffff, len(data)):
            yield f"{tag:x}-{length:x}", poke(data, at + 8, "<Q", length)
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
            if version in ("v1", "v2", "v3", "v3-new", "v3-kernel"):
                for name, broken in breakages(version, data):
                    (folder / f"{version}-{name}").write_bytes(broken)


main()
