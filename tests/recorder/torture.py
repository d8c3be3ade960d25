#!/usr/bin/env python3
"""Recordings that go wrong in every way that we know, at random moments. After each: nothing is attached, what is left of the file
can be read, and a loss was said.

torture.py ARGUS [--minutes N] [--seed N] [ROW…]: each row once, or rows at random for so many minutes. Prints one line a row. Needs
root. To add a row: a function with @row; it returns (what the user was told, the file or None). Everything that it starts must
be in its Round.
"""
import argparse
import contextlib
import fcntl
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as harness  # noqa: E402
from recorder_harness import machine  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
LOAD = "import os, time\nwhile True:\n  for i in range(400): os.getppid()\n  time.sleep(0.001)"
THREADS = """
import threading, time
threading.stack_size(65536)
gate, threads = threading.Event(), []
for i in range(10000):
    thread = threading.Thread(target=gate.wait, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        break
    threads.append(thread)
gate.set()
print(len(threads))
"""
# Keeps a text in registers and on its stack while it waits. rbx, r12 … r15 and their like are the caller's, so a wait keeps them.
SECRET = b"hunter2!"
KEEPER = """
#include <string.h>
#include <unistd.h>
int main(void)
{
    volatile char kept[64];
    unsigned long long secret;
    memcpy(&secret, "hunter2!", 8);
    memcpy((char *)kept, "hunter2!hunter2!", 16);
    for (int i = 0; i < 1000; i++) {
        usleep(3000);
        __asm__ volatile("" : "+r"(secret));
    }
    return kept[0] + (int)secret;
}
"""
FORKS = "import os\nfor i in range(3000):\n  if os.fork() == 0: os._exit(0)\n  os.wait()"
PATIENCE_S = 60
CROWDS_S = 900  # the programs alone take half a minute on a busy machine
EXT4_IOC_SHUTDOWN = 0x8004587D
rows = {}


class Failure(Exception):
    """What must not happen."""


class Skipped(Exception):
    """What this machine cannot do."""


def row(function):
    rows[function.__name__] = function
    return function


