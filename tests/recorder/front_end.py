#!/usr/bin/env python3
"""The commands around a recording: the path of the trace, and reports of what was not recorded. See recorder_harness.py."""
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys

from recorder_harness import ARGUS, Live, argus, main, status

SLEEPER = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"argussleeper", 0, 0, 0)
print("named", flush=True)
while True: time.sleep(0.01)
"""


class DefaultFile(Live):
    def record(self, *words):
        return argus("record", *words, "--", "true", cwd=self.folder)

    def test_the_trace_before_is_kept(self):
        self.assertEqual(self.record().returncode, 0)
        first = (self.folder / "argus.argus").read_bytes()
        done = self.record()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the earlier trace argus.argus was renamed to argus.argus.old", done.stderr)
        self.assertEqual((self.folder / "argus.argus.old").read_bytes(), first)
        self.assertNotEqual((self.folder / "argus.argus").read_bytes(), first)
        done = argus("info", "--json", cwd=self.folder)
        self.assertIn("using argus.argus (the only trace here", done.stderr)
        self.assertEqual(json.loads(done.stdout)["lost"], 0)

    def test_a_named_file_is_replaced(self):
        self.assertEqual(self.record("-o", "x.argus").returncode, 0)
        self.assertEqual(self.record("-o", "x.argus").returncode, 0)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.argus"])

    def test_a_program_that_there_is_not_moves_nothing(self):
        (self.folder / "argus.argus").write_text("precious")
        self.assertEqual(argus("record", "--", "/no/such/program", cwd=self.folder).returncode, 1)
        self.assertEqual([(path.name, path.read_text()) for path in self.folder.iterdir()], [("argus.argus", "precious")])


class Snapshot(Live):
    def test_without_a_file(self):
        self.assertEqual(argus("start", *self.backend, "--ring-size", "16M").returncode, 0)
        self.assertEqual(argus("snapshot", cwd=self.folder).returncode, 0)
        done = argus("snapshot", cwd=self.folder)
        self.assertIn("the earlier trace argus.argus was renamed to argus.argus.old", done.stderr)
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"argus.argus", "argus.argus.old"})
        self.assertIn("nothing was written (argus stop -o FILE keeps what is in the ring)", argus("stop").stderr)


class OtherVersion(Live):
    """A recorder of another version: it runs while its package is upgraded."""

    SOCKET = pathlib.Path("/run/argus/recorder.socket")
    VERSION = 4711

    def answer(self, size):
        """Answers `argus stop`, which asks several times, with replies of this size; returns its output."""
        reply = struct.pack("<IHH", 0x51475241, self.VERSION, 0).ljust(size, b"\0")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(str(self.SOCKET))
            self.addCleanup(self.SOCKET.unlink, missing_ok=True)
            listening.listen()
            client = subprocess.Popen([ARGUS, "stop"], stderr=subprocess.PIPE, text=True)
            self.addCleanup(client.kill)
            with listening.accept()[0] as connection:
                while connection.recv(4096):
                    connection.send(reply)
            text = client.communicate(timeout=60)[1]
        self.SOCKET.unlink()
        return text

    def test_its_process_is_named(self):
        self.SOCKET.parent.mkdir(exist_ok=True)
        size = int(re.search(r"a reply must have (\d+) bytes", self.answer(8)).group(1))
        self.assertEqual(self.answer(size), f"argus: the running recorder, process {os.getpid()}, is from another version of argus: "
                         f"'sudo kill {os.getpid()}' ends it; records that are only in memory are lost\n")


class NothingRecorded(Live):
    def test_stop_after_a_start_that_failed(self):
        self.assertEqual(argus("start", "--ring-size", "1").returncode, 2)
        done = argus("stop")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^argus: (nothing is being recorded|no recorder is running): argus start")
        self.assertEqual(done.stderr.count("\n"), 1)


class UnknownUnwindName(Live):
    """A name that no thread has is reported, and an existing name is not."""

    MISSED = "--unwind argussleepr: no process or thread of this name was seen, so no stacks of it were copied; names like it: argussleeper"

    def sleeper(self):
        program = subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "named\n")

    def test_record(self):
        self.sleeper()
        done = argus("record", "-o", str(self.path), *self.backend, "--unwind", "argussleepr", "--unwind", "argussleeper",
                     "--unwind", "sleep", "--", "sleep", "0.3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line for line in done.stderr.splitlines() if "--unwind" in line], ["argus: warning: " + self.MISSED])

    def test_status_and_stop(self):
        done = argus("start", *self.backend, "--unwind", "argussleepr", "--ring-size", "16M")
        self.assertNotIn("argussleepr", done.stderr)
        self.sleeper()
        self.assertIn(self.MISSED, status()["notes"])
        self.assertIn("note       " + self.MISSED, argus("status").stdout)
        self.assertIn("warning: " + self.MISSED, argus("snapshot", "-o", str(self.path)).stderr)
        done = argus("stop")
        self.assertIn("warning: " + self.MISSED, done.stderr)

    def test_a_process_that_comes_later(self):
        argus("start", *self.backend, "--unwind", "argussleeper", "--ring-size", "16M")
        self.assertTrue(any("argussleeper" in note for note in status()["notes"]))
        self.sleeper()
        self.assertFalse(any("argussleeper" in note for note in status()["notes"]))


if __name__ == "__main__":
    main()
