#!/usr/bin/env python3
"""The recorder without BPF, over perf_event: the same contents as with BPF, the choice of the backend, losses, what remains at the end.

live_perf.py ARGUS: as live.py, whose tests of contents it repeats.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import live
from live import MAKE_RUNNABLE, STACK, SWITCH, TASK, Trace, argus, eventually, status, syscall_id

GETPPID = {"x86_64": 110, "aarch64": 173}[os.uname().machine]


def perf_events_of(pid):
    """How many perf_events a process holds."""
    links = pathlib.Path(f"/proc/{pid}/fd").iterdir()
    return sum(os.readlink(link) == "anon_inode:[perf_event]" for link in links)


class Contents(live.Contents):
    """Both backends must give the same records here."""

    backend = ("--backend", "perf")
    # perf_event does not report objects of the kernel.
    test_a_pipe_names_its_object_at_both_ends = None
    test_a_socket_names_its_peer = None

    def test_a_pipe_links_both_ends(self):
        trace, (reader, writer) = self.record("""
import os, time
r, w = os.pipe()
child = os.fork()
if child == 0:
    os.read(r, 1); os._exit(0)
time.sleep(0.1); os.write(w, b'x'); os.waitpid(child, 0)
print(child, os.getpid())""")
        reader, writer = int(reader), int(writer)
        self.assertTrue([r for r in trace.of(SWITCH, reader) if r[4][0] == 1])
        self.assertTrue([r for r in trace.of(MAKE_RUNNABLE, writer) if r[4][0] == reader and r[4][3] == TASK])
        self.assertTrue([r for r in trace.of(live.NEW_THREAD, writer) if r[4] == [reader, reader, 1, writer]])
        self.assertTrue([r for r in trace.of(live.THREAD_EXIT, reader) if r[4][:2] == [reader, 1]])

    def test_every_thread_has_a_name(self):
        trace, _ = self.record("""
import subprocess, threading
for i in range(50):
    subprocess.run(["true"])
    t = threading.Thread(target=print); t.start(); t.join()""")
        named = {t[0] for t in trace.threads if t[5]} | {0}
        self.assertFalse({r[1] for r in trace.records} - named)

    def test_32_bit_system_calls_have_native_numbers(self):
        """getppid() and exit() of the old table."""
        if os.uname().machine != "x86_64":
            self.skipTest("only x86_64 can call its old table from a program of 64 bits")
        program = self.folder / "old"
        built = subprocess.run(["gcc", "-m32", "-nostdlib", "-static", "-x", "c", "-o", program, "-"], text=True,
                               input="void _start(void) { __asm__ volatile(\"movl $64, %eax; int $0x80\"); "
                                     "for (;;) __asm__ volatile(\"movl $1, %eax; xorl %ebx, %ebx; int $0x80\"); }",
                               stderr=subprocess.DEVNULL, check=False)
        if built.returncode:
            self.skipTest("no compiler for 32 bits")
        trace, _ = self.record(f"import subprocess; subprocess.run(['{program}'])")
        own = {t[0] for t in trace.threads if t[5] == "old"}
        begun = [(r[2] & 0xffff) >> 2 for r in trace.records if r[1] in own and r[2] & ~0xfffc == 0x040c0001]
        self.assertEqual(begun[-2:], [110, 60])  # numbers of the native table
        self.assertEqual(trace.counters["compat_syscalls_skipped"], 0)


class Choice(live.Live):
    def without_btf(self, *arguments):
        """Runs Argus as on a kernel without type information."""
        script = 'mount -t tmpfs -o mode=755 tmpfs /sys/kernel/btf && exec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", live.ARGUS, *arguments],
                              capture_output=True, text=True, timeout=60)

    def test_perf_is_chosen_by_itself_and_said(self):
        done = self.without_btf("record", "-o", str(self.path), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recorded by perf_event, because this kernel has no type information", done.stderr)
        self.assertIn("do not name their file", done.stderr)
        info = argus("info", str(self.path))
        self.assertIn("recorded by perf_event, because", info.stdout)
        self.assertTrue(Trace(self.path).of(SWITCH))

    def test_status_says_it(self):
        self.assertEqual(self.without_btf("start", "--ring-size", "4M").returncode, 0)
        notes = json.loads(argus("status", "--json").stdout)["notes"]
        self.assertTrue([note for note in notes if note.startswith("recorded by perf_event, because")], notes)
        self.assertEqual(argus("stop").returncode, 0)

    def test_bpf_and_nothing_else(self):
        done = self.without_btf("record", "--backend", "bpf", "-o", str(self.path), "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no type information", done.stderr)
        self.assertFalse(self.path.exists())

    def test_an_unknown_backend(self):
        self.assertEqual(argus("start", "--backend", "dtrace").returncode, 2)

    def test_categories(self):
        done = argus("record", "--backend", "perf", "--only", "sched", "-o", str(self.path), "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        kinds = {r[2] & ~3 for r in Trace(self.path).records}
        self.assertIn(SWITCH, kinds)
        self.assertFalse({STACK, live.TIMER_FIRED & ~3, 0x01050000, 0x60010004} & kinds)
        self.assertFalse([kind for kind in kinds if kind >> 16 == 0x040C])


class Endings(live.Live):
    def start(self, ring_size="4M"):
        done = argus("start", "--backend", "perf", "--ring-size", ring_size)
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = status()["recorder_pid"]
        self.assertGreater(perf_events_of(pid), 20)
        return pid

    def test_a_killed_recorder_leaves_nothing(self):
        mounts = pathlib.Path("/proc/self/mounts").read_text()
        os.kill(self.start(), signal.SIGKILL)
        # while the kernel removes the events, for half a second, requests get no answer
        self.assertTrue(eventually(lambda: '"recording": false' in argus("status", "--json").stdout))
        self.assertEqual(pathlib.Path("/proc/self/mounts").read_text(), mounts)
        self.start()

    def test_the_memory_ring_keeps_the_newest(self):
        self.start()
        for _ in range(5):
            subprocess.run(["ls", "-R", "/usr"], stdout=subprocess.DEVNULL, check=True)
        before = status()
        self.assertGreater(before["emitted"], before["records"])
        self.assertEqual(argus("snapshot", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        self.assertLessEqual(len(trace.records), before["ring_bytes"] / 64)
        self.assertGreater(len(trace.records), before["ring_bytes"] / 64 / 8)

    def test_what_is_lost_is_counted(self):
        """The recorder is stopped until the kernel's buffers are full: all records are in the file or in the count of lost ones."""
        pid = self.start("64M")  # large enough that the records of other programs do not overwrite it meanwhile
        os.kill(pid, signal.SIGSTOP)
        count = 200000
        script = f"import os\nprint(os.getpid())\nfor i in range({count}): os.getppid()"
        try:
            done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True)
        finally:
            os.kill(pid, signal.SIGCONT)
        time.sleep(0.2)
        self.assertEqual(argus("snapshot", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        tid = int(done.stdout)
        got = len(trace.of(syscall_id(GETPPID), tid)) + len(trace.of(syscall_id(GETPPID, True), tid))
        self.assertLess(got, 2 * count)
        self.assertGreaterEqual(got + trace.counters["lost"], 2 * count)
        info = argus("info", str(self.path)).stdout
        self.assertRegex(info, rf"lost +{trace.counters['lost']}")


# live.py itself runs its other tests.
del live.Endings
if __name__ == "__main__":
    live.main()
