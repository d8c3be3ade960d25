#!/usr/bin/env python3
"""Traces whose bytes are all right, and whose meaning is not: meanings.py MKTRACE FOLDER [--scale N]. Waits that wait for each other, processes that
are their own parents, times at both ends of 64 bits, names of 64 KB. One file for each function here; hostile.py --files runs them."""
import argparse
import pathlib
import subprocess

MS = 1000000


def circle(n):
    """Each thread wakes the next one, the last one the first, round after round; all hold a futex that the next one waits for."""
    count = max(2, n // 20)
    yield from (f"thread {t + 10} pid {t // 3 + 10} name ring{t}" for t in range(count))
    for i in range(n):
        t, at = i % count, i * 2
        yield f"{at}us cpu0 t{t + 10} syscall_start nr=futex arg1=0x7000 arg2=0"
        yield f"{at}us cpu0 t{t + 10} make_runnable thread={(t + 1) % count + 10}"
        yield f"{at + 1}us cpu0 t{t + 10} switch state=S next={(t + 1) % count + 10}"


def ends_of_time(n):
    yield from (f"thread {t} name late{t}" for t in range(10, 20))
    times = [0, 1, 2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
    for i in range(n):
        at, t = times[i * 7 % len(times)], 10 + i % 10
        yield f"{at} cpu{i % 4} t{t} make_runnable thread={10 + (i + 1) % 10}"
        yield f"{times[i * 3 % len(times)]} cpu{i % 4} t{t} switch state=S next={10 + (i + 1) % 10}"


def long_names(n):
    name = "é\\\\<b>%n" * 6500
    yield f'image pid 10 start 0x1000 end 0x9000 path "/{name}"'
    yield f'probe 1 10 "{name[:60000]}"'
    yield f'flag 1 10 0x7000 "{name[:60000]}" bytes 4'
    for i in range(min(n, 300)):
        yield f'thread {10 + i} pid {10 + i % 2} name "{name[:200]}"'
        yield f'name pid 10 place {0x1000 + i * 16} function "{name[i:65000]}" source "{name}" line {i}'
        yield f"stack {i + 1} " + " ".join(str(0x1000 + (i + j) % 300 * 16) for j in range(60))
    for i in range(n):
        yield f"{i}ms cpu0 t10 stack user={i % 300 + 1} why=block"
        yield f"{i}ms cpu0 t10 switch state=S next=0"
        yield f"{i}ms cpu1 t11 make_runnable thread=10"
        yield f"{i}ms cpu0 t0 switch state=R next=10"


def deep_stacks(n):
    """Recursion through each other: no two stacks are the same, and each place has many inlined levels."""
    yield "thread 10 name deep"
    for level in range(200):
        yield f"name pid 10 place 0x1000 function inlined{level} level {level}"
    for i in range(n // 10):
        yield f"stack {i + 1} " + " ".join(hex(0x1000 + 16 * ((i >> j % 12) + j) % 0x8000) for j in range(250))
    for i in range(n):
        yield f"{i}us cpu0 t10 sample user={i % (n // 10) + 1} pc=0x1000"


def processes(n):
    """Very many, that never do anything; parents in circles."""
    yield from (f"thread {t + 10} pid {t + 10} ppid {(t + 1) % n + 10} name p{t}" for t in range(n))
    yield "1ms cpu0 t10 switch state=S next=11"
    yield "9s cpu1 t12 make_runnable thread=10"


def own_parents(n):
    for i in range(n):
        a, b = 10 + i % 50, 10 + i * 7 % 50
        yield f"{i}us cpu0 t{a} new_thread thread={b} pid={a} new_process=1 parent={b}"
        yield f"{i}us cpu0 t{b} exec pid={a}"
        yield f'{i}us cpu0 t{b} name_exec name="e{i}"'
        yield f"{i}us cpu0 t{b} thread_exit thread={a} last=1"


def notes(n):
    """Notes, counters and flags that refer to each other and to nothing."""
    for i in range(n // 4):
        yield f'note "the recording machine: note {i + 1} of hang {i} in v{i}, see note {i - 1}"'
        yield f'flag {i % 60} {i % 9} {hex(0x7000 + i % 7)} "flag {i + 1}" bytes {1 + i % 9} semantics queue'
        yield f"counter counter{i} {2**64 - 1}"
    for i in range(n):
        yield f"{i}us cpu0 t{i % 9} flag_write flag={hex(0x7000 + i % 7)} value={i} bytes=8 by=1 sequence={2**32 - i}"
        yield f"{i}us cpu1 t{i % 9} flag_read flag={hex(0x7000 + i % 5)} value={i} bytes=1 by=1 sequence={i}"


def one_timer(n):
    """A timer that arms itself, is cancelled while it fires, and fires in the past."""
    for i in range(n):
        yield f"{i}us cpu{i % 4} t{i % 5} timer_armed timer=0x9 function=0x9 expiry={(i * 77777) % 2**64} mode=0"
        yield f"{i}us cpu{i % 4} t{i % 5} timer_fired_start timer=0x9 function=0x9 now={2**64 - 1 - i}"
        yield f"{i}us cpu{i % 4} t{i % 5} timer_cancelled timer=0x9"
        yield f"{i}us cpu{(i + 1) % 4} t{i % 5} timer_fired_end timer=0x9"


def one_channel(n):
    """All of it sent in pieces and read at once, read before it was sent, sent to oneself."""
    for i in range(n):
        way = ("sent", "received", "looked", "sent_doubtful")[i % 4]
        yield f"{i}us cpu{i % 4} t{10 + i % 3} object fd=3 inode=7 peer={7 if i % 2 else 8} mode=socket"
        yield f"{i}us cpu{i % 4} t{10 + i % 3} message channel={7 + i % 2} bytes={2**62 if i % 11 == 0 else i} kind=unix_stream flags={way}"


def callbacks(n):
    """Nested without end, begun twice, ended by others, queued by themselves."""
    for i in range(n):
        yield f"{i}us cpu0 t10 callback_queued key={i % 3} function={i} probe=1"
        yield f"{i}us cpu0 t10 callback_start key={i % 3} function={i} probe=1 sp={2**40 - i}"
        yield f"{i}us cpu1 t11 callback_end key={(i + 1) % 3} probe=1 sp={i}"
        yield f"{i}us cpu1 t11 ui_event kind={i % 200} probe={i % 90} sp=0"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mktrace")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=20000, help="records of a file, about")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for make in (circle, ends_of_time, long_names, deep_stacks, processes, own_parents, notes, one_timer, one_channel, callbacks):
        text = "\n".join(make(given.scale)) + "\n"
        subprocess.run([given.mktrace, "-", given.folder / f"{make.__name__}.argus"], input=text, text=True, check=True)


if __name__ == "__main__":
    main()
