#!/usr/bin/env python3
"""From a recorded hang to the process that did not send its answer, without the source code: examples/reconfigure.

find_flag.py ARGUS FOLDER: what a user without the source would do. Record the hang; diagnose says RepeatedYield, and reads from the
program's code the variable, and who sets it: that leads to the process, as a guess. Then to be certain: step the function that loops, once in a normal case and once while it
spins; diverge names the variable and prints a command; that command is run unchanged, and the new recording leads to the process.
The flag lies in the program, in an object on the heap, in a library, or in a program without symbols.
"""
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

import reconfigure

STEPS = 1200


def wait_for(process, text):
    """Reads the process's output until a line contains `text`."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"argus ended without saying '{text}'")


def step(programs, trace, vertex, display, output):
    """Steps the vertex's function while the display is being changed; the process continues afterwards."""
    environment = {**os.environ, "LANG": "C.UTF-8"}
    command = [reconfigure.ARGUS, "step", trace, vertex, "--process", str(programs.settings.pid), "-o", output, "--max", str(STEPS)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment) as stepper:
        wait_for(stepper, "waiting for")
        time.sleep(0.2)
        said = programs.click(display)
        stepper.communicate(timeout=60)
    assert stepper.returncode == 0, stepper.returncode
    return said


def record_hang(programs, trace, *commands):
    """Records clicks that succeed and one that does not; `commands` are run after the recording has begun."""
    reconfigure.argus("start", "--ring-size", "256M", "--no-probes")
    try:
        for command in commands:
            words = shlex.split(command)
            assert words[0] == "argus", words
            reconfigure.argus(*words[1:])
        done = [programs.click(f"display{i}") for i in range(3)] + [programs.click("mirror")]
    finally:
        reconfigure.argus("stop", "-o", trace)
    assert done == ["done"] * 3 + ["gave up"], done


def diagnose(trace, variant):
    return json.loads(reconfigure.argus("diagnose", trace, "--process", variant[:15], "--threshold", "1s", "--auto", "--json"))


class Walk(unittest.TestCase):
    def check_vertex(self, programs, trace, vertex, files):
        """The vertex names the files of its steps, and LLDB takes the commands that are written for it."""
        shown = reconfigure.argus("graph", "show", trace, vertex)
        for file in files:
            self.assertIn(os.path.basename(file), shown)
        script = os.path.join(os.path.dirname(trace), "look.lldb")
        reconfigure.argus("step", trace, vertex, "--script", "-o", script)
        lldb = next(filter(None, map(shutil.which, ["lldb", *[f"lldb-{n}" for n in range(22, 13, -1)]])), None)
        if lldb:
            words = [lldb, "--batch", "--no-lldbinit", programs.settings.args[0], "--source", script, "-o", "breakpoint list"]
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("argus_begin", done.stdout)
            self.assertNotIn("error:", done.stdout + done.stderr)

    def check_candidate(self, answer, expected):
        best = answer["candidates"][0]
        self.assertEqual(best["role"], "candidate")
        self.assertEqual((best["normal_value"], best["bad_value"]), (1, 0))
        self.assertEqual([best["where"], best["symbol"], best["path"]], expected)
        self.assertTrue(answer["decisions"][0]["leaves_loop"])
        self.assertNotEqual(answer["first_divergence"]["normal"], answer["first_divergence"]["bad"])

    def find(self, variant, expected):
        programs = reconfigure.Programs(variant)
        try:
            with tempfile.TemporaryDirectory(prefix="argus-find-flag-") as folder:
                self.walk(programs, variant, expected, folder)
        finally:
            programs.end()

    def walk(self, programs, variant, expected, folder):
        first, second, good, bad = [os.path.join(folder, name) for name in
                                    ("hang.argus", "again.argus", "good.steps", "bad.steps")]
        record_hang(programs, first)
        answer = diagnose(first, variant)
        culprit = answer["root_causes"][0]
        self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
        # The code already leads to the process, from the first recording; but that is a guess.
        self.assertEqual((culprit["process"], answer["guessed"]), ("displayd", True))
        vertex = answer["spinning"]["vertex"]["id"]
        self.assertEqual(step(programs, first, vertex, "display9", good), "done")
        step(programs, first, vertex, "mirror", bad)
        self.check_vertex(programs, first, vertex, [good, bad])
        answer = json.loads(reconfigure.argus("diverge", good, bad, "--json"))
        self.check_candidate(answer, expected)
        # The code already told the variable, from the first recording.
        self.assertTrue(culprit["code_loop"]["whole"])
        self.assertEqual([variable["command"] for variable in culprit["code_loop"]["variables"]], [answer["candidates"][0]["command"]])
        alone = json.loads(reconfigure.argus("diverge", "--spin", bad, "--json"))
        self.assertEqual(alone["candidates"][0]["command"], answer["candidates"][0]["command"])
        record_hang(programs, second, answer["candidates"][0]["command"])
        answer = diagnose(second, variant)
        self.assertEqual(answer["root_causes"][0]["process"], "displayd")


class FindFlag(Walk):
    def test_in_the_program(self):
        self.find("settings", ["variable", "did_reconfigure", None])

    def test_on_the_heap(self):
        self.find("settings-heap", ["heap", None, "display->0x28"])

    def test_in_a_library(self):
        self.find("settings-library", ["variable", "display_did_reconfigure", None])

    def test_without_symbols(self):
        self.find("settings-stripped", ["variable", None, None])


if __name__ == "__main__":
    reconfigure.run()
