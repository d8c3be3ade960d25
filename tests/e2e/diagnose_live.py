#!/usr/bin/env python3
"""argus diagnose --live: a process that hangs now is recorded, the variable of its loop is watched, and a write is waited for.

diagnose_live.py ARGUS LATE_FLAG. Needs root; exits 77 (skipped) where the kernel or the user cannot record.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import load_retry
import machine

ARGUS, PROGRAM = "", ""
NO_PROCESS = 2**22 + 1  # beyond the kernel's limit of process ids


class Polling:
    """The program, in its loop; `act` is done as soon as argus says that it watches."""

    def __init__(self, variant):
        self.process = subprocess.Popen([PROGRAM, variant], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "polling\n"

    def write(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)

    def end(self):
        self.process.kill()
        self.process.wait(timeout=10)
        self.process.stdin.close()
        self.process.stdout.close()


class Said:
    def __init__(self, code, answer, remarks):
        self.code, self.answer, self.remarks = code, answer, remarks


def live(folder, pid, *options, act=lambda: None, watched=""):
    trace = os.path.join(folder, "live.argus")
    command = [ARGUS, "diagnose", f"--live={pid}", "-o", trace, "--json", *options]
    remarks = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        answer = []
        reader = threading.Thread(target=lambda: answer.append(process.stdout.read()))
        reader.start()
        for line in process.stderr:
            remarks.append(line)
            if f"watching {watched}" in line:
                time.sleep(0.3)
                act()
        reader.join(timeout=120)
    return Said(process.returncode, json.loads(answer[0]) if answer[0] else None, "".join(remarks))


class Live(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-live-")
        self.addCleanup(self.folder.cleanup)

    def start(self, variant):
        program = Polling(variant)
        self.addCleanup(program.end)
        return program

    def live(self, pid, *options, **how):
        return live(self.folder.name, pid, *options, **how)

    def check_written(self, said, name):
        self.assertEqual(said.code, 0, said.remarks)
        self.assertIn(f"{name} was written", said.remarks)
        threads = [step["thread"] for step in said.answer["path"]]
        self.assertIn("worker", threads, said.answer["summary"])
        self.assertFalse(said.answer["guessed"])

    def test_a_write(self):
        program = self.start("sleep")
        began = time.monotonic()
        said = self.live(program.process.pid, "--wait=60s", act=program.write)
        self.check_written(said, "is_ready")
        self.assertLess(time.monotonic() - began, 60)  # it did not wait for the time-out

    def test_a_write_behind_a_pointer(self):
        program = self.start("twice")
        self.check_written(self.live(program.process.pid, "--wait=60s", act=program.write), "state->is_done")

    def test_a_write_that_ends_a_busy_loop(self):
        program = self.start("spin")
        self.check_written(self.live(program.process.pid, "--wait=60s", act=program.write), "is_ready")

    def test_nobody_writes(self):
        program = self.start("sleep")
        said = self.live(program.process.pid, "--wait=1s")
        self.assertEqual(said.code, 0, said.remarks)
        self.assertIn("no thread wrote the variable in 1 s", said.remarks)
        culprit = said.answer["root_causes"][0]
        self.assertEqual((culprit["pid"], culprit["type"]), (program.process.pid, "RepeatedYield"))
        self.assertIn("is_ready", culprit["why"])
        self.assertIn("no thread set meanwhile", culprit["why"])

    def test_the_process_ends(self):
        program = self.start("sleep")
        said = self.live(program.process.pid, "--wait=60s", act=program.kill)
        self.assertEqual(said.code, 0, said.remarks)
        self.assertIn(f"process {program.process.pid} ended, and no thread had written the variable", said.remarks)

    def watch_loop(self, pid):
        """By the command that a recording prints for a variable to which no name leads."""
        subprocess.run([ARGUS, "watchflag", str(pid), "--loop"], check=True, capture_output=True)
        flag, = json.loads(subprocess.run([ARGUS, "watchflag", "list", "--json"], check=True, capture_output=True).stdout)["flags"]
        self.assertRegex(flag["label"], "^job.*(is_done|is_cancelled)$")
        subprocess.run([ARGUS, "watchflag", "remove", str(flag["number"])], check=True, capture_output=True)

    def test_a_recording_that_goes_on_is_used(self):
        subprocess.run([ARGUS, "start", "--ring-size", "64M", "--no-probes"], check=True, capture_output=True)
        try:
            program = self.start("stack")
            self.watch_loop(program.process.pid)
            said = self.live(program.process.pid, "--wait=60s", act=program.write, watched="job.is_cancelled")
            self.assertEqual(said.code, 0, said.remarks)
            self.assertIn("job.is_cancelled was written", said.remarks)
            self.assertNotIn("is_done was written", said.remarks)
            self.assertIn(f"stepping some turns of the loop of thread {program.process.pid} of process {program.process.pid}\n", said.remarks)
            listed = subprocess.run([ARGUS, "watchflag", "list", "--json"], check=True, capture_output=True, text=True)
            self.assertEqual(json.loads(listed.stdout)["flags"], [])
        finally:
            subprocess.run([ARGUS, "stop"], check=True, capture_output=True)

    def test_a_process_without_a_loop(self):
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            said = self.live(sleeper.pid, "--wait=30s")
            sleeper.kill()
        self.assertIn(f"no variable to watch: process {sleeper.pid} does not poll", said.remarks)


class Refused(unittest.TestCase):
    """What is refused before anything is recorded."""

    def refused(self, *options, **how):
        done = subprocess.run([ARGUS, "diagnose", *options], capture_output=True, text=True, check=False, **how)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def test_no_process(self):
        code, said = self.refused(f"--live={NO_PROCESS}")
        self.assertEqual(code, 1)
        self.assertIn(f"--live: there is no process {NO_PROCESS}", said)

    def test_another_users_process(self):
        try:
            code, said = self.refused("--live=1", user=65534, cwd="/")
        except PermissionError:
            self.skipTest("another user cannot run this argus")
        self.assertEqual(code, 1)
        self.assertIn("belongs to another user", said)

    def test_no_recording_for_a_loop(self):
        done = subprocess.run([ARGUS, "watchflag", str(NO_PROCESS), "--loop"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("argus start", done.stderr)  # and no word of the process, which was not touched

    def test_contradictions(self):
        for options, text in [(("--live=1", "x.argus"), "leave out 'x.argus'"), (("--live=1", "--pid=2"), "--live and --pid"),
                              (("--wait=3s", "x.argus"), "--wait and --output go with --live")]:
            code, said = self.refused(*options)
            self.assertEqual(code, 2, said)
            self.assertIn(text, said)


if __name__ == "__main__":
    ARGUS, PROGRAM = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    machine.enter_namespace_or_skip()
    load_retry.run_unittests([sys.argv[0], *sys.argv[3:]])
