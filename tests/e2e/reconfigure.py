#!/usr/bin/env python3
"""From a spinning main thread to the process that did not send its answer: examples/reconfigure, recorded with the flag watched.

reconfigure.py ARGUS FOLDER: with the built examples. If the flag is not watched, the program's code tells which function sets it, and
which thread runs that function: a guess, with the command that watches the flag. If it is watched, the missing write leads to the listener thread, which sets it, and on to displayd, which received the request
and did not answer. Needs root; exits 77 (skipped) where the kernel or the user cannot record.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import load_retry
import machine

ARGUS, FOLDER = "", pathlib.Path()
GIVES_UP_S = 30


def argus(*arguments):
    return subprocess.run([ARGUS, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=120).stdout


class Programs:
    """displayd and a settings program, and clicks on it."""

    def __init__(self, variant, environment=None):
        self.environment = environment
        self.folder = tempfile.TemporaryDirectory(prefix="argus-reconfigure-")
        self.display = self.start("displayd")
        while not os.path.exists(self.folder.name + "/display"):
            time.sleep(0.01)
        self.settings = self.start(variant)
        while not os.path.exists(self.folder.name + "/settings"):
            time.sleep(0.01)

    def start(self, name):
        return subprocess.Popen([FOLDER / name, self.folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                env=self.environment)

    def click(self, display):
        self.settings.stdin.write(display + "\n")
        self.settings.stdin.flush()
        return self.settings.stdout.readline().strip()

    def end(self):
        for process in (self.settings, self.display):
            process.stdin.close()
            process.wait(timeout=GIVES_UP_S)
            process.stdout.close()
        self.folder.cleanup()


def variable_address(program, name):
    """The offset of the variable in the file, from the same program with symbols."""
    table = subprocess.run(["nm", FOLDER / program], check=True, capture_output=True, text=True).stdout
    return "0x" + next(line.split()[0] for line in table.splitlines() if line.endswith(f" {name}")).lstrip("0")


def diagnose(variant, *flag, environment=None):
    """Diagnoses one freeze after three clicks that succeeded."""
    programs = Programs(variant, environment)
    with tempfile.TemporaryDirectory(prefix="argus-reconfigure-") as folder:
        trace = os.path.join(folder, "reconfigure.argus")
        argus("start", "--ring-size", "256M", "--no-probes")
        try:
            if flag:
                argus("watchflag", programs.settings.pid, *flag)
            done = [programs.click(f"display{i}") for i in range(3)] + [programs.click("mirror")]
        finally:
            argus("stop", "-o", trace)
            programs.end()
        assert done == ["done"] * 3 + ["gave up"], done
        return json.loads(argus("diagnose", trace, "--process", variant[:15], "--threshold", "1s", "--auto", "--json"))


class Silent(unittest.TestCase):
    def check_silent(self, answer, variant):
        self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
        self.assertEqual([step["process"] for step in answer["path"]][-1], "displayd")
        self.assertIn((variant[:15], "listener"), [(step["process"], step["thread"]) for step in answer["path"]])
        culprit = answer["root_causes"][0]
        self.assertEqual(culprit["process"], "displayd")
        self.assertIn("without an answer", culprit["why"])


class Reconfigure(Silent):
    def check_guess(self, answer, variant):
        self.check_silent(answer, variant)
        self.assertTrue(answer["guessed"])
        self.assertIn("argus watchflag", " ".join(answer["uncertain"]))
        variable, = answer["root_causes"][0]["code_loop"]["variables"]
        self.assertEqual([(writer["value"], writer["possible"]) for writer in variable["writers"]], [(1, False)])
        self.assertEqual(len(variable["writer_tids"]), 1)

    def test_a_loop_without_its_flag(self):
        for variant in ["settings", "settings-heap", "settings-library", "settings-stripped"]:
            with self.subTest(variant):
                self.check_guess(diagnose(variant), variant)

    def test_a_flag_of_the_program(self):
        self.check_silent(diagnose("settings", "settings", "did_reconfigure"), "settings")

    def test_a_flag_in_a_library(self):
        self.check_silent(diagnose("settings-library", "libreconfigure-display", "display_did_reconfigure"),
                          "settings-library")

    def test_a_program_without_symbols(self):
        address = variable_address("settings", "did_reconfigure")
        self.check_silent(diagnose("settings-stripped", "settings-stripped", address), "settings-stripped")


    def test_a_flag_behind_a_pointer(self):
        self.check_silent(diagnose("settings-heap", "settings-heap", "display->0x28"), "settings-heap")


def run(more_to_need=()):
    """Takes the arguments and runs the tests of the main program; skips where nothing can be recorded."""
    global ARGUS, FOLDER
    ARGUS, FOLDER = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    missing = [program for program in more_to_need if not shutil.which(program)]
    reason = machine.reason_to_skip_beside_others() or ", ".join(missing)
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    machine.enter_namespace()
    load_retry.run_unittests([sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    run()
