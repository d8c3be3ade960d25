#!/usr/bin/env python3
"""One freeze, written in the format of each tracer by writers.py, read by argus: the records and the answer are the same.

    test_importer.py ARGUS ARGUS_IMPORT
"""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import scene
import wrapped
import writers

ARGUS, IMPORT = sys.argv[1:3]
READS = subprocess.run([IMPORT, "--formats"], capture_output=True, text=True, check=True).stdout.splitlines()
failures = []


def check(good, what):
    if not good:
        failures.append(what)
        print("FAILED:", what)


def argus(*words):
    return subprocess.run([ARGUS, *map(str, words)], capture_output=True, text=True, timeout=120)


def records_of(path):
    """The records after the first one's time: (ns, rest of the line). Formats differ in what they know of the context of a
    wake-up and of pointers."""
    run = argus("dump", path)
    check(run.returncode == 0, f"dump of {path}: {run.stderr}")
    records, first = [], None
    for line in run.stdout.splitlines():
        time, rest = line.split(" ", 1)
        hours, minutes, seconds = time.split(":")
        ns = (int(hours) * 60 + int(minutes)) * 60 * scene.SECOND + int(seconds.replace(".", ""))
        first = ns if first is None else first
        rest = " ".join(word for word in rest.split() if word.split("=")[0] not in ("context", "arg2", "priority", "next_priority"))
        records.append(((ns - first) % (86400 * scene.SECOND), rest))
    return sorted(records)


def expected():
    """What the records have to be, from the scene alone."""
    names = {scene.READ: "read", scene.WRITE: "write"}
    records = []
    for time, cpu, thread, name, values in scene.scene():
        if name == "sched_switch":
            rest = f"cpu{cpu} {thread} switch state={values['prev_state']} next={values['next_pid']}"
        elif name == "sched_waking":
            rest = f"cpu{cpu} {thread} make_runnable thread={values['pid']} new=0"
        elif name == "sys_enter":
            rest = f"cpu{cpu} {thread} syscall start {names[values['id']]} arg1={values['args'][0]:#x} arg3={values['args'][2]:#x} arg4=0x0"
        else:
            rest = f"cpu{cpu} {thread} syscall end {names[values['id']]} error=0 result={values['ret']}"
        records.append((time - scene.START, rest))
    return sorted(records)


def test_records(path, name):
    found = [(time, re.sub(r" pid=\d+$", "", rest)) for time, rest in records_of(path)]
    wanted = expected()
    differ = [pair for pair in zip(found, wanted) if pair[0] != pair[1]][:2]
    check(found == wanted, f"{name}: {len(found)} records, {len(wanted)} wanted; the first that differ: {differ}")


