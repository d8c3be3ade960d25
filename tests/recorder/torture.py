#!/usr/bin/env python3
"""Recordings that go wrong in every way that we know, at random moments. After each: nothing is attached, what is left of the file
can be read, and a loss was said.

torture.py ARGUS [--minutes N] [--seed N] [ROW…]: each row once, or rows at random for so many minutes. Prints one line a row. Needs
root. To add a row: a function with @row; it returns (what the user was told, the file or None). Everything that it starts must
be in its Round (torture_round.py). torture_disks.py and
torture_tools.py have rows of their own.
"""
import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import key_ring
import recorder_harness as harness
import torture_disks  # noqa: F401  pylint: disable=unused-import  its rows
import torture_tools  # noqa: F401  pylint: disable=unused-import  its rows
from recorder_harness import machine
from torture_round import LOAD, PATIENCE_S, Failure, Round, Skipped, expect, row, rows

THREADS = """
import threading, time
threading.stack_size(65536)
gate, threads = threading.Event(), []
for i in range(10000):
    thread = threading.Thread(target=gate.wait, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        break
    threads.append(thread)
gate.set()
print(len(threads))
"""
# Keeps words in registers and on its stack while it waits: a text, the canary of the stack protector, and pointers to its heap, to mapped
# memory, to the heap of a thread, to a function that is never called, and to the stack. rbx, r12 … r15 and their like are the caller's,
# so a wait keeps them. It writes the words into a file, in the order of KINDS.
SECRET = b"hunter2!"
KINDS = ["text", "short text", "canary", "place of the heap", "mapped memory", "code", "place of the stack"]
LEFT_BY_FILTER = KINDS[4:]  # that can be addresses to unwind by
KEEPER = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
int never_called(int n) { return n * 3; }
int main(int argc, char **argv)
{
    volatile unsigned long long kept[16];
    unsigned long long canary, text, in_register;
    memcpy(&canary, (void *)getauxval(AT_RANDOM), 8);
    memcpy(&text, "hunter2!", 8);
    kept[0] = text;
    kept[1] = 0;
    memcpy((char *)&kept[1], "sixtyx", 6); /* as a number, an address at the end of the address space */
    kept[2] = canary & ~0xffull;
    kept[3] = (unsigned long long)malloc(1000);
    kept[4] = (unsigned long long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 0x5a8;
    kept[5] = (unsigned long long)never_called + 1;
    kept[6] = (unsigned long long)&kept[9];
    in_register = kept[4] + 8;
    FILE *file = fopen(argv[1], "w");
    (void)argc;
    for (int i = 0; i < 7; i++)
        fprintf(file, "%llu ", kept[i]);
    fclose(file);
    for (int i = 0; i < 1000; i++) {
        usleep(3000);
        __asm__ volatile("" : "+r"(text), "+r"(in_register) : : "memory");
    }
    return (int)(kept[0] + text + in_register);
}
"""
FORKS = "import os\nfor i in range(3000):\n  if os.fork() == 0: os._exit(0)\n  os.wait()"
CROWDS_S = 900  # the programs alone take half a minute on a busy machine


# --- kills ---

@row
def kill_recorder(at):
    front = at.record(at.folder / "t.argus")
    at.moment()
    at.kill(at.recorder)
    return expect(at.said(front, 1), "has ended", "was ended"), at.folder / "t.argus"


@row
def kill_writer(at):
    front = at.record(at.folder / "t.argus")
    writer = at.child("argus-writer")
    at.moment()
    at.kill(writer)
    return expect(at.said(front, 1), "the process that writes the trace"), at.folder / "t.argus"


@row
def kill_front_end(at):
    front = at.record(at.folder / "t.argus")
    at.moment()
    front.kill()
    return at.said(front), at.folder / "t.argus"


@row
def kill_all_at_once(at):
    front = at.record(at.folder / "t.argus")
    writer = at.child("argus-writer")
    at.moment()
    for pid in at.random.sample([front.pid, at.recorder, writer], 3):
        at.kill(pid)
    return at.said(front), at.folder / "t.argus"


@row
def kill_while_starting(at):
    """Before, while and after it attaches: 50 links are made within a second or two."""
    at.load()
    front = at.start(harness.ARGUS, "record", "-o", str(at.folder / "t.argus"), "--backend", "bpf", "--", "sleep", "1")
    at.until(lambda: at.recorder or front.poll() is not None, "there is no recorder")
    at.moment(1.5)
    at.kill(at.recorder)
    text = at.said(front)
    at.links = at.links or {0}  # perhaps nothing was attached yet
    return text, at.folder / "t.argus"


@row
def kill_while_stopping(at):
    front = at.record(at.folder / "t.argus", "sleep", "0.5")
    at.moment(2)
    at.kill(at.recorder)
    return at.said(front), at.folder / "t.argus"


@row
def signals(at):
    number = at.random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    front = at.record(at.folder / "t.argus")
    at.moment()
    at.kill(at.recorder, number)
    return expect(at.said(front, 1), f"by signal {int(number)}"), at.folder / "t.argus"


@row
def stopped_for_a_while(at):
    """SIGSTOP: the ring overflows, and each CPU counts what it loses."""
    front = at.record(at.folder / "t.argus", sys.executable, "-c", LOAD.replace("while True", "for turn in range(900)"),
                      words=["--buffer", "1M"])
    at.kill(at.recorder, signal.SIGSTOP)
    time.sleep(0.5)
    at.kill(at.recorder, signal.SIGCONT)
    return expect(at.said(front, 0), " lost"), at.folder / "t.argus"


def holders(lines, number):
    """The decoded lines that have this word: as a number, or in bytes."""
    in_bytes = number.to_bytes(8, "little").hex()
    return [line for line in lines if in_bytes in line or str(number) in line.replace(",", " ").split()]


@row
def secret_after_kill(at):
    """A file whose stacks were never unwound has copies of stacks. Without their key no copied word is to be found, in the file as it is or
    in all that can be decoded; with it, the words that can be addresses are there, so this looks at the right place."""
    if not shutil.which("cc"):
        raise Skipped("no C compiler")
    keeper, places, ring = at.folder / "keeper", at.folder / "places", at.random.choice([[], ["--ring-size", "8M"]])
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-x", "c", "-", "-o", keeper], input=KEEPER, text=True, check=True)
    front = at.record(at.folder / "t.argus", str(keeper), str(places), words=["--unwind", "keeper", "--only", "sched,stacks", *ring],
                      load=False)
    time.sleep(1.5 + at.random.uniform(0, 0.5))
    for pid in at.random.sample([front.pid, at.recorder], 2):
        at.kill(pid)
    at.said(front)
    at.check_detached()
    left, = at.folder.glob("t.argus*")
    content = left.read_bytes()
    words = dict(zip(KINDS, map(int, places.read_text(encoding="ascii").split()), strict=True))
    in_clear, readable = harness.decode.decode(content, lambda identity: None), harness.decode.decode(content, key_ring.find)
    copies = [line for line in readable if line.startswith("snapshot ")]
    if not copies:
        raise Failure("no stack was copied")
    for what, word in words.items():
        found = holders(in_clear, word)
        if found or word.to_bytes(8, "little") in content:
            raise Failure(f"the {what} is in the file: {found[:1]}")
        if what in LEFT_BY_FILTER and not holders(copies, word):
            raise Failure(f"the {what} was not copied: this looked at nothing")
        if what not in LEFT_BY_FILTER and holders(copies, word):
            raise Failure(f"the {what} was copied")
    return "", at.folder / "t.argus"


# --- disks ---

@row
def full_disk(at):
    disk = at.mount_tmpfs(f"{at.random.randint(200, 900)}k")
    front = at.record(disk / "t.argus")
    return expect(at.said(front, 1), "No space left"), disk / "t.argus"


@row
def failing_disk(at):
    disk, switch = at.mount_fuse("fail:write")
    front = at.record(disk / "t.argus")
    at.moment()
    switch.touch()
    text = expect(at.said(front, 1), "Input/output error")
    switch.unlink()
    return text, disk / "t.argus"


@row
def blocking_disk(at):
    """Nothing stays attached although the write does not return."""
    disk, switch = at.mount_fuse("write")
    at.record(disk / "t.argus")
    at.moment()
    switch.touch()
    time.sleep(1.5)
    at.kill(at.recorder, at.random.choice([signal.SIGKILL, signal.SIGTERM]))
    at.check_detached()
    switch.unlink()
    return "", disk / "t.argus"


@row
def blocking_operation(at):
    """Another operation than write blocks, in argus or in argus-writer. `argus status` answers nevertheless."""
    operation = at.random.choice(["create", "open", "lookup", "getattr", "setattr", "statfs", "flush", "fsync", "release", "rename", "read"])
    disk, switch = at.mount_fuse(operation)
    front = at.record(disk / "t.argus", "sleep", "1")
    at.moment()
    switch.touch()
    time.sleep(2)
    began = time.monotonic()
    harness.argus("status")
    if time.monotonic() - began > 15:
        raise Failure(f"{operation}: argus status took {time.monotonic() - began:.0f} s")
    for pid in (at.recorder, front.pid):
        at.kill(pid)
    at.check_detached()
    switch.unlink()
    return "", disk / "t.argus"


@row
def deleted_folder(at):
    folder = at.folder / "before"
    folder.mkdir()
    front = at.record(folder / "t.argus", "sleep", "1")
    at.moment(0.5)
    shutil.rmtree(folder)
    return expect(at.said(front, 1), "cannot find the recording", "was removed", "No such file"), None


@row
def vanishing_disk(at):
    """umount -l: the file is written on, but has no path any more."""
    disk = at.mount_tmpfs("64m")
    front = at.record(disk / "t.argus", "sleep", "1")
    subprocess.run(["umount", "-l", disk], check=True)
    return expect(at.said(front, 1), "cannot find the recording", "cannot write"), None


@row
def renamed_folder(at):
    folder = at.folder / "before"
    folder.mkdir()
    front = at.record(folder / "t.argus", "sleep", "1")
    folder.rename(at.folder / "after")
    return expect(at.said(front, 0), "after/t.argus: "), at.folder / "after/t.argus"


# --- limits ---

@row
def file_limit(at):
    most = at.random.randint(40, 300) << 10
    front = at.record(at.folder / "t.argus", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    return expect(at.said(front, 1), "ulimit -f"), at.folder / "t.argus"


@row
def descriptor_limit(at):
    """Too few descriptors: the reason is named, or the limit was raised."""
    most = at.random.choice([12, 24, 60, 200])
    at.links = {0}
    front = at.record(at.folder / "t.argus", "sleep", "0.5",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
    text = at.said(front)
    if front.returncode != 0:
        expect(text, "Too many open files", "ulimit -n")
    return text, at.folder / "t.argus"


@row
def cpu_limit(at):
    """SIGXCPU, of a soft limit, must not end the recorder."""
    front = at.record(at.folder / "t.argus", "sleep", "1",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 600)))
    return at.said(front, 0), at.folder / "t.argus"


@row
def memory_cgroup(at):
    """Too little memory for the recorder and its maps: it says so, or the kernel ends it, which argus says."""
    group = at.memory_cgroup(at.random.randint(8, 400) << 20)
    at.load()
    front = at.start(harness.ARGUS, "record", "-o", str(at.folder / "t.argus"), "--backend", "bpf", "--", "sleep", "1",
                     preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    at.until(lambda: at.links or front.poll() is not None, "nothing was attached")
    text = at.said(front)
    at.links = at.links or {0}  # perhaps there was no memory to attach anything
    if front.returncode == 1 and "argus: " not in text:
        raise Failure(f"no reason was given: {text}")
    return text, at.folder / "t.argus"


# --- crowds ---

@row
def ten_thousand_threads(at):
    front = at.record(at.folder / "t.argus", sys.executable, "-c", THREADS)
    return at.said(front, 0, CROWDS_S), at.folder / "t.argus"


@row
def fork_storm(at):
    front = at.record(at.folder / "t.argus", sys.executable, "-c", FORKS)
    return at.said(front, 0, CROWDS_S), at.folder / "t.argus"


@row
def killed_debugger(at):
    """LLDB, killed while it builds the graph: the trace is untouched, and the next command works."""
    if not any(shutil.which(name) for name in ["lldb", *(f"lldb-{version}" for version in range(14, 23))]):
        raise Skipped("no LLDB")
    front = at.record(at.folder / "t.argus", "sleep", "1")
    at.said(front, 0)
    before = (at.folder / "t.argus").read_bytes()
    debugger = at.start(harness.ARGUS, "debug", str(at.folder / "t.argus"))
    at.moment(3)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(debugger.pid, signal.SIGKILL)
    debugger.wait(timeout=PATIENCE_S)
    if (at.folder / "t.argus").read_bytes() != before:
        raise Failure("the trace has changed")
    done = harness.argus("graph", "stats", str(at.folder / "t.argus"))
    if done.returncode not in (0, 4):
        raise Failure(f"after the debugger was killed: {done.stderr}")
    return "", at.folder / "t.argus"


# Seconds each; the others need more time or many processes, or have tests of their own (stuck_disk.py).
SHORT = ["kill_recorder", "kill_writer", "kill_front_end", "kill_while_starting", "signals", "secret_after_kill", "full_disk", "file_limit",
         "step_to_blocking_disk"]


def run(name, seed):
    """One line; whether it is as it should be."""
    began, at = time.monotonic(), Round(random.Random(seed))
    verdict = "ok"
    try:
        _, path = rows[name](at)
        at.check_detached()
        files = at.check_file(path) if path else 0
        verdict = f"ok: {len(at.links)} attachments gone, {files} files readable"
    except Skipped as reason:
        verdict = f"skipped: {reason}"
    except Failure as failure:
        verdict = f"FAILED: {failure}"
    finally:
        harness.argus("stop")
        at.end()
    print(f"{name:22} seed {seed:<10} {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
    return not verdict.startswith("FAILED")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("argus")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--short", action="store_true", help="the rows that a test runs")
    parser.add_argument("rows", nargs="*")
    chosen = parser.parse_intermixed_args()
    reason = harness.cannot_record()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    machine.enter_namespace()
    names = chosen.rows or (SHORT if chosen.short else list(rows))
    randomness, until = random.Random(chosen.seed), time.monotonic() + 60 * (chosen.minutes or 0)
    failed = sum(not run(name, randomness.getrandbits(32)) for name in names)
    count = len(names)
    while time.monotonic() < until:
        failed += not run(randomness.choice(names), randomness.getrandbits(32))
        count += 1
    print(f"{count} rows, {failed} failed (seed {chosen.seed})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
