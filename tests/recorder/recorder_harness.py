"""Shared code of the tests of the recorder on the real system.

TEST.py ARGUS: the `argus` program, with argus-recorder in the same folder. Needs root; exits 77 (skipped) where the kernel or the
user cannot record. The traces are read by tests/trace/decode.py, not by Argus's own reader.

The tests run in a mount namespace with a private /run/argus, so that they do not meet a running recording.
"""
import contextlib
import ctypes
import errno
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402
import decode  # noqa: E402
import machine  # noqa: E402

ARGUS = sys.argv[1] if len(sys.argv) > 1 else "argus"
SWITCH, MAKE_RUNNABLE, STACK, OBJECT, SAMPLE = 0x01400000, 0x01400018, 0x60000004, 0x60020008, 0x60000008
WAITED = 6  # why a stack was taken: a wait has ended
NEW_THREAD, EXEC, THREAD_EXIT, NAME_THREAD, TIMER_FIRED = 0x07000004, 0x07000008, 0x0700000C, 0x07010010, 0x01090009
TASK, HARDIRQ = 0, 2
LINK_GET_FD_BY_ID = 30  # include/uapi/linux/bpf.h


def syscall_id(number, end=False):
    return 0x040C0000 | number << 2 | (2 if end else 1)


class Trace:
    """The lines of decode.py, sorted by kind."""

    def __init__(self, path):
        self.records, self.threads, self.images, self.stacks, self.counters = [], [], [], {}, {}
        self.complete = False
        for line in decode.decode(pathlib.Path(path).read_bytes()):
            kind, *fields = line.split(" ")
            if kind == "record":
                time_ns, tid, debugid, cpu, *arguments = fields
                self.records.append((int(time_ns), int(tid), int(debugid, 16), int(cpu), [int(a) for a in arguments]))
            elif kind == "thread":
                self.threads.append([int(f) for f in fields[:5]] + [bytes.fromhex(fields[5]).decode()])
            elif kind == "image":
                self.images.append((int(fields[0]), fields[-2], bytes.fromhex(fields[-1]).decode()))
            elif kind == "stack":
                self.stacks[int(fields[0])] = [int(f) for f in fields[1:]]
            elif kind == "counter":
                self.counters[bytes.fromhex(fields[0]).decode()] = int(fields[1])
        self.complete = "records" in self.counters
        self.records.sort(key=lambda record: record[0])

    def of(self, debugid, tid=None):
        return [r for r in self.records if r[2] == debugid and tid in (None, r[1])]

    def tids(self, pid):
        return {t[0] for t in self.threads if t[1] == pid}


def argus(*arguments, **options):
    return subprocess.run([ARGUS, *arguments], capture_output=True, text=True, timeout=60, **options)


def held(pid, what):
    """The IDs of the BPF objects that a process holds: "link" (attachments) or "prog" (programs)."""
    texts = []
    for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            texts.append(info.read_text())
    return {int(line.split()[1]) for text in texts for line in text.splitlines() if line.startswith(f"{what}_id:")}


def links_of(pid):
    return held(pid, "link")


def exists(identifier, command):
    """Asks the kernel: bpf(BPF_…_GET_FD_BY_ID)."""
    attributes = (ctypes.c_uint32 * 4)(identifier)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(machine.BPF_SYSCALL[os.uname().machine], command, ctypes.byref(attributes), ctypes.sizeof(attributes))
    if fd >= 0:
        os.close(fd)
        return True
    if ctypes.get_errno() != errno.ENOENT:
        raise OSError(ctypes.get_errno(), "bpf")
    return False


def link_exists(link):
    return exists(link, LINK_GET_FD_BY_ID)


def eventually(condition, seconds=5):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= until:
            return False
        time.sleep(0.05)
    return True


def alive(pid):
    """A zombie has let go of everything."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def status():
    return json.loads(argus("status", "--json").stdout)


class Live(unittest.TestCase):
    backend = ("--backend", "bpf")  # if a recorder's programs do not load, another backend must not make the tests pass

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="argus-live-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "t.argus"
        self.links = set()
        self.addCleanup(lambda: argus("stop"))

    def record(self, script, *options):
        """Records a Python script; returns its output."""
        done = argus("record", "-o", str(self.path), *self.backend, *options, "--", sys.executable, "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        return Trace(self.path), done.stdout.split()

    def recorder(self):
        """Waits for the recorder, remembers its attachments, and returns its process ID."""
        self.assertTrue(eventually(lambda: status()["recording"]))
        pid = status()["recorder_pid"]
        self.links = links_of(pid)
        self.assertGreater(len(self.links), 10)
        self.assertTrue(all(link_exists(link) for link in self.links))
        return pid

    def assert_detached(self):
        self.assertTrue(eventually(lambda: not any(link_exists(link) for link in self.links)))
        self.assertFalse(status()["recording"])


def children(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(p) for p in path.read_text().split()]


def comm(pid):
    return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()


def cannot_record():
    return machine.reason_to_skip_beside_others()


def main():
    reason = cannot_record()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    machine.enter_namespace()
    sys.argv.pop(1)
    load_retry.run_unittests(sys.argv)
