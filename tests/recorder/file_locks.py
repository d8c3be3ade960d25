#!/usr/bin/env python3
"""Locks on files, and lock files, on the real system: their records; and that the wait of a program is explained by the process that
holds the lock, also when the lock is older than the recording.

file_locks.py ARGUS: see recorder_harness.py.
"""
import json
import os
import subprocess
import sys

from recorder_harness import Live, Trace, argus, main

FILE_LOCK, FILE_LOCK_NAME = 0x60020024, 0x60020028
GOT, REFUSED, RELEASED, WAITS = 1, 2, 3, 4
FLOCK, PROCESS, OPEN, NAME = 1, 2, 3, 4
EXCLUSIVE, HELD = 1, 2
ALL = (0, (1 << 64) - 1)

HOLD = """
import fcntl, sys, time
path, kind, seconds = sys.argv[1:]
file = open(path, "w")
(fcntl.flock if kind == "flock" else fcntl.lockf)(file, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(float(seconds))
"""
WANT = """
import fcntl, os, signal, time
path, kind, polls, seconds = {!r}
file, until = open(path, "w"), time.monotonic() + seconds
lock = fcntl.flock if kind == "flock" else fcntl.lockf
print(os.getpid(), flush=True)
signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
signal.alarm(int(seconds))
while polls and time.monotonic() < until:
    try:
        lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        break
    except OSError:
        time.sleep(0.25)
if not polls:
    lock(file, fcntl.LOCK_EX)
"""
CALLS = """
import fcntl, os, struct, sys
path = {!r}
a, b = open(path, "r+"), open(path, "r+")
fcntl.flock(a, fcntl.LOCK_SH)
fcntl.flock(b, fcntl.LOCK_SH | fcntl.LOCK_NB)
try:
    fcntl.flock(b, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    pass
fcntl.flock(a, fcntl.LOCK_UN)
fcntl.lockf(a, fcntl.LOCK_EX, 10, 5)
fcntl.lockf(a, fcntl.LOCK_SH, 0, 100)
fcntl.lockf(a, fcntl.LOCK_UN, 10, 5)
fcntl.fcntl(a, fcntl.F_GETFD)
try:
    fcntl.flock(os.open("/", os.O_PATH), fcntl.LOCK_EX)  # EBADF: nothing has happened
except OSError:
    pass
F_OFD_SETLK = 37
fcntl.fcntl(b, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 1, 0))
fcntl.fcntl(b, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 50, -5, 0))
print(os.getpid(), os.fstat(a.fileno()).st_ino)
"""

NAMES = """
import os
os.chdir({!r})
path = os.path.abspath("a.lock")
exclusive = os.O_CREAT | os.O_EXCL | os.O_WRONLY
os.close(os.open(path, exclusive))
for refused in (lambda: os.open("a.lock", exclusive), lambda: os.mkdir(path), lambda: os.symlink("x", path),
                lambda: os.link(path, "a.lock")):
    try:
        refused()
    except FileExistsError:
        pass
os.close(os.open("plain", os.O_CREAT | os.O_WRONLY))  # not exclusive: not recorded
os.unlink("plain")
os.rename(path, "b")
os.mkdir("folder")
os.rmdir("folder")
print(os.getpid(), path)
"""
CREATE = """
import os, sys, time
path, how, seconds = sys.argv[1:]
if how == "mkdir":
    os.mkdir(path)
elif how == "symlink":
    os.symlink("host.1234", path)
else:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
print("held", flush=True)
time.sleep(float(seconds))
(os.rmdir if how == "mkdir" else os.unlink)(path)
time.sleep(30)
"""
# The holder is started while the recording runs, since nothing lists who has created which file.
POLL = """
import os, subprocess, sys, time
path, how, program, seconds = {!r}
os.chdir(os.path.dirname(path))
holder = subprocess.Popen([sys.executable, "-c", program, path, how, str(seconds)], stdout=subprocess.PIPE, text=True)
holder.stdout.readline()
print(os.getpid(), holder.pid, flush=True)
child = os.fork()
if child == 0:
    until = time.monotonic() + 3
    print(os.getpid(), flush=True)
    while time.monotonic() < until:
        try:
            # a relative path is known to be the same name only if the creator has opened the file
            os.close(os.open(os.path.basename(path) if how == "open" else path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            time.sleep(0.2)
    os._exit(0)
os.waitpid(child, 0)
holder.kill()
"""


