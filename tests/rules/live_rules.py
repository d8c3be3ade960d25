#!/usr/bin/env python3
"""A queue that only rules can describe (furnace.cpp), recorded: with them the path leads from the thread that works to the thread
that enqueued the work.

    live_rules.py ARGUS PROGRAM

Needs root and a kernel that records; exits 77 (skipped) without.
"""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "toolkits"))
from recording import enter_namespace, load_retry  # noqa: E402

ARGUS = PROGRAM = ""
LOADS = 12
QUEUE = """
enqueue Furnace::stoke          key=arg2 label="load of coal"
execute "Furnace::burn(Load*)"  key=arg2
"""
ENQUEUED = "user.enqueue:Furnace::stoke"


class Rules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="argus-rules-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.environment = {**os.environ, "HOME": folder.name, "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}
        cls.queue = cls.file("queue.rules", QUEUE)
        cls.with_rules = cls.record("with", "--rules", cls.queue)
        cls.without = cls.record("without", "--rules=none")

    @classmethod
    def file(cls, name, text):
        path = cls.folder / name
        path.write_text(text)
        return path

    @classmethod
    def argus(cls, *words):
        return subprocess.run([ARGUS, *map(str, words)], capture_output=True, text=True, timeout=120, env=cls.environment)

    @classmethod
    def record(cls, name, *words):
        trace = cls.folder / f"{name}.argus"
        done = cls.argus("record", "-o", trace, *words, "--", PROGRAM)
        if done.returncode:
            raise RuntimeError(done.stderr)
        cls.said = done.stderr
        return trace

    def ask(self, *words):
        done = self.argus(*words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @functools.lru_cache(maxsize=None)
    def of_thread(self, trace, rules, name):
        """The vertices of a thread with their causes."""
        found = self.ask("graph", "find", "--rules", rules, "--process=fc-stoker", "--limit=100000", trace)["vertices"]
        return [self.ask("graph", "show", "--rules", rules, trace, v["id"]) for v in found if v["thread"] == name]

    def causes(self, vertices):
        return [edge for vertex in vertices for edge in vertex["causes"]]

    def test_execution_is_caused_by_enqueuing(self):
        vertices = self.of_thread(self.with_rules, self.queue, "fc-burner")
        edges = [e for e in self.causes(vertices) if e["rule"] == ENQUEUED]
        self.assertEqual(len(edges), LOADS)
        for edge in edges:
            self.assertTrue(edge["strong"])
            self.assertEqual(edge["from"]["thread"], "fc-stoker")
        # each load comes from another moment of the stoker
        self.assertEqual(len({edge["from_ns"] for edge in edges}), LOADS)

    def test_unit_goes_on_behind_its_sleep(self):
        vertices = self.of_thread(self.with_rules, self.queue, "fc-burner")
        units = [v["id"] for v in vertices if any(e["rule"] == ENQUEUED for e in v["causes"])]
        goes_on = [e for e in self.causes(vertices) if e["rule"] == "sequence.callback" and e["from"]["id"] in units]
        self.assertEqual(len(goes_on), LOADS)

    def test_slice_leads_to_the_enqueuer(self):
        """A slice from the last part of one unit of work; it finds the path without a question."""
        unit = next(v for v in self.of_thread(self.with_rules, self.queue, "fc-burner")
                    if any(e["rule"] == ENQUEUED for e in v["causes"]))
        path = self.ask("slice", "--auto", "--rules", self.queue, self.with_rules, unit["id"])["path"]
        self.assertIn("fc-stoker", [step["vertex"]["thread"] for step in path])
        self.assertTrue(any(ENQUEUED in (step["edge"] or "") for step in path), path)
        # without rules no edge leads from the stoker to the burner while it burns, except the creation of the thread
        for vertex in self.of_thread(self.without, self.queue, "fc-burner"):
            for edge in vertex["causes"]:
                self.assertFalse(edge["from"]["thread"] == "fc-stoker" and edge["kind"] != "fork", edge)

    def test_trace_is_understood_without_the_rules(self):
        edges = [e for e in self.causes(self.of_thread(self.with_rules, "none", "fc-burner")) if e["rule"] == "dispatch.queued"]
        self.assertEqual(len(edges), LOADS)

    def test_kept_rules_are_used_by_themselves(self):
        done = self.argus("schema", "add", self.queue)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(self.argus, "schema", "remove", "queue.rules")
        trace = self.record("kept")
        counts = {rule["name"]: rule["count"] for rule in self.ask("schema", "list", trace)["rules"]}
        self.assertEqual(counts[ENQUEUED], LOADS)
        self.assertEqual(counts["user.execute:Furnace::burn(Load*)"], LOADS)

    def test_wakeups_that_are_ignored(self):
        rules = self.file("bell.rules", "ignore-wakeups from Bell::*\n")
        trace = self.record("bell", "--rules=none", "--unwind=fc-stoker")

        def rings(with_rules):
            return [e for e in self.causes(self.of_thread(trace, with_rules, "fc-listener"))
                    if e["from"]["thread"] == "fc-stoker" and e["kind"] == "wake-up"]

        self.assertTrue(rings("none"))
        self.assertEqual(rings(rules), [])
        count, = (rule["count"] for rule in self.ask("schema", "list", "--rules", rules, trace)["rules"] if rule["user"])
        self.assertGreaterEqual(count, 1)

    def test_what_is_missing_is_said(self):
        rules = self.file("missing.rules", "begin no_such_function\nbegin g in libnosuch.so\n")
        self.record("missing", "--rules", rules)
        self.assertIn(f"there is no function no_such_function in {PROGRAM}", self.said)
        self.assertIn("there is no function g in libnosuch.so", self.said)

    def test_a_mistake_ends_it_before_anything_is_recorded(self):
        rules = self.file("wrong.rules", "begin\n")
        done = self.argus("record", "-o", self.folder / "wrong.argus", "--rules", rules, "--", PROGRAM)
        self.assertEqual(done.returncode, 1)
        self.assertIn("line 1, column 1: the function is missing", done.stderr)
        self.assertFalse((self.folder / "wrong.argus").exists())


def main():
    global ARGUS, PROGRAM
    enter_namespace()
    PROGRAM = sys.argv.pop()
    ARGUS = sys.argv.pop()
    load_retry.run_unittests(sys.argv)


main()
