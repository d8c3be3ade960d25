"""What the rows of torture.py share: a row's folder, programs and recorder, and what has to hold after it."""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as harness  # noqa: E402
from recorder_harness import alive, machine  # noqa: E402

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
LOAD = "import os, time\nwhile True:\n  for i in range(400): os.getppid()\n  time.sleep(0.001)"
PATIENCE_S = 60
rows = {}


class Failure(Exception):
    """What must not happen."""


class Skipped(Exception):
    """What this machine cannot do."""


def row(function):
    rows[function.__name__] = function
    return function


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