def alive(pid):
    """A zombie has let go of everything."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Round:
    """One row: its folder, its recording, and the attachments that its recorder was ever seen to have."""

    def __init__(self, randomness):
        self.random = randomness
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="argus-torture-"))
        self.links, self.recorder, self.undo = set(), 0, [lambda: shutil.rmtree(self.folder, ignore_errors=True)]
        self.over = threading.Event()
        self.watcher = threading.Thread(target=self.watch)
        self.watcher.start()

    def watch(self):
        while not self.over.wait(0.02):
            for pid in machine.processes_of_namespace(os.readlink("/proc/self/ns/mnt")):
                with contextlib.suppress(OSError):
                    if harness.comm(pid) == "argus-recorder":
                        self.recorder = pid
                        self.links |= harness.links_of(pid)

    def end(self):
        self.over.set()
        self.watcher.join()
        for action in reversed(self.undo):
            action()

    def moment(self, longest_s=1.5):
        time.sleep(self.random.uniform(0, longest_s))

    def start(self, *words, **options):
        """A process in a session of its own. What it prints goes to a file, which no orphan keeps open."""
        output = tempfile.TemporaryFile(mode="w+")
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                                   **options)
        process.output = output
        self.undo.append(lambda: self.end_session(process))
        return process

    @staticmethod
    def end_session(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.output.close()

    @staticmethod
    def kill(pid, number=signal.SIGKILL):
        """It may have ended already."""
        if pid > 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def load(self):
        self.start(sys.executable, "-c", LOAD)

    def record(self, path, *command, words=(), load=True, **options):
        """argus record of a command that ends, up to the moment when the recorder has attached something."""
        if load:
            self.load()
        command = command or ("sleep", "3")
        front = self.start(harness.ARGUS, "record", "-o", str(path), "--backend", "bpf", *words, "--", *command, **options)
        self.until(lambda: self.links or front.poll() is not None, "nothing was attached")
        return front

    def until(self, condition, otherwise, seconds=PATIENCE_S):
        if not harness.eventually(condition, seconds):
            raise Failure(otherwise)

    def said(self, front, code=None, seconds=PATIENCE_S):
        """What it prints until it ends."""
        try:
            front.wait(timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise Failure("argus does not end") from error
        front.output.seek(0)
        text = front.output.read()
        if front.returncode < 0 and -front.returncode != signal.SIGKILL:
            raise Failure(f"argus was ended by signal {-front.returncode}: {text}")
        if code is not None and front.returncode != code:
            raise Failure(f"argus ended with {front.returncode}, not {code}: {text}")
        return text

    def child(self, name):
        """The process of this name, of the recorder's children."""
        def find():
            return [pid for pid in harness.children(self.recorder) if alive(pid) and harness.comm(pid) == name]
        with contextlib.suppress(OSError):
            self.until(find, f"there is no {name}")
            return find()[0]
        return 0

    def mount_tmpfs(self, size):
        folder = self.folder / "disk"
        folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)
        self.undo.append(lambda: subprocess.run(["umount", "-l", folder], check=False, stderr=subprocess.DEVNULL))
        return folder

    def mount_fuse(self, operation):
        """A file system, and the file that switches its fault on."""
        folder, switch = self.folder / "disk", self.folder / "switch"
        folder.mkdir()
        server = self.start(sys.executable, "-B", PROGRAMS / "stuck_files.py", folder, switch, operation)
        self.until(lambda: os.path.ismount(folder) or server.poll() is not None, "no FUSE")
        self.undo.append(lambda: (switch.unlink(missing_ok=True),
                                  subprocess.run(["umount", "-l", folder], check=False, stderr=subprocess.DEVNULL)))
        return folder, switch

    def memory_cgroup(self, most_bytes):
        """A group of processes that may use so much memory together."""
        for parent, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = pathlib.Path(parent, self.folder.name)
            try:
                group.mkdir()
                self.undo.append(lambda group=group: self.remove_group(group))
                (group / limit).write_text(str(most_bytes))
                return group
            except OSError:
                continue
        raise Skipped("no memory cgroups")

    @staticmethod
    def remove_group(group):
        """Processes that were killed leave it a moment later."""
        def is_gone():
            with contextlib.suppress(OSError):
                group.rmdir()
            return not group.exists()
        harness.eventually(is_gone, 10)

    # --- what holds after each row ---

    def check_detached(self):
        if not self.links:
            raise Failure("nothing was ever attached")
        self.until(lambda: not alive(self.recorder), "the recorder is still there")
        self.until(lambda: not any(harness.link_exists(link) for link in self.links), "something is still attached")

    def check_file(self, path):
        """Readable: complete (0), or cut off, which is said (4)."""
        left = [p for p in path.parent.glob(path.name + "*") if p.suffix in (".argus", ".part")]
        for file in left:
            done = subprocess.run([harness.ARGUS, "info", str(file)], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
            if done.returncode not in (0, 4):
                raise Failure(f"{file.name} ({file.stat().st_size} bytes) cannot be read: {done.returncode} {done.stderr}")
        return len(left)


def expect(text, *words):
    if not any(word in text for word in words):
        raise Failure(f"not said: {' or '.join(words)}, but: {text}")
    return text


# --- kills ---

@row
def kill_recorder(at):
    front = at.record(at.folder / "t.argus")
    at.moment()
    at.kill(at.recorder)
    return expect(at.said(front, 1), "has ended", "was ended"), at.folder / "t.argus"


@row
def kill_writer(at):
    front = at.record(at.folder / "t.argus")
    writer = at.child("argus-writer")
    at.moment()
    at.kill(writer)
    return expect(at.said(front, 1), "the process that writes the trace"), at.folder / "t.argus"


@row
def kill_front_end(at):
    front = at.record(at.folder / "t.argus")
    at.moment()
    front.kill()
    return at.said(front), at.folder / "t.argus"


@row
def kill_all_at_once(at):
    front = at.record(at.folder / "t.argus")
    writer = at.child("argus-writer")
    at.moment()
    for pid in at.random.sample([front.pid, at.recorder, writer], 3):
        at.kill(pid)
    return at.said(front), at.folder / "t.argus"


@row
def kill_while_starting(at):
    """Before, while and after it attaches: 50 links are made within a second or two."""
    at.load()
    front = at.start(harness.ARGUS, "record", "-o", str(at.folder / "t.argus"), "--backend", "bpf", "--", "sleep", "1")
    at.until(lambda: at.recorder or front.poll() is not None, "there is no recorder")
    at.moment(1.5)
    at.kill(at.recorder)
    text = at.said(front)
    at.links = at.links or {0}  # perhaps nothing was attached yet
    return text, at.folder / "t.argus"


@row
def kill_while_stopping(at):
    front = at.record(at.folder / "t.argus", "sleep", "0.5")
    at.moment(2)
    at.kill(at.recorder)
    return at.said(front), at.folder / "t.argus"


@row
def signals(at):
    number = at.random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    front = at.record(at.folder / "t.argus")
    at.moment()
    at.kill(at.recorder, number)
    return expect(at.said(front, 1), f"by signal {int(number)}"), at.folder / "t.argus"


@row
def stopped_for_a_while(at):
    """SIGSTOP: the ring overflows, and each CPU counts what it loses."""
    front = at.record(at.folder / "t.argus", sys.executable, "-c", LOAD.replace("while True", "for turn in range(900)"),
                      words=["--buffer", "1M"])
    at.kill(at.recorder, signal.SIGSTOP)
    time.sleep(0.5)
    at.kill(at.recorder, signal.SIGCONT)
    return expect(at.said(front, 0), " lost"), at.folder / "t.argus"


@row
def secret_after_kill(at):
    """A file whose stacks were never unwound has copies of stacks, but no text of the program."""
    if not shutil.which("cc"):
        raise Skipped("no C compiler")
    keeper = at.folder / "keeper"
    subprocess.run(["cc", "-O2", "-fomit-frame-pointer", "-x", "c", "-", "-o", keeper], input=KEEPER, text=True, check=True)
    front = at.record(at.folder / "t.argus", str(keeper), words=["--unwind", "keeper", "--only", "sched,stacks"], load=False)
    time.sleep(1.5 + at.random.uniform(0, 0.5))
    at.kill(front.pid)
    at.kill(at.recorder)
    at.said(front)
    at.check_detached()
    left, = at.folder.glob("t.argus*")
    copies = [line for line in harness.decode.decode(left.read_bytes()) if line.startswith("snapshot ")]
    if not copies:
        raise Failure("no stack was copied")
    number = str(int.from_bytes(SECRET, "little"))
    if any(number in line.replace(",", " ").split() or SECRET.hex() in line for line in copies):
        raise Failure("the secret is in the file")
    return "", at.folder / "t.argus"


# --- disks ---

@row
def full_disk(at):
    disk = at.mount_tmpfs(f"{at.random.randint(200, 900)}k")
    front = at.record(disk / "t.argus")
    return expect(at.said(front, 1), "No space left"), disk / "t.argus"


@row
def failing_disk(at):
    disk, switch = at.mount_fuse("fail:write")
    front = at.record(disk / "t.argus")
    at.moment()
    switch.touch()
    text = expect(at.said(front, 1), "Input/output error")
    switch.unlink()
    return text, disk / "t.argus"


@row
def blocking_disk(at):
    """Nothing stays attached although the write does not return."""
    disk, switch = at.mount_fuse("write")
    at.record(disk / "t.argus")
    at.moment()
    switch.touch()
    time.sleep(1.5)
    at.kill(at.recorder, at.random.choice([signal.SIGKILL, signal.SIGTERM]))
    at.check_detached()
    switch.unlink()
    return "", disk / "t.argus"


@row
def blocking_operation(at):
    """Another operation than write blocks, in argus or in argus-writer. `argus status` answers nevertheless."""
    operation = at.random.choice(["create", "open", "lookup", "getattr", "setattr", "statfs", "flush", "fsync", "release", "rename", "read"])
    disk, switch = at.mount_fuse(operation)
    front = at.record(disk / "t.argus", "sleep", "1")
    at.moment()
    switch.touch()
    time.sleep(2)
    began = time.monotonic()
    harness.argus("status")
    if time.monotonic() - began > 15:
        raise Failure(f"{operation}: argus status took {time.monotonic() - began:.0f} s")
    for pid in (at.recorder, front.pid):
        at.kill(pid)
    at.check_detached()
    switch.unlink()
    return "", disk / "t.argus"


@row
def dead_disk(at):
    """The device of a real file system goes away: all that is written fails."""
    disk, image = at.folder / "disk", at.folder / "image"
    disk.mkdir()
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    if not shutil.which("mkfs.ext4") or subprocess.run(["mkfs.ext4", "-q", image], check=False, capture_output=True).returncode or \
            subprocess.run(["mount", "-o", "loop", image, disk], check=False, capture_output=True).returncode:
        raise Skipped("no loop devices, or no ext4")
    at.undo.append(lambda: subprocess.run(["umount", "-l", disk], check=False, stderr=subprocess.DEVNULL))
    front = at.record(disk / "t.argus", "sleep", "2")
    at.moment()
    folder = os.open(disk, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", 2))  # without what was not written yet
    except OSError as error:
        raise Skipped(f"this ext4 cannot be shut down: {error}") from error
    finally:
        os.close(folder)
    return expect(at.said(front, 1), "Input/output error", "cannot find the recording"), None


@row
def deleted_folder(at):
    folder = at.folder / "before"
    folder.mkdir()
    front = at.record(folder / "t.argus", "sleep", "1")
    at.moment(0.5)
    shutil.rmtree(folder)
    return expect(at.said(front, 1), "cannot find the recording", "was removed", "No such file"), None


@row
def vanishing_disk(at):
    """umount -l: the file is written on, but has no path any more."""
    disk = at.mount_tmpfs("64m")
    front = at.record(disk / "t.argus", "sleep", "1")
    subprocess.run(["umount", "-l", disk], check=True)
    return expect(at.said(front, 1), "cannot find the recording", "cannot write"), None


@row
def renamed_folder(at):
    folder = at.folder / "before"
    folder.mkdir()
    front = at.record(folder / "t.argus", "sleep", "1")
    folder.rename(at.folder / "after")
    return expect(at.said(front, 0), "after/t.argus: "), at.folder / "after/t.argus"


# --- limits ---

@row
def file_limit(at):
    most = at.random.randint(40, 300) << 10
    front = at.record(at.folder / "t.argus", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    return expect(at.said(front, 1), "ulimit -f"), at.folder / "t.argus"


@row
def descriptor_limit(at):
    """Too few descriptors: the reason is named, or the limit was raised."""
    most = at.random.choice([12, 24, 60, 200])
    at.links = {0}
    front = at.record(at.folder / "t.argus", "sleep", "0.5",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
    text = at.said(front)
    if front.returncode != 0:
        expect(text, "Too many open files", "ulimit -n")
    return text, at.folder / "t.argus"


@row
def cpu_limit(at):
    """SIGXCPU, of a soft limit, must not end the recorder."""
    front = at.record(at.folder / "t.argus", "sleep", "1",
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 600)))
    return at.said(front, 0), at.folder / "t.argus"


@row
def memory_cgroup(at):
    """Too little memory for the recorder and its maps: it says so, or the kernel ends it, which argus says."""
    group = at.memory_cgroup(at.random.randint(8, 400) << 20)
    at.load()
    front = at.start(harness.ARGUS, "record", "-o", str(at.folder / "t.argus"), "--backend", "bpf", "--", "sleep", "1",
                     preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    at.until(lambda: at.links or front.poll() is not None, "nothing was attached")
    text = at.said(front)
    at.links = at.links or {0}  # perhaps there was no memory to attach anything
    if front.returncode == 1 and "argus: " not in text:
        raise Failure(f"no reason was given: {text}")
    return text, at.folder / "t.argus"


# --- crowds ---

@row
def ten_thousand_threads(at):
    front = at.record(at.folder / "t.argus", sys.executable, "-c", THREADS)
    return at.said(front, 0, CROWDS_S), at.folder / "t.argus"


@row
def fork_storm(at):
    front = at.record(at.folder / "t.argus", sys.executable, "-c", FORKS)
    return at.said(front, 0, CROWDS_S), at.folder / "t.argus"


@row
def killed_debugger(at):
    """LLDB, killed while it builds the graph: the trace is untouched, and the next command works."""
    if not any(shutil.which(name) for name in ["lldb", *(f"lldb-{version}" for version in range(14, 23))]):
        raise Skipped("no LLDB")
    front = at.record(at.folder / "t.argus", "sleep", "1")
    at.said(front, 0)
    before = (at.folder / "t.argus").read_bytes()
    debugger = at.start(harness.ARGUS, "debug", str(at.folder / "t.argus"))
    at.moment(3)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(debugger.pid, signal.SIGKILL)
    debugger.wait(timeout=PATIENCE_S)
    if (at.folder / "t.argus").read_bytes() != before:
        raise Failure("the trace has changed")
    done = harness.argus("graph", "stats", str(at.folder / "t.argus"))
    if done.returncode not in (0, 4):
        raise Failure(f"after the debugger was killed: {done.stderr}")
    return "", at.folder / "t.argus"


# Seconds each; the others need more time or many processes, or have tests of their own (stuck_disk.py).
SHORT = ["kill_recorder", "kill_writer", "kill_front_end", "kill_while_starting", "signals", "secret_after_kill", "full_disk", "file_limit"]


def run(name, seed):
    """One line; whether it is as it should be."""
    began, at = time.monotonic(), Round(random.Random(seed))
    verdict = "ok"
    try:
        _, path = rows[name](at)
        at.check_detached()
        files = at.check_file(path) if path else 0
        verdict = f"ok: {len(at.links)} attachments gone, {files} files readable"
    except Skipped as reason:
        verdict = f"skipped: {reason}"
    except Failure as failure:
        verdict = f"FAILED: {failure}"
    finally:
        harness.argus("stop")
        at.end()
    print(f"{name:22} seed {seed:<10} {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
    return not verdict.startswith("FAILED")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("argus")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--short", action="store_true", help="the rows that a test runs")
    parser.add_argument("rows", nargs="*")
    chosen = parser.parse_args()
    reason = harness.cannot_record()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    machine.enter_namespace()
    names = chosen.rows or (SHORT if chosen.short else list(rows))
    randomness, until = random.Random(chosen.seed), time.monotonic() + 60 * (chosen.minutes or 0)
    failed = sum(not run(name, randomness.getrandbits(32)) for name in names)
    count = len(names)
    while time.monotonic() < until:
        failed += not run(randomness.choice(names), randomness.getrandbits(32))
        count += 1
    print(f"{count} rows, {failed} failed (seed {chosen.seed})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
