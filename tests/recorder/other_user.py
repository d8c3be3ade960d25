#!/usr/bin/env python3
"""The error messages for a user who wants to inspect, watch or step a process of root. See recorder_harness.py."""
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import unittest

from recorder_harness import ARGUS, Live, argus, main

USER = 12345


def as_user(*words):
    """Runs argus as a user without any rights; sudo cannot ask for a password there."""
    return subprocess.run([ARGUS, *words], capture_output=True, text=True, timeout=60, user=USER, group=USER, extra_groups=[],
                          stdin=subprocess.DEVNULL, cwd="/", env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


class OtherUser(Live):
    def setUp(self):
        super().setUp()
        if subprocess.run(["test", "-x", ARGUS], user=USER, group=USER, extra_groups=[], check=False).returncode:
            raise unittest.SkipTest("another user cannot run argus from this folder")
        self.sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(self.sleeper.wait)
        self.addCleanup(self.sleeper.kill)

    def belongs_to_root(self, action):
        return (f"cannot {action} process {self.sleeper.pid} (sleep): it belongs to root, and this is user {USER}; "
                "run argus with sudo")

    def test_watching_a_variable(self):
        done = as_user("watchflag", str(self.sleeper.pid), "sleep", "stdout")
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.belongs_to_root("look into"), done.stderr)

    def test_watching_an_address_in_the_recording_of_root(self):
        self.assertEqual(argus("start", *self.backend, "--ring-size", "16M").returncode, 0)
        done = as_user("watchflag", str(self.sleeper.pid), "0x1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the recorder serves only root and uid 0, who started it; run argus with sudo", done.stderr)

    def test_stepping(self):
        pid = str(self.sleeper.pid)
        done = as_user("step", "--process", pid, "--thread", pid, "-o", f"/tmp/argus-other-user-{os.getpid()}.steps")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, f"cannot step process {pid} .sleep.: it belongs to root|ptrace_scope is|sudo cannot be started")
        done = as_user("step", "--process", pid, "--function", "sleep:main")
        self.assertEqual(done.returncode, 1)
        self.assertIn(self.belongs_to_root("look into"), done.stderr)

    def step_as(self, program, **environment):
        """Steps the sleeper. argus is root, so the pipe of the request is root's."""
        pid = str(self.sleeper.pid)
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.run([program, "step", "--process", pid, "--thread", pid, "--for", "1s", "-o", f"{folder}/steps"],
                                  capture_output=True, text=True, timeout=120, env={**os.environ, **environment}, check=False).stderr

    def test_stepping_by_a_sudo_that_keeps_the_input(self):
        """With log_input in sudoers(5), sudo makes the pipe from which argus-recorder reads."""
        with tempfile.TemporaryDirectory() as folder:
            program, recorder = pathlib.Path(folder, "argus"), pathlib.Path(folder, "argus-recorder")
            shutil.copy(ARGUS, program)
            recorder.write_text(f"#!/bin/sh\nSUDO_UID={USER} exec {shlex.quote(ARGUS + '-recorder')} \"$@\"\n", encoding="utf-8")
            recorder.chmod(0o755)
            self.assertIn(self.belongs_to_root("step"), self.step_as(program))

    def test_stepping_by_sudo_argus(self):
        self.assertNotIn("belongs to", self.step_as(ARGUS, SUDO_UID=str(USER)))

    def test_a_process_that_there_is_not(self):
        done = argus("step", "--process", "4194304", "--function", "sleep:main")
        self.assertIn("there is no process 4194304", done.stderr)

    def test_recording(self):
        done = as_user("start")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "needs root, and sudo (did not start|cannot be started)|needs root: without a terminal neither sudo nor polkit")


if __name__ == "__main__":
    main()
