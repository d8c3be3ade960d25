#!/usr/bin/env python3
"""argus start --on-hang on the real system: which hangs are kept, and which waits are not hangs. See recorder_harness.py."""
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

from recorder_harness import Live, argus, decode, eventually, main, status

FINISHED_S = 240  # of waiting for files; a busy machine takes half a minute for each

# An event loop that hangs for the given times, and is idle before, between and after.
LOOP = """
import ctypes, os, select, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
ends = os.pipe()
poll = select.poll()
poll.register(ends[0], select.POLLIN)
def idle(times):
    for i in range(times): poll.poll(50)
idle(10)
for hang in sys.argv[2:]:
    time.sleep(float(hang))
    idle(10)
print("done")
poll.poll()
"""


# An event loop that runs a command, polls for its end, and runs its loop in between.
CHILD = """
import ctypes, os, select, subprocess, sys
ctypes.CDLL(None).prctl(15, b"argusasks", 0, 0, 0)
ends = os.pipe()
poll = select.poll()
poll.register(ends[0], select.POLLIN)
for i in range(10): poll.poll(50)
child = subprocess.Popen(["sleep", "1.2"])
while os.waitpid(child.pid, os.WNOHANG) == (0, 0): poll.poll(10)
for i in range(30): poll.poll(50)
print("done")
poll.poll()
"""


# An event loop that looks for input without waiting, at a stack depth less than that of its wait, and leaves it unread.
LOOKS = """
import ctypes, os, select, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
unread, ends = os.pipe(), os.pipe()
os.write(unread[1], b"x")
look, wait = select.poll(), select.poll()
look.register(unread[0], select.POLLIN)
wait.register(ends[0], select.POLLIN)
for ms in [50] * 10 + [2500]:
    look.poll(0)
    sorted([ms], key=wait.poll)
print("done")
wait.poll()
"""


# A loop that only looks for input, and leaves it unread. Its handler asks a server, which answers twenty times and is silent then.
ONLY_LOOKS = """
import ctypes, os, select, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
unread, server, silent = os.pipe(), os.pipe(), os.pipe()
os.write(unread[1], b"x")
os.write(server[1], b"x")
look, answer, nothing = select.poll(), select.poll(), select.poll()
look.register(unread[0], select.POLLIN)
answer.register(server[0], select.POLLIN)
nothing.register(silent[0], select.POLLIN)
def turn(times=1):
    for i in range(times):
        look.poll(0)
        time.sleep(0.02)
turn(30)
for i in range(20):
    sorted([2000], key=answer.poll)
    turn()
sorted([900], key=nothing.poll)
turn(50)
print("done")
turn(1000)
"""


# An event loop that becomes the least urgent program of one CPU, and prints how late it comes when it is woken.
STARVES = """
import ctypes, os, select, sys, time
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
poll = select.poll()
poll.register(0, select.POLLIN)
for i in range(10): poll.poll(50)
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
print(min(os.sched_getaffinity(0)), flush=True)
while True:
    poll.poll()
    woken_s = float(os.read(0, 100))
    print(time.monotonic() - woken_s, flush=True)
"""