class FileLocks(Live):
    def setUp(self):
        super().setUp()
        self.lock = self.folder / "lock"
        self.lock.write_text("")

    def holder(self, kind, seconds):
        """Starts a program; returns when it holds the lock."""
        program = subprocess.Popen([sys.executable, "-c", HOLD, str(self.lock), kind, str(seconds)], stdout=subprocess.PIPE,
                                   text=True)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "held\n")
        return program.pid

    def explained(self, pid):
        done = argus("diagnose", "--json", "--auto", "--pid", pid, str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def want(self, kind, polls, seconds=3):
        """The answer for a program that tries to get the lock for `seconds` during the recording."""
        _, (pid,) = self.record(WANT.format((str(self.lock), kind, polls, seconds)))
        answer = self.explained(pid)
        self.assertTrue(answer["root_causes"], answer)
        return answer

    def check_root(self, answer, pid):
        root = answer["root_causes"][0]
        self.assertEqual(root["pid"], pid, root["why"])
        self.assertGreater(answer["hang"]["duration_ns"], 500e6)

    def test_records(self):
        trace, (pid, inode) = self.record(CALLS.format(str(self.lock)))
        found = []
        for _, _, _, _, (_, what, first, last) in trace.of(FILE_LOCK, int(pid)):
            found.append((what >> 32 & 0xFF, what >> 40 & 0xFF, what >> 48, first, last))
        self.assertEqual(found, [
            (GOT, FLOCK, 0, *ALL), (GOT, FLOCK, 0, *ALL), (REFUSED, FLOCK, EXCLUSIVE, *ALL), (RELEASED, FLOCK, 0, *ALL),
            (GOT, PROCESS, EXCLUSIVE, 5, 14), (GOT, PROCESS, 0, 100, ALL[1]), (RELEASED, PROCESS, 0, 5, 14),
            (GOT, OPEN, EXCLUSIVE, 0, 0), (GOT, OPEN, EXCLUSIVE, 45, 49)])
        device = os.stat(self.lock).st_dev
        for record in trace.of(FILE_LOCK, int(pid)):
            self.assertEqual(record[4][0], int(inode))
            self.assertEqual(record[4][1] & 0xFFFFFFFF, os.major(device) << 20 | os.minor(device))

    def test_records_of_lock_files(self):
        trace, (pid, path) = self.record(NAMES.format(str(self.folder)))
        records = [r[4] for r in trace.of(FILE_LOCK, int(pid)) if r[4][1] >> 40 & 0xFF == NAME]
        self.assertEqual([r[1] >> 32 & 0xFF for r in records],
                         [GOT, REFUSED, REFUSED, REFUSED, REFUSED, RELEASED, GOT, RELEASED])
        created, relative, made, symbolic, link, renamed, folder, removed = records
        self.assertEqual(created[2], relative[2])  # the folder's inode and the last component
        self.assertEqual({r[0] for r in (made, symbolic, renamed)}, {created[0]})
        self.assertEqual(link, relative)
        self.assertEqual(removed[0], folder[0])
        self.assertEqual(len({created[0], relative[0], folder[0]}), 3)
        texts = b"".join(b"".join(word.to_bytes(8, "little") for word in r[4]).rstrip(b"\0")
                         for r in trace.of(FILE_LOCK_NAME, int(pid)))
        self.assertEqual(texts.decode(), "a.lock" + path + path + "a.lock")

    def polled_file(self, how, seconds):
        _, words = self.record(POLL.format((str(self.folder / f"{how}.lock"), how, CREATE, seconds)))
        _, holder, pid = words
        return self.explained(pid), int(holder)

    def test_a_lock_file_that_is_polled_until_it_is_removed(self):
        for how in ("open", "mkdir", "symlink"):
            with self.subTest(how):
                answer, holder = self.polled_file(how, 2)
                self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
                self.check_root(answer, holder)

    def test_a_lock_file_that_is_polled_and_never_removed(self):
        answer, holder = self.polled_file("open", 30)
        self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
        self.check_root(answer, holder)

    def test_a_shell_that_runs_git_again_until_its_lock_file_is_gone(self):
        self.assertEqual(subprocess.run(["git", "init", "-q", str(self.folder)]).returncode, 0)
        (self.folder / "a").write_text("a")
        script = f"""
import subprocess
shell = subprocess.Popen(["sh", "-c", "cd {self.folder}; until git add a 2>/dev/null; do sleep 0.3; done"])
print(shell.pid, flush=True)
try:
    shell.wait(3)
except subprocess.TimeoutExpired:
    shell.kill()
"""
        (self.folder / ".git/index.lock").write_text("")
        _, (pid,) = self.record(script)
        answer = self.explained(pid)
        self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
        self.assertEqual([root["process"] for root in answer["root_causes"]], ["sh"])  # not the pauses, sleep(1)
        why = answer["root_causes"][0]["why"]
        self.assertIn(f"tried to create the lock file {self.folder}/.git/index.lock", why)
        self.assertIn("the records do not show which process created it", why)

    def test_what_is_held_when_a_recording_begins_and_ends(self):
        holder = self.holder("flock", 30)
        trace, _ = self.record("pass")
        inode = os.stat(self.lock).st_ino
        held = [r for r in trace.of(FILE_LOCK, holder) if r[4][0] == inode]
        self.assertEqual([r[4][1] >> 32 for r in held], [GOT | FLOCK << 8 | (EXCLUSIVE | HELD) << 16] * 2)

    def test_what_is_held_is_in_a_snapshot(self):
        self.assertEqual(argus("start", *self.backend).returncode, 0)
        holder = self.holder("fcntl", 30)
        done = argus("snapshot", "-o", str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        inode = os.stat(self.lock).st_ino
        held = [r for r in Trace(self.path).of(FILE_LOCK, holder) if r[4][0] == inode and r[4][1] >> 48 & HELD]
        self.assertEqual(len(held), 1)

    def test_a_lock_that_is_polled_until_it_is_given_back(self):
        for kind in ("flock", "fcntl"):
            with self.subTest(kind):
                holder = self.holder(kind, 3)
                answer = self.want(kind, True, 8)
                self.check_root(answer, holder)
                self.assertEqual(answer["spinning"]["type"], "RepeatedYield")

    def test_a_lock_that_is_polled_and_never_given_back(self):
        """What the holder does is known from the records at the end."""
        for kind in ("flock", "fcntl"):
            with self.subTest(kind):
                holder = self.holder(kind, 30)
                answer = self.want(kind, True)
                self.assertEqual(answer["spinning"]["type"], "RepeatedYield")
                self.check_root(answer, holder)
                os.kill(holder, 9)

    def test_a_lock_that_is_waited_for_until_it_is_given_back(self):
        for kind in ("flock", "fcntl"):
            with self.subTest(kind):
                holder = self.holder(kind, 3)
                self.check_root(self.want(kind, False, 8), holder)

    def test_a_lock_that_is_waited_for_and_never_given_back(self):
        for kind in ("flock", "fcntl"):
            with self.subTest(kind):
                holder = self.holder(kind, 30)
                self.check_root(self.want(kind, False), holder)
                os.kill(holder, 9)

    def test_a_holder_that_locks_for_its_parent(self):
        """flock(1) locks a descriptor of the shell and ends; the shell then runs another program."""
        script = f"""
import subprocess, time
shell = subprocess.Popen(["sh", "-c", "exec 9>{self.lock}; flock 9; sleep 4; :"])
time.sleep(0.7)
print(shell.pid, flush=True)
""" + WANT.format((str(self.lock), "flock", True, 3))
        _, (shell, pid) = self.record(script)
        answer = self.explained(pid)
        path = [vertex["pid"] for vertex in answer["path"]]
        self.assertEqual(path[:2], [int(pid), int(shell)], answer["root_causes"])
        self.assertEqual(answer["root_causes"][0]["process"], "sleep")


if __name__ == "__main__":
    main()
