"""Compiled programs, stepped by argus while their flag is set and while it is not; argus diverge names the flag.

test_programs.py ARGUS PROGRAM…: each of the programs is flag_waits.c. Exits 77 (skipped) where processes may not be traced.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ARGUS, PROGRAMS = "", []
STEPS = 500


def may_trace():
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    return os.geteuid() == 0 or not scope.exists() or scope.read_text(encoding="ascii").strip() == "0"


def step(program, kind, mode, function, path):
    environment = {**os.environ, "LD_BIND_NOW": "1"}  # the dynamic linker's work at a first call does not belong to the test
    with subprocess.Popen([program, kind, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as target:
        target.stdout.readline()
        command = [ARGUS, "step", "--process", str(target.pid), "--function", function, "-o", path, "--max", str(STEPS)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as stepper:
            while "waiting for" not in (line := stepper.stderr.readline()):
                assert line, stepper.communicate()
            target.stdin.write("go\n")
            target.stdin.flush()
            said = stepper.communicate(timeout=60)
        target.kill()
    assert stepper.returncode == 0, said


def diverge(*arguments):
    return json.loads(subprocess.run([ARGUS, "diverge", "--json", *arguments], check=True, capture_output=True, text=True).stdout)


def symbols(program):
    """Addresses by name."""
    table = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    return {words[2]: int(words[0], 16) for words in map(str.split, table.splitlines()) if len(words) == 3}


class Stripped(unittest.TestCase):
    """Without symbols, a function is named by file and offset, and so is the variable."""

    def check(self, kind, *, variables):
        for program in PROGRAMS:
            with self.subTest(program=program), tempfile.TemporaryDirectory(prefix="argus-waits-") as folder:
                addresses, stripped = symbols(program), os.path.join(folder, "stripped")
                subprocess.run(["strip", "--strip-all", "-o", stripped, program], check=True)
                good, bad = folder + "/good.steps", folder + "/bad.steps"
                function = f"stripped+{addresses[f'wait_{kind}']:#x}"
                step(stripped, kind, "good", function, good)
                step(stripped, kind, "bad", function, bad)
                for answer in (diverge(good, bad), diverge("--spin", bad)):
                    found = [candidate for candidate in answer["candidates"] if candidate["role"] == "candidate"]
                    self.assertIsNone(found[0]["symbol"])
                    self.assertEqual((found[0]["where"], os.path.basename(found[0]["image"]), found[0]["image_offset"]),
                                     ("variable", "stripped", hex(addresses[variables[0]])))
                    self.assertIn(f" stripped {addresses[variables[0]]:#x} --size ", found[0]["command"])
                    self.assertLessEqual({candidate["image_offset"] for candidate in found}, {hex(addresses[name]) for name in variables})

    def test_a_flag_that_the_thread_resets(self):
        self.check("done", variables=["done", "kinds_wanted"])

    def test_a_machine_of_states(self):
        self.check("state", variables=["answer"])


class Programs(unittest.TestCase):
    def check(self, kind, function=None, alone=True, normal="good", **expected):
        for program in PROGRAMS:
            with self.subTest(program=program), tempfile.TemporaryDirectory(prefix="argus-waits-") as folder:
                good, bad = folder + "/good.steps", folder + "/bad.steps"
                step(program, kind, normal, function or f"wait_{kind}", good)
                step(program, kind, "bad", function or f"wait_{kind}", bad)
                for answer in [diverge(good, bad), *([diverge("--spin", bad)] if alone else [])]:
                    best = answer["candidates"][0]
                    self.assertEqual({key: best[key] for key in expected}, expected)
                    self.assertEqual(best["role"], "candidate")

    def test_behind_two_pointers(self):
        self.check("document", where="heap", path="window->0x8->0x18", member="window->document->state", size=4)

    def test_members_in_the_list_of_steps(self):
        for program in PROGRAMS:
            with self.subTest(program=program), tempfile.TemporaryDirectory(prefix="argus-waits-") as folder:
                path = folder + "/bad.steps"
                step(program, "parameter", "bad", "wait_for_document", path)
                said = subprocess.run([ARGUS, "steps", "--instructions", "--json", path], check=True, capture_output=True, text=True).stdout
                memory = {(item["memory"], item["memory_function"]) for item in map(json.loads, said.splitlines())}
                self.assertIn(("document->state", "wait_for_document"), memory)
                self.assertIn("(document->state)", subprocess.run([ARGUS, "steps", "--instructions", path], check=True,
                                                                  capture_output=True, text=True).stdout)

    def test_a_member_of_a_local_variable(self):
        self.check("parameter", function="wait_for_document", where="heap", member="document->state",
                   member_function="wait_for_document", size=4)

    def test_a_member_of_an_object_of_a_caller(self):
        self.check("member", function="wait_for_member", where="heap", member="own->document->state", size=4)

    def test_a_local_variable(self):
        self.check("local", where="stack", member="own.state", member_function="wait_local", size=4)

    def test_a_bit_field(self):
        self.check("field", where="variable", symbol="fields", member="fields.closing", size=1)

    def test_a_bit_of_a_word(self):
        self.check("bit", where="variable", symbol="flags", symbol_offset=4, member="flags.bits")

    def test_a_thread_local_variable(self):
        self.check("arrived", where="thread-local", symbol="arrived", size=1)

    def test_a_machine_of_states(self):
        self.check("state", where="variable", symbol="answer")

    def test_a_flag_that_the_thread_resets(self):
        self.check("done", where="variable", symbol="done")

    def test_equal_numbers(self):
        self.check("decoded", where="variable", symbol="decoded")

    def test_a_counter_and_its_limit(self):
        self.check("handled", alone=False, where="variable", symbol="handled")

    def test_a_counter_that_the_normal_run_never_saw_change(self):
        self.check("handled", alone=False, normal="early", where="variable", symbol="handled")

    def test_one_byte_of_a_word(self):
        self.check("word", where="variable", symbol="word", symbol_offset=2, size=1)


if __name__ == "__main__":
    ARGUS, PROGRAMS = sys.argv[1], [os.path.realpath(program) for program in sys.argv[2:]]
    if not may_trace():
        print("skipped: processes may not be traced here (ptrace_scope)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
