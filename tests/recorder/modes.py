#!/usr/bin/env python3
"""The modes of the recorder on the real system: ring files, categories, the output of status. See recorder_harness.py."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from recorder_harness import (ARGUS, EXEC, MAKE_RUNNABLE, NEW_THREAD, SAMPLE, STACK, SWITCH, TIMER_FIRED, WAITED, Live,
                              Trace, argus, eventually, main, status)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/diagnose"))
from schema import mismatches  # noqa: E402

# Threads and processes that begin and end for some seconds, beside some that exist all the time.
LOAD = """
import os, sys, threading, time
def sleeper():
    while True: time.sleep(0.01)
for i in range(4): threading.Thread(target=sleeper, daemon=True).start()
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    threads = [threading.Thread(target=os.getppid) for i in range(20)]
    for t in threads: t.start()
    for t in threads: t.join()
    child = os.fork()
    if child == 0:
        for i in range(5): os.stat("/")
        os._exit(0)
    os.waitpid(child, 0)
    os.system("true")
"""


def load(seconds):
    subprocess.run([sys.executable, "-c", LOAD, str(seconds)], check=True)


def nameless(trace):
    """The threads that ran, but whose names are neither in a table nor in a record of their start. (A hypervisor's agent may hide
    its threads from the scheduler's tracepoints: they seem never to run, and no record names them.)"""
    born = {r[4][0] for r in trace.of(NEW_THREAD)}
    return {r[1] for r in trace.of(SWITCH)} - {t[0] for t in trace.threads} - born - {0}


def stacks_named(trace):
    late = {r[4][0] for r in trace.of(STACK) if r[4][2] == WAITED}  # whose second argument is a stack pointer
    taken = [r for r in trace.of(STACK) if r[4][2] != WAITED]
    return late | {stack for r in taken + trace.of(SAMPLE) for stack in r[4][:2] if stack}


class RingFile(Live):
    def start(self, *options):
        done = argus("start", "-o", str(self.path), "--ring-size", "1M", "--buffer", "64M", *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_named(self, trace):
        self.assertEqual(nameless(trace), set())
        named = stacks_named(trace)
        self.assertGreater(len(named), 50)
        self.assertEqual(named - set(trace.stacks), set())

    def test_a_wrapped_ring_names_everything(self):
        self.start()
        load(4)
        told = status()
        laps = told["file_bytes"] / told["file_ring_bytes"]
        self.assertGreater(laps, 2.5)
        self.assertEqual((told["mode"], told["fill"], told["file"]), ("ring", 1, str(self.path)))
        self.assertLess(told["span_s"], 4)
        done = argus("stop")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = Trace(self.path)
        self.assertTrue(trace.complete)
        self.assertGreater(trace.counters["records"], 2 * len(trace.records))
        self.check_named(trace)
        self.assertEqual(self.path.stat().st_size, 4096 + (1 << 20))
        info = json.loads(argus("info", "--json", str(self.path)).stdout)
        self.assertEqual((info["records"], info["lost"], info["complete"]), (len(trace.records), 0, True))
        self.assertAlmostEqual((info["end_ns"] - info["start_ns"]) / 1e9, told["span_s"], delta=0.5)
        self.assertIn(": sound", argus("verify", str(self.path)).stdout)
        # a thread that started before the oldest record still has its name
        born = {r[4][0] for r in trace.of(NEW_THREAD)}
        self.assertTrue([t for t in trace.threads if t[5].startswith("python3") and t[0] not in born])

    def test_record_into_a_ring(self):
        done = argus("record", "-o", str(self.path), "--ring-size", "1M", "--", sys.executable, "-c", LOAD, "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = Trace(self.path)
        self.assertGreater(trace.counters["records"], len(trace.records))
        self.check_named(trace)

    def test_it_goes_on_without_the_front_end_and_is_the_users(self):
        self.start()
        self.recorder()
        mode = self.path.stat()
        self.assertEqual((mode.st_uid, mode.st_mode & 0o777), (os.geteuid(), 0o600))
        done = argus("snapshot", "-o", str(self.folder / "other.argus"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("already written to a file", done.stderr)
        self.assertEqual(argus("stop").returncode, 0)
        self.assert_detached()

    def test_a_ring_that_is_too_small_is_refused(self):
        done = argus("start", "-o", str(self.path), "--ring-size", "1000")
        self.assertEqual(done.returncode, 2)
        self.assertIn("choose 1M or more", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_file_that_is_removed_is_said(self):
        self.start()
        self.path.unlink()
        self.assertTrue(status()["file_gone"])
        done = argus("stop")
        self.assertEqual(done.returncode, 1)
        self.assertIn("was removed", done.stderr)
        self.assert_detached()


class Loss(Live):
    def test_what_is_lost_is_said_by_everything(self):
        """The recorder is stopped until its buffer has overwritten records that it had not read."""
        done = argus("start", "-o", str(self.path), "--ring-size", "16M", "--buffer", "1M")
        self.assertEqual(done.returncode, 0, done.stderr)
        pid = self.recorder()
        os.kill(pid, signal.SIGSTOP)
        try:
            subprocess.run([sys.executable, "-c", "import os\nfor i in range(100000): os.getppid()"], check=True)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.assertTrue(eventually(lambda: status()["lost"] > 0))
        # status reads the sum and its parts one after the other, and a busy machine may lose more meanwhile.
        self.assertTrue(eventually(lambda: (told := status())["lost"] == sum(cpu["lost"] for cpu in told["per_cpu"])))
        done = argus("stop")
        self.assertRegex(done.stderr, r"[1-9]\d* records were lost")
        trace = Trace(self.path)
        self.assertGreater(trace.counters["lost"], 50000)
        self.assertRegex(argus("info", str(self.path)).stdout, rf"lost +{trace.counters['lost']}\n")
        for command in ("hangs", "graph", "graph find"):
            done = argus(*command.split(), str(self.path))
            self.assertIn(f"{trace.counters['lost']} records were lost", done.stderr, command)


class Categories(Live):
    def test_what_is_switched_off_is_not_there_and_said(self):
        trace, _ = self.record("import time\nfor i in range(20): time.sleep(0.01)", "--without", "timers,interrupts,stacks")
        classes = {r[2] & ~3 for r in trace.records}
        for wanted in (SWITCH, MAKE_RUNNABLE):
            self.assertIn(wanted, classes)
        for unwanted in (STACK, TIMER_FIRED & ~3, 0x0109001C, 0x01050000, 0x60010004):
            self.assertNotIn(unwanted, classes)
        notes = json.loads(argus("info", "--json", str(self.path)).stdout)["notes"]
        self.assertIn("recorded without stacks: ", argus("hangs", str(self.path)).stderr)
        for name in ("timers", "interrupts", "stacks"):
            self.assertTrue([n for n in notes if n.startswith(f"recorded without {name}: ")], notes)

    def test_only(self):
        trace, _ = self.record("import os\nfor i in range(20): os.getppid()", "--only", "syscalls", "--rate", "0")
        kinds = {r[2] >> 16 for r in trace.records}
        self.assertLessEqual(kinds, {0x0140, 0x0700, 0x0701, 0x040C, 0x6002})
        self.assertIn(0x040C, kinds)
        self.assertTrue(trace.of(EXEC))

    def test_the_scheduler_stays_on(self):
        done = argus("start", "--without", "sched")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sched cannot be switched off", done.stderr)


class Status(Live):
    schema = json.loads((ROOT / "docs/schema/status.json").read_text())

    def test_idle(self):
        self.assertEqual(mismatches(status(), self.schema), [])
        self.assertEqual(status()["mode"], "idle")

    def test_memory(self):
        self.assertEqual(argus("start", "--ring-size", "1M", "--without", "block").returncode, 0)
        load(2)
        told = status()
        self.assertEqual(mismatches(told, self.schema), [])
        self.assertEqual((told["mode"], told["backend"], told["file"]), ("memory", "bpf", None))
        self.assertEqual(told["fill"], 1)
        self.assertEqual(told["emitted"] >= told["records"], True)
        self.assertEqual(sum(cpu["emitted"] for cpu in told["per_cpu"]) >= told["emitted"], True)
        self.assertLess(told["span_s"], told["duration_ns"] / 1e9)
        self.assertGreater(told["categories"]["syscalls"]["records_per_s"], 100)
        self.assertEqual(told["categories"]["block"], {"on": False, "records_per_s": 0})
        self.assertIn("recorded without block: waits for a disk do not name it", told["notes"])
        self.assertGreater(told["own_cpu_ns"], 0)
        self.assertIsNone(told["own_cpu_share"])  # loading the programs took longer than the 2 s since then
        self.assertRegex(argus("status").stdout, r"recorder   pid \d+, \d+\.\d+ s of cpu time\n")
        time.sleep(max(0, 5.2 - told["duration_ns"] / 1e9))
        told = status()
        self.assertEqual(mismatches(told, self.schema), [])
        self.assertLess(told["own_cpu_share"], 1)
        self.assertRegex(argus("status").stdout, r"of it \d+\.\d+ s to start; \d+\.\d+ % since then\n")
        text = argus("status").stdout
        for part in ("ring in memory", "100 % full", "are kept", "syscalls ", "block off", "note       recorded without block"):
            self.assertIn(part, text)

    def test_stream(self):
        front = subprocess.Popen([ARGUS, "record", "-o", str(self.path), "--", "sleep", "30"], stderr=subprocess.DEVNULL)
        self.addCleanup(front.wait)
        self.addCleanup(front.kill)
        self.recorder()
        self.assertTrue(eventually(lambda: status()["records"] > 0))
        told = status()
        self.assertEqual(mismatches(told, self.schema), [])
        self.assertEqual((told["mode"], told["fill"], told["file_ring_bytes"]), ("stream", 0, 0))
        self.assertEqual(told["lost"], sum(cpu["lost"] for cpu in told["per_cpu"]))


if __name__ == "__main__":
    main()
