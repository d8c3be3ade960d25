#!/usr/bin/env python3
"""A file system that takes nothing any more must not hold the recorder: requests are answered, a recording can be ended, and nothing
stays attached. See recorder_harness.py."""
import os
import pathlib
import signal
import subprocess
import sys
import time

from on_hang import LOOP
from recorder_harness import ARGUS, Live, Trace, alive, argus, eventually, link_exists, main, status

LOAD = "import os, time\nwhile True:\n  for i in range(200): os.getppid()\n  time.sleep(0.002)"
# a program whose code lies in a file that nobody has read yet
MAPPED = """import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.write(file, bytes(8192)), os.fsync(file), os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
code = mmap.mmap(file, 8192, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
print("mapped", flush=True), sys.stdin.read()"""
SERVER = pathlib.Path(__file__).resolve().parent / "programs/stuck_files.py"


class Stuck(Live):
    def mount(self, *operations):
        if not pathlib.Path("/dev/fuse").exists():
            self.skipTest("no /dev/fuse")
        mount, self.switch = self.folder / "mount", self.folder / "stuck"
        mount.mkdir()
        server = subprocess.Popen([sys.executable, "-B", SERVER, mount, self.switch, *operations], stdout=subprocess.PIPE, text=True)
        self.addCleanup(lambda: self.unmount(mount, server))
        self.assertEqual(server.stdout.readline(), "serves\n")
        self.path = mount / "t.argus"
        load = subprocess.Popen([sys.executable, "-c", LOAD])
        self.addCleanup(lambda: (load.kill(), load.wait()))

    def unmount(self, mount, server):
        self.switch.unlink(missing_ok=True)
        argus("stop")
        subprocess.run(["umount", "-l", mount], check=False)
        server.kill()
        server.wait()
        server.stdout.close()

    def start_and_get_stuck(self):
        """The recorder's process, while its file system has taken nothing for a second."""
        self.assertEqual(argus("start", *self.backend, "-o", str(self.path), "--ring-size", "64M").returncode, 0)
        pid = self.recorder()
        self.switch.touch()
        self.assertTrue(eventually(lambda: status()["file_waiting_ns"] > 1.2e9, 15))
        return pid

    def assert_answers(self):
        began = time.monotonic()
        told = argus("status")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertLess(time.monotonic() - began, 2)
        return told.stdout

    def links_are_gone(self):
        return not any(link_exists(link) for link in self.links)

    def test_status_names_the_file(self):
        pid = self.start_and_get_stuck()
        self.assertRegex(self.assert_answers(), rf"the recorder \(pid {pid}\) has been writing to \S*t\.argus\S* for [1-9]\d* s")
        again = argus("start")
        self.assertEqual(again.returncode, 1)
        self.assertIn("already recording", again.stderr)

    def test_a_stop_detaches_and_is_answered(self):
        pid = self.start_and_get_stuck()
        stop = subprocess.Popen([ARGUS, "stop"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(eventually(self.links_are_gone, 5))
        _, said = stop.communicate(timeout=20)
        self.assertEqual(stop.returncode, 1)
        self.assertIn("has taken nothing for 10 s", said)
        self.assertTrue(eventually(lambda: not alive(pid)))

    def test_a_signal_detaches(self):
        pid = self.start_and_get_stuck()
        os.kill(pid, signal.SIGTERM)
        self.assertTrue(eventually(self.links_are_gone, 5))
        self.assertTrue(eventually(lambda: not alive(pid), 15))

    def test_nothing_stays_attached_after_a_kill(self):
        pid = self.start_and_get_stuck()
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: not alive(pid), 5))
        self.assertTrue(eventually(self.links_are_gone, 5))
        self.assertEqual(argus("start").returncode, 0)

    def test_a_short_stall_loses_nothing(self):
        self.mount_and_record_through_a_stall()
        done = argus("stop")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(Trace(self.path).complete)

    def mount_and_record_through_a_stall(self):
        self.start_and_get_stuck()
        self.switch.unlink()
        self.assertTrue(eventually(lambda: status()["file_waiting_ns"] < 5e8, 20))

    def test_a_snapshot_is_given_up_and_the_recording_goes_on(self):
        self.assertEqual(argus("start", *self.backend, "--ring-size", "64M").returncode, 0)
        pid = self.recorder()
        time.sleep(1)
        self.switch.touch()
        front = subprocess.Popen([ARGUS, "snapshot", "-o", str(self.path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (self.switch.unlink(missing_ok=True), front.kill(), front.communicate()))
        time.sleep(2)
        for _ in range(3):
            self.assert_answers()
        other = argus("snapshot", "-o", str(self.folder / "other.argus"))
        self.assertEqual(other.returncode, 1)
        self.assertIn("waiting for the file system", other.stderr)
        time.sleep(7)
        self.switch.unlink()
        _, said = front.communicate(timeout=20)
        self.assertEqual(front.returncode, 1, said)
        self.assertEqual(status()["recorder_pid"], pid)
        self.assertEqual(argus("snapshot", "-o", str(self.folder / "other.argus")).returncode, 0)
        self.assertTrue(Trace(self.folder / "other.argus").complete)


class StuckInWrite(Stuck):
    def setUp(self):
        super().setUp()
        self.mount("write")

    def hang(self):
        with subprocess.Popen([sys.executable, "-c", LOOP, "argusloop9", "0.9"], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "done\n")
            program.kill()

    def test_hangs_are_kept_after_a_snapshot_that_was_given_up(self):
        """The file of the first hang is finished while the recorder is busy with the snapshot."""
        self.assertEqual(argus("start", "--on-hang", "500ms", "--process", "argusloop9", "-o", str(self.folder)).returncode, 0)
        self.hang()
        self.assertTrue(eventually(lambda: list(self.folder.glob("hang-*")), 20))
        self.switch.touch()
        front = subprocess.Popen([ARGUS, "snapshot", "-o", str(self.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # the front end waits, too, when it closes its file
        self.addCleanup(lambda: (self.switch.unlink(missing_ok=True), front.kill(), front.wait()))
        time.sleep(12)  # the recorder gives up after 10
        self.switch.unlink()
        front.wait(60)
        self.hang()
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 2, 60), status())


class StuckOtherwise(Live):
    """The recorder never touches the file itself: not even closing it can hold it."""

    def test_a_start(self):
        for operation in ("getattr", "statfs", "flush"):
            with self.subTest(operation):
                stuck = StuckInWrite("test_status_names_the_file")
                Live.setUp(stuck)
                self.addCleanup(stuck.doCleanups)
                stuck.mount(operation)
                stuck.switch.touch()
                front = subprocess.Popen([ARGUS, "start", "-o", str(stuck.path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(2)
                stuck.assert_answers()
                stuck.switch.unlink()
                front.wait(timeout=20)
                argus("stop")

    def test_a_program_has_its_code_there(self):
        """The kernel would read that file to tell its build ID."""
        stuck = StuckInWrite("test_status_names_the_file")
        Live.setUp(stuck)
        self.addCleanup(stuck.doCleanups)
        stuck.mount("read")
        with subprocess.Popen([sys.executable, "-c", MAPPED, stuck.path.with_name("code")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as program:
            self.assertEqual(program.stdout.readline(), "mapped\n")
            stuck.switch.touch()
            try:
                for words in ["start"], ["status"], ["stop"]:
                    done = subprocess.run([ARGUS, *words], capture_output=True, text=True, timeout=30, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
            finally:
                stuck.switch.unlink()
                program.stdin.close()


del Stuck  # its tests run by its subclass alone

if __name__ == "__main__":
    main()
