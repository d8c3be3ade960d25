#!/usr/bin/env python3
"""Probes from a user's table, in a small program: the result of each shape, the messages for functions that do not exist, and that
nothing remains in the program when the recorder is killed.

    test_own_loop.py ARGUS PROGRAM

Needs root and a kernel that records; exits 77 (skipped) without.
"""
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from recording import Graph, enter_namespace, load_retry

ARGUS = PROGRAM = ""
TABLE = """
# LIBRARY SHAPE SYMBOL
{p} queue   queue_task   key=arg1 space=task label="task"
{p} cancel  cancel_task  key=arg1 space=task
{p} begin   call_task    key=arg1 space=task function=arg1->16 when=arg1->8:u16<3 label="own task"
{p} begin   call_task    key=arg1 space=task function=arg1->16 when=arg1->8:u16=3 label="own inner task"
{p} turn    loop_turn    label="own loop"
{p} ui      give_event   type=arg1->4:u32 kinds=7:motion,44:button_press label="own event"
{p} read    next_event   return type=result->4:u8 kinds=44:button_press label="own read"
{p} handler second_task  function=arg1->16 label="own handler"
{p} begin   no_such_function key=arg1
/no/such/library.so turn loop_turn
"""
BREAKPOINT = {"x86_64": b"\xcc"}


def argus(*arguments):
    return subprocess.run([ARGUS, *arguments], capture_output=True, text=True, timeout=120)


class OwnLoop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="argus-own-loop-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.table = self.folder / "own.conf"
        self.table.write_text(TABLE.format(p=PROGRAM))
        self.addCleanup(lambda: argus("stop"))

    def record(self, *options):
        trace = self.folder / "t.argus"
        done = argus("record", "-o", str(trace), *options, "--", PROGRAM)
        self.assertEqual(done.returncode, 0, done.stderr)
        return trace

    def of_label(self, graph, label):
        """The vertices in which a probe with this label was hit."""
        return [v for v in graph.find("--process", "own-loop") if label in graph.labels(v)]

    def test_each_shape(self):
        graph = Graph(ARGUS, self.record("--probes", str(self.table)))
        read, = self.of_label(graph, "own read")
        event, = self.of_label(graph, "own event")
        self.assertEqual(graph.events(event), ["button press"])
        self.assertEqual([e["rule"] for e in graph.show(event)["causes"] if e["strong"]], ["dispatch.read"])
        self.assertIn(event, graph.effects(read, "dispatch.read"))
        first, second = self.of_label(graph, "own task")
        self.assertTrue(graph.functions(first)[0].startswith("first_task"), graph.functions(first))
        self.assertTrue(graph.functions(second)[0].startswith("second_task"), graph.functions(second))
        self.assertIn(second, graph.effects(first, "dispatch.queued"))
        # a call inside belongs to the caller
        self.assertEqual(self.of_label(graph, "own inner task"), [first])
        inner, = (c for c in graph.show(first)["callbacks"] if c["probe"] == "own inner task")
        self.assertTrue(inner["nested"])
        self.assertTrue(inner["function"].startswith("nested_task"))
        self.assertEqual(self.of_label(graph, "own handler"), [second])

    def test_what_is_missing_is_said(self):
        trace = self.record("--probes", str(self.table))
        notes = json.loads(argus("info", "--json", str(trace)).stdout)["notes"]
        self.assertTrue(any("own-loop has no symbol no_such_function" in note for note in notes), notes)
        self.assertTrue(any("not installed:" in note and "/no/such/library.so" in note for note in notes), notes)

    def test_without_probes(self):
        graph = Graph(ARGUS, self.record("--probes", str(self.table), "--no-probes"))
        self.assertEqual([v for v in graph.find("--process", "own-loop") if graph.show(v)["callbacks"]], [])

    def test_mistake_in_the_table(self):
        self.table.write_text("libc.so.6 queue malloc\n")
        done = argus("record", "-o", str(self.folder / "t.argus"), "--probes", str(self.table), "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("own.conf, line 1: key=… is missing", done.stderr)
        self.assertFalse((self.folder / "t.argus").exists())

    @unittest.skipUnless(platform.machine() in BREAKPOINT, "breakpoints look different here")
    def test_nothing_stays_in_the_program(self):
        program = subprocess.Popen([PROGRAM, "hold"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        place = int(program.stdout.readline(), 16)

        def code():
            with open(f"/proc/{program.pid}/mem", "rb") as memory:
                memory.seek(place)
                return memory.read(1)

        def settles(condition):
            until = time.monotonic() + 20
            while not condition() and time.monotonic() < until:
                time.sleep(0.05)
            return condition()

        # the recorder of the previous test may still be ending
        self.assertTrue(settles(lambda: code() != BREAKPOINT[platform.machine()]))
        before = code()
        for _ in range(3):
            done = argus("start", "--ring-size", "8M", "--probes", str(self.table))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(code(), BREAKPOINT[platform.machine()])
            recorder = json.loads(argus("status", "--json").stdout)["recorder_pid"]
            os.kill(recorder, signal.SIGKILL)
            self.assertTrue(settles(lambda pid=recorder: not os.path.exists(f"/proc/{pid}")))
            self.assertEqual(code(), before)
            self.assertIsNone(program.poll())


def main():
    global ARGUS, PROGRAM
    enter_namespace()
    PROGRAM = sys.argv.pop()
    ARGUS = sys.argv.pop()
    load_retry.run_unittests(sys.argv)


main()