def test_format(folder, name):
    file, write = writers.FORMATS[name]
    path = folder / file
    write(path, scene.scene())
    info = json.loads(argus("info", "--json", path).stdout)
    check(info["records"] == len(scene.scene()), f"{name}: {info['records']} records, not {len(scene.scene())}")
    test_records(path, name)
    missing = {gap["what"] for gap in info["missing"]}
    check({"messages", "objects", "probes", "timers", "samples"} <= missing, f"{name}: missing {missing}")
    check("syscalls" not in missing, f"{name}: it has system calls")
    answer = argus("diagnose", "--auto", "--process=window", "--json", path)
    check(answer.returncode == 0, f"{name}: diagnose: {answer.stderr}")
    diagnosis = json.loads(answer.stdout)
    causes = [(cause["tid"], cause["type"]) for cause in diagnosis["root_causes"]]
    check(causes[:1] == [(scene.SERVER, "LongRunning")], f"{name}: causes {causes}")
    check(abs(diagnosis["hang"]["duration_ns"] - 3 * scene.SECOND) < scene.SECOND // 10, f"{name}: {diagnosis['hang']}")
    text = argus("diagnose", "--auto", "--process=window", path).stdout
    check("What this trace cannot tell" in text, f"{name}: the answer does not say what the trace lacks")


def test_columns(folder):
    path = folder / "columns.pftrace"
    writers.perfetto_columns(path, scene.scene())
    # before the first switch of a CPU, the columns do not say which thread ran
    found, wanted = [[pair for pair in records if pair[0] > 20000] for records in (records_of(path), expected())]
    check([(time, re.sub(r" pid=\d+$", "", rest)) for time, rest in found] == wanted, "columns: the records differ")
    answer = json.loads(argus("diagnose", "--auto", "--process=window", "--json", path).stdout)
    check(answer["root_causes"][0]["tid"] == scene.SERVER, f"columns: {answer['root_causes']}")


def test_named_calls(folder):
    """Text of the kernel and of trace-cmd in which each system call is an event of its own."""
    path = folder / "calls.txt"
    texts = ("sys_read(fd: 3, buf: 7f00, count: 10)", "sys_read -> 0x5", "sys_enter_newfstatat: dfd: 0x3", "sys_exit_newfstatat: 0x0")
    path.write_text("# tracer: nop\n" + "".join(f" sh-7 [000] ..... 1.00000{i}: {text}\n" for i, text in enumerate(texts)))
    run = argus("info", "--json", path)
    check(run.returncode == 0 and json.loads(run.stdout)["records"] == len(texts), f"named calls: {run.stdout} {run.stderr}")


def test_old_systrace(folder):
    path = folder / "old.html"
    wrapped.old_systrace(path, scene.scene(), writers.ftrace_text)
    test_records(path, "old systrace")


def test_without_text(folder):
    """Pages and JSON without text of ftrace are named, and a cut-off file is read up to there."""
    page, chrome = folder / "page.html", folder / "programs.json"
    page.write_text("<!DOCTYPE html>\n<html><body>begins with # tracer: nop\n</body></html>\n")
    chrome.write_text('{"traceEvents": [{"ph": "X", "ts": 1}], "systemTraceEvents": ""}')
    for path, words in (page, "HTML or XML text"), (chrome, "only what programs recorded"):
        run = argus("info", path)
        check(run.returncode == 1 and words in run.stderr, f"{path.name}: {run.stdout} {run.stderr}")
    only = wrapped.chrome_of("# tracer: nop\n sh-7 [000] ..... 1.000000: cpu_idle: state=1 cpu_id=0\n")
    chrome.write_text(only)
    run = argus("info", chrome)
    check(run.returncode == 1 and "such as sched_switch; it has cpu_idle (1)" in run.stderr, f"cpu_idle: {run.stdout} {run.stderr}")


def test_cut_off(folder):
    """What ends inside its text is read up to the last whole line, and that is said."""
    for name in "trace.html", "trace.ctrace", "chrome.json":
        whole, cut = (folder / name).read_bytes(), folder / f"cut-{name}"
        for length in len(whole) // 2, len(whole) - 250:
            cut.write_bytes(whole[:length])
            info = json.loads(argus("info", "--json", cut).stdout or "{}")
            check(0 < info.get("records", 0) < len(scene.scene()), f"cut {name}: {info}")
            check(any("before a damaged place" in note for note in info.get("notes", [])), f"cut {name}: {info.get('notes')}")
    page = folder / "cut.html"
    text = " sh-7 [000] ..... 1.000000: sched_wakeup: comm=a pid=1234 prio=120 target_cpu=000\n"
    page.write_text("<!DOCTYPE html>\n<script># tracer: nop\n" + text + text.rstrip().replace("1234", "12"))
    dump = argus("dump", page).stdout
    check("thread=1234" in dump and len(dump.splitlines()) == 1, f"half a line: {dump}")


def test_escapes(folder):
    """Chromium's JSON writes < as \\u003C: a thread without a name is none with another one."""
    path = folder / "escapes.json"
    names = {77: "<...>", 78: "a\u00e4", 79: "b\U0001f600", 80: "c\\d"}
    lines = [f" {name}-{tid} [000] ..... 1.0000{tid}: sys_enter: NR 0 (1, 2, 3, 0, 0, 0)\r\n" for tid, name in names.items()]
    path.write_text(wrapped.chrome_of("# tracer: nop\n" + "".join(lines)))
    check("\\u003C...>-77" in path.read_text() and "\\ud83d\\ude00" in path.read_text(), "escapes: the file has none")
    shown = argus("graph", "find", path).stdout
    found = [line.split(":")[0].split(" ", 1)[1] for line in shown.splitlines()]
    check(found == [" [77]", "a\u00e4 [78]", "b\U0001f600 [79]", "c\\d [80]"], f"escapes: {found}")


def test_bombs(folder):
    """Compressed text and packets that no tracer writes: they are not read to their end."""
    text = (folder / "trace.txt").read_bytes()
    path = folder / "bomb.ctrace"
    path.write_bytes(b"TRACE:\n" + zlib.compress(text + b"\n" * (30 << 20)))
    shown = argus("info", path).stdout
    check("larger than any atrace writes" in shown, f"{path.name}: {shown}")
    path = folder / "bomb.pftrace"
    path.write_bytes(writers.message(1, writers.message(50, zlib.compress(b"\x0a\0" * (10 << 20)))))
    run = argus("info", path)
    check("Perfetto" not in READS or (run.returncode == 1 and "larger than any Perfetto writes" in run.stderr), f"{path.name}: {run}")


def test_other_kinds(folder):
    """What is not used is named, in the notes and if nothing else is there."""
    path, only = folder / "kinds.txt", folder / "only.txt"
    line = " sh-7 [000] ..... 1.00000%d: %s\n"
    marks = "".join(line % (at, "tracing_mark_write: B|7|draw") for at in range(3)) + line % (4, "cpu_idle: state=1 cpu_id=0")
    only.write_text("# tracer: nop\n" + marks)
    path.write_text("# tracer: nop\n" + marks + line % (5, "sched_switch: prev_comm=sh prev_pid=7 prev_prio=1 prev_state=S ==> next_comm=x next_pid=8 next_prio=1"))
    run = argus("info", only)
    check(run.returncode == 1 and "it has tracing_mark_write (3), cpu_idle (1)" in run.stderr, f"only other kinds: {run.stdout} {run.stderr}")
    text = argus("info", path).stdout
    check("4 events of the file are of kinds that Argus does not use: tracing_mark_write (3), cpu_idle (1)" in text, f"other kinds: {text}")
    kinds = ("print", "cpu_idle", "cpu_frequency", "suspend_resume")
    switch = path.read_text().splitlines()[-1] + "\n"
    for count, words in (1, "1 event of the file is of a kind that Argus does not use: print (1)"), (4, "cpu_frequency (1) and 1 other kind"):
        path.write_text(switch + "".join(line % (at, f"{kind}: state=1") for at, kind in enumerate(kinds[:count])))
        text = argus("info", path).stdout
        check(words + "\n" in text, f"{count} other kinds: {text}")


def test_perfetto_others(folder):
    """Packets and events of Perfetto that are not read are named."""
    path = folder / "others.pftrace"
    event = writers.message(2, writers.number(1, scene.START) + writers.number(2, 7) + writers.message(3, b""))
    packets = writers.message(1, writers.message(76, b"")) * 2 + writers.message(1, writers.message(1, writers.number(1, 0) + event))
    path.write_bytes((folder / "window.pftrace").read_bytes() + packets)
    text = argus("info", path).stdout
    check("frame_timeline_event (2), print (1)" in text, f"{path.name}: {text}")


def test_names(folder):
    """Outputs name the file of the user, and info also the copy."""
    path = folder / "trace.txt"
    info = json.loads(argus("info", "--json", path).stdout)
    check((info["file"], info["copy"].endswith(".argus")) == (str(path), True), f"names: {info['file']} {info.get('copy')}")
    for words in ("verify", "--json"), ("graph", "check", "--json"), ("diagnose", "--auto", "--process=window", "--json"):
        text = argus(*words, path).stdout
        check(f'"file": "{path}"' in text and "/cache/" not in text, f"names: {words}: {text[:300]}")


def test_packed_packets(folder):
    """Perfetto compresses packets by zlib, and since 2026 by zstd."""
    plain = (folder / "window.pftrace").read_bytes()
    for field, packed in (50, zlib.compress(plain)), (133, wrapped.zstd(plain)):
        path = folder / f"packed{field}.pftrace"
        path.write_bytes(writers.message(1, writers.message(field, packed)))
        run = argus("info", path)
        if "this build lacks libzstd" in run.stderr:
            check(field == 133, f"{path.name}: {run.stderr}")
            print("not built: libzstd")
            continue
        test_records(path, path.name)
        path.write_bytes(writers.message(1, writers.message(field, packed[:40])))
        run = argus("info", path)
        check(run.returncode == 1 and "cannot be unpacked: they are damaged" in run.stderr, f"{path.name}: {run.stdout} {run.stderr}")


def test_perf_streams(folder):
    """Compressed records, and a pipe's, are the same records."""
    whole = argus("dump", folder / "perf.data").stdout
    for name, write in ("compressed", writers.perf_compressed), ("pipe", writers.perf_pipe):
        path = folder / f"{name}.data"
        write(path, scene.scene())
        run = argus("dump", path)
        if "lacks libzstd" in run.stdout + run.stderr + argus("info", path).stdout:
            print(f"not built: {name}")
            continue
        check(run.returncode == 0 and run.stdout == whole, f"{name}: {len(run.stdout)} bytes, not {len(whole)}: {run.stderr}")
        cut = folder / f"{name}-cut.data"
        for length in range(0, path.stat().st_size, path.stat().st_size // 7):
            cut.write_bytes(path.read_bytes()[:length])
            run = import_bytes(cut, folder)
            check(run.returncode >= 0, f"{name}, {length} bytes: signal {-run.returncode}: {run.stderr}")


def test_hostile_perf(folder):
    """What no perf writes: a bomb, a sample before any event, very many events in a pipe."""
    path = folder / "bomb.data"
    writers.perf_bomb(path, scene.scene(), 1200)
    shown = argus("info", path).stdout
    check("larger than any perf writes" in shown or "lacks libzstd" in shown, f"bomb: {shown}")
    pipe = b"PERFILE2" + struct.pack("<Q", 16)
    path.write_bytes(pipe + writers.record(9, bytes(32)))
    run = import_bytes(path, folder)
    check(run.returncode in (0, 1) and len(run.stderr.splitlines()) <= 1, f"sample first: {run.returncode} {run.stderr}")
    attrs = b"".join(writers.record(64, writers.perf_attr(number)) for number in range(65000))
    path.write_bytes(pipe + attrs + writers.record(71, bytes(40)) * 65000)  # 9 billion steps if each one looked at all events
    run = import_bytes(path, folder)
    check(run.returncode in (0, 1), f"many events: {run.returncode} {run.stderr}")


def test_perf_renamed(folder):
    """Events of one file that record different things; names that change."""
    path = folder / "renamed.data"
    writers.perf_renamed(path, scene.scene())
    info = json.loads(argus("info", "--json", path).stdout)
    check((info["cpus"], info["lost"]) == (2, 7), f"renamed: {info['cpus']} CPUs, {info['lost']} lost")
    names = [line for line in argus("dump", path).stdout.splitlines() if "name_thread" in line]
    check(len(names) == 2, f"renamed: {names}")
    answer = json.loads(argus("diagnose", "--auto", "--process=gui", "--json", path).stdout)
    check(answer["hang"]["process"] == "gui", f"renamed: {answer['hang']}")


def test_instance(folder):
    path = folder / "instance.dat"
    writers.trace_dat(path, scene.scene(), "mine")
    test_records(path, "an instance of trace-cmd")


def test_ctf_2(folder):
    """An old libbabeltrace2 does not read it; the error says so."""
    trace = folder / "ctf2"
    trace.mkdir(exist_ok=True)
    (trace / "metadata").write_text('\x1e{"type": "preamble", "version": 2}\n\x1e{"type": "data-stream-class"}\n')
    run = argus("info", trace)
    check(run.returncode == 1 and ("CTF 2" in run.stderr or "no event" in run.stderr), f"CTF 2: {run.stderr}")


def test_user_space(folder):
    """Events of a program: the thread is that of the kernel's switches. The session's folder is one trace for each command."""
    path = folder / "session"
    writers.ctf(path, scene.scene())
    writers.user_events(path, [(1, 0, [(scene.START + scene.SECOND, 3), (scene.START + 2 * scene.SECOND, 4)])])
    marks = [line.split()[1:] for line in argus("dump", path).stdout.splitlines() if " hook " in line]
    check(marks == [["cpu1", "201", "hook", f"key={value:#x}", "value=0x0", "probe=65536", "other=0x0"] for value in (3, 4)], f"marks: {marks}")
    run = argus("hangs", "--json", path)
    check(run.returncode == 0 and json.loads(run.stdout)["format"].startswith("argus-hangs "), f"hangs of a session: {run.stdout}")
    vertices = json.loads(argus("graph", "find", "--json", "--pid=200", "--longer-than=1s", path).stdout)["vertices"]
    shown = argus("graph", "show", vertices[0]["id"], path).stdout if vertices else ""
    check(shown.count("shop:order") == 2, f"marks of a vertex: {vertices} {shown}")


def lost_of(path):
    losses = json.loads(argus("graph", "check", "--json", path).stdout)["largest_gaps"]
    return [(loss["cpu"], loss["records"]) for loss in losses]


def test_lost_of_programs(folder):
    """A stream whose times go back, of a program without contexts: everything is read, and the loss is said, but is no gap of the kernel."""
    path = folder / "lost"
    writers.user_events(path, [(0, 0, [(scene.START + 500, 1), (scene.START + 900, 2)]), (0, 40, [(scene.START + 700, 3)]),
                               (1, 0, [(scene.START + 10, 4)])])
    info = json.loads(argus("info", "--json", path).stdout or "{}")
    check((info.get("records"), info.get("lost")) == (4, 0), f"lost: {info}")
    text = argus("info", path).stdout
    check("the thread of 4 events of user space is not known" in text, f"lost: {text}")
    check("the tracer lost 40 events of user space" in text, f"lost: {text}")


def test_lost_of_the_kernel(folder):
    """After a loss it is not known which thread runs; the other CPU lost nothing."""
    for name, is_damaged in ("in order", False), ("each stream alone", True):
        path = folder / f"losses {name}"
        events = [event for event in scene.scene()[:14] if event[1] == 1]
        turn = scene.START + scene.SECOND
        later = [scene.enter(turn, 1, scene.SERVER, scene.READ, 3), scene.switch(turn + 10, 1, scene.IDLE, 0, scene.SERVER),
                 scene.leave(turn + 20, 1, scene.SERVER, scene.READ, 8)]
        quiet = [event for event in scene.scene() if event[1] == 0]
        writers.kernel_packets(path, [(1, 0, events), (1, 30, later), (0, 0, quiet[:20]), (0, 0, quiet[20:])])
        writers.user_events(path, [(1, 0, [(turn + 30, 1)]), (1, 7, [(turn + 40, 2)])])
        if is_damaged:  # an event that is in no metadata, as the first one of the second packet
            with open(path / "kernel" / "channel0_0", "rb+") as stream:
                stream.seek(len(writers.ctf_packet(0, 0, 0, 0, b"")) * 2 + sum(len(writers.ctf_event(event, False)) for event in quiet[:20]))
                stream.write(struct.pack("<I", 99))
        check(lost_of(path) == [(1, 30)], f"losses {name}: {lost_of(path)}")
        records = [rest for _, rest in records_of(path) if rest.startswith("cpu1 ") and " hook " not in rest]
        wanted = ["cpu1 0 (30 records lost before this)"]
        wanted += ["cpu1 0 syscall start read arg1=0x3 arg3=0x0 arg4=0x0"] * (not is_damaged)
        wanted += ["cpu1 0 switch state=0 next=201", "cpu1 201 syscall end read error=0 result=8"]
        check([rest.split(" pid=")[0] for rest in records[-len(wanted):]] == wanted, f"losses {name}: {records}")
        text = argus("info", path).stdout
        check("the tracer lost 7 events of user space" in text, f"losses {name}: {text}")
        check(("1 of 3 streams are damaged" in text) == is_damaged, f"losses {name}: {text}")


def test_lost_packets(folder):
    """LTTng numbers its packets: those that are missing are a loss of their CPU."""
    path = folder / "packets"
    events = [event for event in scene.scene() if event[1] == 1]
    packets = [(1, number, events[at * 10:at * 10 + 10]) for at, number in enumerate((0, 1, 4))]
    writers.kernel_packets(path, packets, "packet_seq_num")
    check(lost_of(path) == [(1, 2)], f"lost packets: {lost_of(path)}")
    text = argus("info", path).stdout
    check("the tracer lost 2 packets of events of the kernel" in text, f"lost packets: {text}")


def test_broken_ctf(folder):
    """Changed events, also with times that are out of range, and heads of packets, for some of which the library ends the process."""
    path = folder / "broken-ctf"
    own = [event for event in scene.scene() if event[1] == 0]
    writers.kernel_packets(path, [(0, 0, own[:40]), (0, 0, own[40:])])
    stream, chance = path / "kernel" / "channel0_0", random.Random("CTF")
    whole, head = stream.read_bytes(), len(writers.ctf_packet(0, 0, 0, 0, b""))
    end = head + sum(len(writers.ctf_event(event, False)) for event in own[:40])
    for number in range(20):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(0 if number % 5 == 4 else head, end)] = chance.randrange(256)
        if number % 2:
            data[head + 4:head + 12] = struct.pack("<Q", (1 << 64) - 1 - number)
        stream.write_bytes(data)
        run = import_bytes(path, folder, "detect_leaks=0")  # libbabeltrace2 leaks when it refuses a packet
        check(run.returncode in (0, 1) and len(run.stderr.splitlines()) <= 1, f"CTF, try {number}: {run.returncode} {run.stderr}")


def test_library_ends(folder):
    """The length of an array whose name begins with two underscores: libbabeltrace2 2.0 ends by an assertion. 2.1 reads it."""
    path = folder / "asserting"
    path.mkdir()
    field = "{ %s __n; %s _values[__n]; }" % (("integer { size = 8; align = 8; signed = false; }",) * 2)
    (path / "metadata").write_text("/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n"
                                   f"stream {{ event.context := struct {field}; packet.context := struct {field}; }};\n")
    run = argus("info", path)
    lines = run.stderr.splitlines()
    check(run.returncode == 1 and lines[-1].startswith(f"argus: cannot import {path}: ") and "signal" not in run.stderr and
          ("ended itself" in run.stderr or "no event" in run.stderr), f"an assertion of the library: {run}")


def test_perf_ctf(folder):
    path = folder / "perf-ctf"
    writers.perf_ctf(path, scene.scene())
    test_records(path, "CTF of perf")


def test_machines(folder):
    """The traces of two machines are no single one."""
    path = folder / "two"
    for name in ("one", "other"):
        writers.ctf(path / name, scene.scene())
    metadata = path / "other" / "kernel" / "metadata"
    metadata.write_text(metadata.read_text().replace('hostname = "test"', 'hostname = "else"'))
    run = argus("info", path)
    check(run.returncode == 1 and "several machines" in run.stderr, f"two machines: {run.stdout} {run.stderr}")


def test_samples(folder):
    """Perfetto's samples: time by another clock, names without addresses."""
    path = folder / "samples.pftrace"
    writers.perfetto(path, scene.scene())
    writers.perfetto_samples(path, 50)
    lines = [line for line in argus("dump", path).stdout.splitlines() if " sample " in line]
    check(len(lines) == 50 and all(f" cpu1 {scene.SERVER} " in line for line in lines), f"samples: {lines[:2]}")
    check(lines and lines[0].split()[0].endswith(":21.000000000"), f"samples: their time: {lines[:1]}")
    answer = argus("diagnose", "--auto", "--process=window", path).stdout
    check("rebuild" in answer, f"samples: the diagnosis names no function: {answer}")
    contexts = argus("contexts", "--format=folded", path).stdout
    check("server+0x40" in contexts and "main;rebuild" in contexts.replace(" ", ""), f"samples: {contexts}")
    info = argus("info", path).stdout
    check("2 samples were left out, because the profiler skipped them" in info, f"samples: {info}")
    losses = json.loads(argus("graph", "check", "--json", path).stdout)["largest_gaps"]
    where = [(loss["cpu"], loss["records"], loss["to_ns"] - (loss["from_ns"] or 0) <= 1000000) for loss in losses]
    check(where == [(1, 5, True)], f"samples: losses {losses}")


def test_hostile_samples(folder):
    """A name of 1 MB, also in the middle of a character, a very deep stack, 200 processes with long names of functions."""
    path = folder / "hostile.pftrace"
    writers.perfetto(path, scene.scene())
    writers.perfetto_samples(path, 50, "x" + "\u00e9" * 500000, 300000)
    info = json.loads(argus("info", "--json", path).stdout or "{}")
    check(info.get("records") == len(scene.scene()) + 50, f"hostile samples: {info}")
    deepest = argus("contexts", "--format=folded", path).stdout
    check("x" + "\u00e9" * 2047 in deepest and "\u00e9" * 2048 not in deepest, f"hostile samples: {deepest[:99]}")
    writers.perfetto_many_processes(path, 200, "f" * 5000, 100)
    run = import_bytes(path, folder)
    check(run.returncode == 0 and (folder / "broken.argus").stat().st_size < 80 << 20, f"many processes: {run}")
    info = argus("info", folder / "broken.argus").stdout
    check("frames of samples have no name" in info, f"many processes: {info}")


def test_import(folder):
    """`argus import` writes the same records as are read without it."""
    target = folder / "imported.argus"
    run = argus("import", folder / "perf.data", "-o", target)
    check(run.returncode == 0, f"import: {run.stderr}")
    direct, imported = argus("dump", folder / "perf.data").stdout, argus("dump", target).stdout
    check(direct and direct == imported, "import: its records differ")


def test_cache(folder):
    """The second command reads the copy; a changed file is imported again."""
    path = folder / "trace.txt"
    before = json.loads(argus("info", "--json", path).stdout)["records"]
    text = path.read_text().splitlines(keepends=True)
    path.write_text("".join(text[:-10]))
    after = json.loads(argus("info", "--json", path).stdout)["records"]
    check(after == before - 10, f"cache: {before} records, then {after}")
    with open(json.loads(argus("info", "--json", path).stdout)["copy"], "rb+") as copy:
        copy.truncate(20)
    run = argus("info", path)
    check(run.returncode != 0 and f"the imported copy of {path}: " in run.stderr, f"a damaged copy: {run}")


def test_place(folder):
    """The importer is not looked for at a place that only the program's name tells."""
    (folder / "other/lib").mkdir(parents=True)
    (folder / "other/bin").mkdir()
    (folder / "other/bin/argus-import").write_text(f"#!/bin/sh\ntouch '{folder}/taken'\nexit 1\n")
    (folder / "other/bin/argus-import").chmod(0o755)
    path = folder / "place.txt"
    path.write_text("# tracer: nop\n sh-7 [000] ..... 1.000000: sched_switch: prev_pid=0\n")
    subprocess.run(["other/lib/argus", "info", str(path)], executable=ARGUS, cwd=folder, capture_output=True, check=False, timeout=60)
    check(not (folder / "taken").exists(), "place: a program beside argv[0] was run")


def import_bytes(path, folder, sanitizer=""):
    """`sanitizer`: options for a build with sanitizers."""
    target = folder / "broken.argus"
    environment = {**os.environ, "ASAN_OPTIONS": f"{os.environ.get('ASAN_OPTIONS', '')}:{sanitizer}".strip(":")}
    with open(target, "wb+") as out:
        run = subprocess.run([IMPORT, str(out.fileno()), str(path)], pass_fds=[out.fileno()], capture_output=True, text=True, timeout=60,
                             env=environment)
    return run


def test_broken(folder, name, tries):
    """Cut-off and changed files: an answer or one line, never a crash. Only readers of our own: test_broken_ctf() is for CTF."""
    file, _ = writers.FORMATS[name]
    whole = (folder / file).read_bytes()
    chance = random.Random(name)
    broken = folder / ("broken-" + file)
    for number in range(tries):
        data = bytearray(whole[:chance.randrange(len(whole))] if number % 2 else whole)
        for _ in range(chance.randrange(1, 6) if data else 0):
            data[chance.randrange(min(len(data), chance.choice([64, 600, len(data)])))] = chance.randrange(256)
        broken.write_bytes(data)
        run = import_bytes(broken, folder)
        check(run.returncode in (0, 1, 3), f"{name}, try {number}: exit code {run.returncode}: {run.stderr}")
        check(len(run.stderr.splitlines()) <= 1, f"{name}, try {number}: {run.stderr}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        for form in writers.FORMATS:
            if form in READS:
                test_format(folder, form)
            else:
                print(f"not built: {form}")
        if "Perfetto" in READS:
            test_columns(folder)
            test_samples(folder)
            test_hostile_samples(folder)
            test_packed_packets(folder)
            test_perfetto_others(folder)
        test_named_calls(folder)
        test_old_systrace(folder)
        test_without_text(folder)
        test_cut_off(folder)
        test_escapes(folder)
        test_bombs(folder)
        test_other_kinds(folder)
        test_names(folder)
        test_perf_streams(folder)
        test_hostile_perf(folder)
        test_perf_renamed(folder)
        if "trace.dat" in READS:
            test_instance(folder)
        if "CTF (LTTng)" in READS:
            test_ctf_2(folder)
            test_user_space(folder)
            test_lost_of_programs(folder)
            test_lost_of_the_kernel(folder)
            test_lost_packets(folder)
            test_perf_ctf(folder)
            test_broken_ctf(folder)
            test_library_ends(folder)
            test_machines(folder)
        test_import(folder)
        test_place(folder)
        for form, tries in (("perf.data", 60), ("Perfetto", 40), ("ftrace text", 40), ("atrace -z", 10), ("Chrome trace (JSON)", 10)):
            if form in READS:
                test_broken(folder, form, tries)
        test_cache(folder)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
