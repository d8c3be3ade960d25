#!/usr/bin/env python3
"""What remains after a bad end: killed recorders, full disks, files that vanish, programs that die, other users.
See recorder_harness.py."""
import fcntl
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import time

from recorder_harness import ARGUS, SWITCH, Live, Trace, argus, eventually, exists, held, link_exists, main, status

PROG_GET_FD_BY_ID = 13
LOAD = "import os, time\nwhile True:\n  for i in range(200): os.getppid()\n  time.sleep(0.002)"


def programs_of(pid):
    return held(pid, "prog")


def program_exists(program):
    return exists(program, PROG_GET_FD_BY_ID)


class Killed(Live):
    """The recorder is killed at a random moment, repeatedly."""

    rounds = 3

    def kill_later(self, at_least=0.0):
        """Returns the moment at which it was killed, in ns of the trace's clock."""
        pid = self.recorder()
        programs = programs_of(pid)
        self.assertGreater(len(programs), 10)
        load = subprocess.Popen([sys.executable, "-c", LOAD])
        try:
            time.sleep(at_least + random.uniform(0, 1.5))
            os.kill(pid, signal.SIGKILL)
            died_ns = time.monotonic_ns()
        finally:
            load.kill()
            load.wait()
        self.assertTrue(eventually(lambda: not any(program_exists(program) for program in programs)))
        self.assert_detached()
        return died_ns

    def check_cut_off(self, died_ns):
        """At most the records of one second are missing, and reading reports the missing end."""
        trace = Trace(self.path)
        self.assertFalse(trace.complete)
        self.assertTrue(trace.of(SWITCH))
        self.assertLess(died_ns - trace.records[-1][0], 1.5e9)
        self.assertIn("cut off", argus("info", str(self.path)).stdout)
        self.assertIn(argus("verify", str(self.path)).returncode, (0, 4))
        self.assertIn(argus("hangs", str(self.path)).returncode, (0, 4))

    def test_a_stream(self):
        """The recorder's end of the socket closes before or after the program ends: its BPF programs close slowly."""
        for seconds in ("3", "3", "8"):
            front = subprocess.Popen([ARGUS, "record", "-o", str(self.path), "--", "sleep", seconds],
                                     stderr=subprocess.PIPE, text=True)
            died_ns = self.kill_later(1.2)
            _, said = front.communicate(timeout=20)
            self.assertEqual(front.returncode, 1)
            self.assertIn("has ended", said)
            self.check_cut_off(died_ns)

    def test_a_ring_file(self):
        for _ in range(self.rounds):
            self.assertEqual(argus("start", "-o", str(self.path), "--ring-size", "1M", "--buffer", "16M").returncode, 0)
            self.check_cut_off(self.kill_later(1.2))

    def test_the_ring_in_memory(self):
        for _ in range(self.rounds):
            self.assertEqual(argus("start", "--ring-size", "16M").returncode, 0)
            self.kill_later()
        self.assertEqual(argus("start", "--ring-size", "16M").returncode, 0)


class Inherited(Live):
    def test_a_lock_of_the_caller_is_not_kept(self):
        lock, again = (open(self.folder / "lock", "w", encoding="ascii") for _ in range(2))
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.assertEqual(argus("start", "--ring-size", "16M", pass_fds=[lock.fileno()]).returncode, 0)
        lock.close()
        with again:
            fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Disk(Live):
    def small_disk(self, size):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.folder], check=False)
        if mounted.returncode:
            self.skipTest("cannot mount a small tmpfs")
        self.addCleanup(lambda: subprocess.run(["umount", "-l", self.folder], check=True))

    def test_a_stream_is_readable_up_to_the_full_disk(self):
        self.small_disk("600k")
        done = argus("record", "-o", str(self.path), "--", "timeout", "6", sys.executable, "-c", LOAD)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("No space left", done.stderr)
        trace = Trace(self.path)
        self.assertGreater(len(trace.records), 1000)
        self.assertIn("cut off", argus("info", str(self.path)).stdout)
        self.assert_detached()

    def test_a_ring_file_that_failed_says_so_until_it_is_stopped(self):
        self.small_disk("1200k")
        self.assertEqual(argus("start", "-o", str(self.path), "--ring-size", "8M").returncode, 0)
        self.recorder()
        self.assertTrue(eventually(lambda: self.load() or not status()["recording"], 40))
        told = status()
        self.assertTrue([n for n in told["notes"] if "No space left" in n], told)
        self.assertTrue(eventually(lambda: not self.links_left()), self.links_left())
        self.assertIn("has ended", argus("status").stdout)
        again = argus("start")
        self.assertEqual(again.returncode, 1)
        self.assertIn("No space left", again.stderr)
        done = argus("stop")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        self.assertTrue(Trace(self.path).records)
        self.assert_detached()

    def links_left(self):
        return [link for link in self.links if link_exists(link)]

    @staticmethod
    def load():
        subprocess.run(["ls", "-R", "/usr"], stdout=subprocess.DEVNULL, check=True)

    def test_a_folder_that_vanishes(self):
        folder = self.folder / "inner"
        folder.mkdir()
        path = folder / "t.argus"
        front = subprocess.Popen([ARGUS, "record", "-o", str(path), "--", "sleep", "2"], stderr=subprocess.PIPE, text=True)
        self.recorder()
        self.assertTrue(eventually(path.exists))
        path.unlink()
        folder.rmdir()
        _, said = front.communicate(timeout=20)
        self.assertEqual(front.returncode, 1)
        self.assertIn("was removed", said)
        self.assert_detached()