class HangLoops(Live):
    """Looks for hangs of 500 ms, and starts programs that hang."""

    def start(self, *options, ring="128M", **environment):
        done = argus("start", "--on-hang", "500ms", "-o", str(self.folder), "--ring-size", ring, *options,
                     env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return int(re.search(r"pid (\d+) keeps a snapshot", done.stdout)[1])

    def loop(self, name, *hangs, code=LOOP):
        program = subprocess.Popen([sys.executable, "-c", code, name, *map(str, hangs)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        return program

    def kept(self):
        """The durations of the kept hangs in seconds, the earliest first."""
        rows = json.loads(argus("hangs", "--json", str(self.folder)).stdout)["hangs"]
        return [row["duration_ns"] / 1e9 for row in reversed(rows) if row["file"].startswith("hang-")]

    def files(self):
        return sorted(self.folder.glob("hang-*.argus"))

    def assert_lengths(self, lengths):
        """Compares the durations of the kept hangs, in the order of the files; a busy machine makes them longer."""
        kept = self.kept()
        self.assertEqual(len(kept), len(lengths), kept)
        for length, wanted in zip(kept, lengths):
            self.assertAlmostEqual(length, wanted, delta=0.35)


class OnHang(HangLoops):
    def test_loop_run_while_a_child_is_waited_for(self):
        self.start("--process", "argusasks")
        looks = self.loop("argusasks", code=ONLY_LOOKS)
        self.assertEqual(looks.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S), status())
        program = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 2, FINISHED_S), status())
        self.assertEqual(argus("stop").returncode, 0)
        self.assert_lengths([0.9, 1.1])

    def test_a_loop_that_is_woken_and_gets_no_cpu(self):
        """How late the loop comes is up to the kernel, so it is woken until it is late enough. Then nothing keeps it from the CPU."""
        self.start("--process", "argusloop9", ring="512M")
        program = subprocess.Popen([sys.executable, "-c", STARVES, "argusloop9"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        cpu = program.stdout.readline().strip()
        busy = [subprocess.Popen(["taskset", "-c", cpu, "timeout", "60", sys.executable, "-c", "while True: pass"]) for _ in range(4)]
        for _ in range(20):
            time.sleep(0.6)
            woken_s = time.monotonic()
            program.stdin.write(f"{woken_s}")
            program.stdin.flush()
            written_s = time.monotonic()
            if not select.select([program.stdout], [], [], 1)[0]:
                break
            program.stdout.readline()
        else:
            self.fail("the loop never was late")
        for one in busy:
            one.terminate()
            one.wait()
        late_s = float(program.stdout.readline())
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] >= 1, FINISHED_S), status())
        self.assertEqual(argus("stop").returncode, 0)
        answers = [argus("diagnose", "--json", "--auto", str(file)) for file in self.files()]
        self.assertEqual([answer.stderr for answer in answers if answer.returncode], [])
        files = [json.loads(answer.stdout) for answer in answers]
        found = min(files, key=lambda found: abs(found["hang"]["start_ns"] / 1e9 - woken_s))
        self.assertEqual(found["hang"]["tid"], program.pid)
        start_s = found["hang"]["start_ns"] / 1e9
        self.assertLess(start_s, written_s + 0.05)
        self.assertGreater(start_s + found["hang"]["duration_ns"] / 1e9, woken_s + late_s - 0.1)
        self.assertIn("cpu", found["summary"].lower())

    def test_each_hang_is_kept_once(self):
        watcher = self.start("--process", "argusloop1")
        program = self.loop("argusloop1", 0.9, 0.1, 0.8)
        other = self.loop("argusloop2", 0.9)
        self.assertEqual(program.stdout.readline(), "done\n")
        self.assertEqual(other.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 2, FINISHED_S), status())
        self.assertEqual(status()["hangs"], {"threshold_ms": 500, "seen": 2, "files": 2, "watcher_pid": watcher})
        self.assertIn("2 seen, 2 files written", argus("status").stdout)
        self.assertEqual(argus("stop").returncode, 0)
        self.assertTrue(eventually(lambda: not os.path.exists(f"/proc/{watcher}")))
        files = self.files()
        self.assertEqual(len(files), 2)
        for file in files:
            self.assertRegex(file.name, rf"^hang-argusloop1-{program.pid}-\d{{8}}T\d{{6}}(-\d+)?\.argus$")
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        found = json.loads(argus("hangs", "--json", "--threshold", "500ms", "--process", "argusloop1", str(files[1])).stdout)
        lengths = sorted(h["duration_ns"] / 1e9 for h in found["hangs"])
        self.assertEqual(len(lengths), 2, found)
        self.assertAlmostEqual(lengths[0], 0.8, delta=0.1)
        self.assertAlmostEqual(lengths[1], 0.9, delta=0.1)

    def test_names_in_the_files(self):
        for options in [], ["--no-symbols"]:
            self.start("--process", "argusloop6", *options)
            program = self.loop("argusloop6", 0.9)
            self.assertEqual(program.stdout.readline(), "done\n")
            self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S), status())
            self.assertEqual(argus("stop").returncode, 0)
            file, = self.files()
            lines = decode.decode(file.read_bytes())
            self.assertEqual(any(line.startswith("name ") for line in lines), not options)
            file.unlink()

    def test_a_hang_that_lasts_is_kept_after_ten_seconds(self):
        self.start("--process", "argusloop3")
        self.loop("argusloop3", 60)
        self.assertTrue(eventually(lambda: status()["hangs"]["seen"] == 1, FINISHED_S))
        self.assertEqual(self.files(), [])
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S))

    def test_stop_waits_for_the_file_of_a_hang(self):
        self.start("--process", "argusloop1")
        program = self.loop("argusloop1", 1.2)
        self.assertTrue(eventually(lambda: status()["hangs"]["seen"] == 1, FINISHED_S), status())
        done = argus("stop")
        self.assertIn("a hang is not in its file yet: waiting for it", done.stderr)
        self.assertIn("hangs: 1 seen, 1 kept as files", done.stderr)
        self.assertEqual(len(self.files()), 1)
        self.assertEqual(program.stdout.readline(), "done\n")

    def test_idle_and_stopped_are_no_hangs(self):
        self.start("--process", "argusloop4")
        program, looks = self.loop("argusloop4", 0.3), self.loop("argusloop4", code=LOOKS)
        time.sleep(0.2)
        for _ in range(3):
            os.kill(program.pid, signal.SIGSTOP)
            time.sleep(1)
            os.kill(program.pid, signal.SIGCONT)
            time.sleep(0.3)
        self.assertEqual(program.stdout.readline(), "done\n")
        self.assertEqual(looks.stdout.readline(), "done\n")
        time.sleep(1.5)
        self.assertEqual(status()["hangs"]["seen"], 0)

    def test_of_each_kind_the_longest_and_the_newest_stay(self):
        self.start("--process", "argusloop5", "--max-files", "2")
        self.loop("argusloop5", 0.8, 2.5, 0.8, 1.5).stdout.readline()
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 4, FINISHED_S), status())
        self.assert_lengths([2.5, 1.5])

    def test_a_program_that_freezes_all_the_time_is_kept_seldom(self):
        """Files of the same hang would only replace each other, but a longer hang is still kept."""
        self.start("--max-files", "1", "--process", "argusloop5")
        self.loop("argusloop5", 2, *[0.8] * 3).stdout.readline()
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 4, FINISHED_S), status())
        self.loop("argusloop5", 0.9).stdout.readline()
        self.assertTrue(eventually(lambda: any("freezes in the same place again and again" in note for note in status()["notes"]), 10), status())
        self.loop("argusloop5", 3.5).stdout.readline()
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 5, FINISHED_S), status())
        self.assert_lengths([3.5])

    def test_a_restart_knows_the_files_of_before(self):
        for hang in 2, 0.8, 0.9:
            self.start("--process", "argusloop5", "--max-files", "2")
            self.loop("argusloop5", hang).stdout.readline()
            self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S), status())
            self.assertEqual(argus("stop").returncode, 0)
        self.assert_lengths([2, 0.9])
        own = self.folder / "mine.argus"
        longest = json.loads(argus("hangs", "--json", "--threshold=1500ms", str(self.folder)).stdout)["hangs"][0]["file"]
        os.rename(self.folder / longest, own)
        self.start("--process", "argusloop5", "--max-files", "1")
        self.loop("argusloop5", 1.4).stdout.readline()
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S), status())
        self.assert_lengths([1.4])
        self.assertTrue(own.exists())  # a file that a person renamed is kept

    def test_hangs_while_a_snapshot_is_written(self):
        """Writing a full ring of 1 GB takes seconds; three hangs begin and end meanwhile."""
        self.start("--process", "argusloop7", ring="1G")
        for _ in range(2):  # enough records to fill the rings of both CPUs
            copies = [subprocess.Popen(["timeout", "6", "dd", "if=/dev/zero", "of=/dev/null", "bs=1"], stderr=subprocess.DEVNULL)
                      for _ in range(2)]
            for copy in copies:
                copy.wait()
        program = self.loop("argusloop7", *[0.8] * 4)
        self.assertEqual(program.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["seen"] == 4, FINISHED_S), status())
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 4, FINISHED_S), status())
        rows = json.loads(argus("hangs", "--json", str(self.folder)).stdout)["hangs"]
        self.assertGreaterEqual(len(rows), 3)  # of each kind, three files stay (--max-files)
        self.assertEqual([row for row in rows if not row["cause"]], [])  # each file has the records of its own hang

    def test_two_programs_freeze_one_after_the_other(self):
        """The second one freezes while the snapshot of the first is written."""
        self.start("--process", "argusloop8")
        first = self.loop("argusloop8", 1)
        time.sleep(0.3)
        second = self.loop("argusloop8", 1)
        for program in first, second:
            self.assertEqual(program.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 2, FINISHED_S), status())
        self.assertEqual(argus("stop").returncode, 0)
        for program in first, second:
            file, = self.folder.glob(f"hang-argusloop8-{program.pid}-*.argus")
            found = json.loads(argus("diagnose", "--json", "--auto", str(file)).stdout)  # each file explains its own hang
            self.assertEqual(found["hang"]["pid"], program.pid)
            self.assertAlmostEqual(found["hang"]["duration_ns"] / 1e9, 1, delta=0.35)

    def test_it_says_that_nobody_writes_any_more(self):
        watcher = self.start()
        os.kill(watcher, signal.SIGKILL)
        self.assertTrue(eventually(lambda: status()["hangs"]["watcher_pid"] == 0))
        self.assertIn("none are written any more", argus("status").stdout)

    def test_the_folder_is_created(self):
        folder = self.folder / "a/b"
        done = argus("start", "--on-hang", "1s", "-o", str(folder) + "/", "--ring-size", "128M")
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in folder, folder.parent:
            self.assertEqual(part.stat().st_mode & 0o777, 0o700)

    def test_a_removed_folder_is_created_again(self):
        folder = self.folder / "a"
        done = argus("start", "--on-hang", "500ms", "-o", str(folder), "--ring-size", "128M", "--process", "argusloop7", "--no-symbols")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"in {folder}\n", done.stdout)
        folder.rmdir()
        self.assertEqual(self.loop("argusloop7", 0.9).stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S))
        self.assertEqual(len(list(folder.glob("hang-argusloop7-*.argus"))), 1)
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)

    def test_a_folder_that_cannot_be_created(self):
        file = self.folder / "file"
        file.write_text("text")
        for path, message in [(file, f"{file} is a file"), (file / "b", f"{file} is a file"),
                              ("/proc/argus/hangs", "cannot create the folder /proc/argus/hangs"), ("", "names no folder")]:
            done = argus("start", "--on-hang", "1s", "-o", str(path))
            self.assertIn(done.returncode, (1, 2), done.stderr)
            self.assertIn(message, done.stderr)
            self.assertFalse(status()["recording"])

    def test_a_folder_that_the_user_may_not_write_to(self):
        """Root may write there; the user who called sudo, to whom the files belong, may not."""
        environment = dict(os.environ, SUDO_UID="12345", SUDO_GID="12345", SUDO_USER="nobody")
        closed = self.folder / "closed"
        closed.mkdir(mode=0o755)
        self.folder.chmod(0o755)
        for path, message in [(closed, "cannot write into the folder"), (closed / "a/b", f"you may not write into {closed};")]:
            done = argus("start", "--on-hang", "1s", "-o", str(path), env=environment)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(message, done.stderr)
        self.assertEqual(list(closed.iterdir()), [])
        self.assertFalse(status()["recording"])

    def test_wrong_use(self):
        for arguments in (["--process", "x"], ["--max-files", "3"], ["--max-size", "1G"], ["--quiet"], ["--on-hang", "1ms"],
                          ["--on-hang", "1s", "--max-files", "0"], ["--on-hang", "1s", "--process", "x" * 16]):
            self.assertEqual(argus("start", *arguments).returncode, 2, arguments)

    def test_it_is_the_users_under_sudo(self):
        """The watcher has the rights of the user who called sudo, and its files belong to that user."""
        os.chown(self.folder, 12345, 12345)
        home = self.folder / "root"  # sudo sets HOME to root's home folder
        home.mkdir(mode=0o700)
        environment = dict(os.environ, SUDO_UID="12345", SUDO_GID="12345", SUDO_USER="nobody", HOME=str(home))
        folder = self.folder / "new"
        done = argus("start", "--on-hang", "500ms", "-o", str(folder), "--ring-size", "128M", "--process", "argusloop6",
                     env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        watcher = int(re.search(r"pid (\d+) keeps a snapshot", done.stdout)[1])
        self.assertRegex(pathlib.Path(f"/proc/{watcher}/status").read_text(), r"Uid:\s+12345\s+12345\s+12345\s+12345")
        program = self.loop("argusloop6", 0.9)
        self.assertEqual(program.stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, FINISHED_S))
        self.assertEqual((folder.stat().st_uid, folder.stat().st_gid, folder.stat().st_mode & 0o777), (12345, 12345, 0o700))
        self.assertEqual(next(folder.glob("hang-*.argus")).stat().st_uid, 12345)
        self.assertEqual([note for note in status()["notes"] if "hang-" in note], [])  # it was diagnosed


if __name__ == "__main__":
    main()