class Programs(Live):
    def test_programs_that_are_killed_while_they_are_traced(self):
        trace, pids = self.record("""
import os, signal, time
for i in range(60):
    child = os.fork()
    if child == 0:
        while True: os.getppid()
    time.sleep(0.002 * (i % 5))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(child)""")
        ended = {r[1] for r in trace.of(0x0700000C)}
        self.assertEqual({int(pid) for pid in pids} - ended, set())
        self.assertEqual(trace.counters["lost"], 0)


class Hotplug(Live):
    """Only on a machine that is used for tests alone: ARGUS_TEST_HOTPLUG=1."""

    def setUp(self):
        super().setUp()
        self.switch = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
        if "ARGUS_TEST_HOTPLUG" not in os.environ or not self.switch.exists():
            self.skipTest("ARGUS_TEST_HOTPLUG is not set, or the second cpu cannot be switched off")
        self.addCleanup(self.switch.write_text, "1")

    def test_a_cpu_that_comes_back_is_sampled_again(self):
        self.assertEqual(argus("start", "--ring-size", "64M").returncode, 0)
        self.switch.write_text("0")
        time.sleep(1.5)
        self.switch.write_text("1")
        self.assertTrue(eventually(lambda: "cpu 1 came online while recording" in status()["notes"]))
        came_ns = time.monotonic_ns()
        subprocess.run(["taskset", "-c", "1", sys.executable, "-c", "for i in range(10 ** 7): pass"], check=True)
        self.assertEqual(argus("stop", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        self.assertTrue([r for r in trace.of(0x60000008) if r[3] == 1 and r[0] > came_ns])
        self.assertTrue([r for r in trace.of(SWITCH) if r[3] == 1 and r[0] > came_ns])


class OtherUsers(Live):
    """A user who does not own the recording. /run/argus/recorder.socket is open to all; the recorder checks its clients."""

    def as_other(self, *arguments):
        return subprocess.run([ARGUS, *arguments], capture_output=True, text=True, timeout=60, user=54321, group=54321,
                              extra_groups=[], cwd="/", check=False)

    def test_they_cannot_stop_it_or_look_into_it(self):
        if self.as_other("--version").returncode:
            self.skipTest("another user cannot run argus here")
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)
        os.chmod(self.folder, 0o777)
        for arguments in (["stop"], ["snapshot", "-o", str(self.path)], ["status"]):
            done = self.as_other(*arguments)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("serves only root and uid 0", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertTrue(status()["recording"])

    def test_they_cannot_keep_others_out(self):
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)
        ready = os.pipe()
        hog = os.fork()
        if hog == 0:
            os.setgroups([])
            os.setresgid(54321, 54321, 54321)
            os.setresuid(54321, 54321, 54321)
            held = []
            for _ in range(50):
                held.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                held[-1].setblocking(False)
                held[-1].connect_ex("/run/argus/recorder.socket")
                time.sleep(0.01)
            os.write(ready[1], b"x")
            time.sleep(60)
            os._exit(0)
        self.addCleanup(os.waitpid, hog, 0)
        self.addCleanup(os.kill, hog, signal.SIGKILL)
        os.read(ready[0], 1)
        self.assertTrue(status()["recording"])
        self.assertEqual(argus("stop").returncode, 0)


if __name__ == "__main__":
    main()
