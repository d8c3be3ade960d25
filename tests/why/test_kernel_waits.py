#!/usr/bin/env python3
"""Waits in the kernel for file systems, disks and pages: test_kernel_waits.py ARGUS STUCK SCHEMA. Needs root, for mounts.

A FUSE server that sleeps in its answer to a read is the cause of each wait. Everything is in a mount namespace, which ends with
the test.
"""
import mmap
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from asking import settled, why

SLOW_FILES = pathlib.Path(__file__).resolve().parents[1] / "desktop/programs/slow_files.py"

# Mounts the slow file system, and keeps the namespace.
MOUNTS = """set -e
mount --make-rprivate /
python3 -B {slow} "{top}/fuse files" {top}/files read 600 > {top}/serves &
until grep -qs serves {top}/serves; do kill -0 $! || exit; sleep 0.05; done
echo ready
exec sleep 600
"""
# Opens the file system's root, which asks nobody, and looks at a name in it from another folder.
LOOK = """import os
root = os.open({path!r}, os.O_PATH)
print("opened", flush=True)
os.stat({name!r}, dir_fd=root) if {name!r} else os.stat(root)
"""
# The page that is missing is one of code.
MAP = """import ctypes, os
file = os.open({path!r}, os.O_RDONLY)
libc = ctypes.CDLL(None)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
code = libc.mmap(None, 4096, {prot}, 2, file, 0)  # private
print("mapped", flush=True)
ctypes.CFUNCTYPE(None)(code)()
"""
# It is killed outside of any call, and closes the file then.
HOLD = """import os
file = os.open({path!r}, os.O_RDONLY)
print("opened", flush=True)
while True: pass
"""


def kinds(path):
    return [step["wait"]["kind"] for step in path]


class KernelWaits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="argus-why-")
        cls.top = pathlib.Path(cls.folder.name)
        cls.started = []
        for name in ("fuse files", "files", "disk"):
            (cls.top / name).mkdir()
        (cls.top / "files/slow.txt").write_text("slow\n" * 1000)
        cls.space = subprocess.Popen(["unshare", "-m", "sh", "-c", MOUNTS.format(slow=SLOW_FILES, top=cls.top)],
                                     stdout=subprocess.PIPE, text=True, start_new_session=True)
        cls.is_ready = cls.space.stdout.readline().strip() == "ready"
        if not cls.is_ready:
            cls.server = None
            return
        cls.server = next((pid for pid in cls.children() if b"slow_files" in
                           pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()), None)

    @classmethod
    def children(cls):
        text = pathlib.Path(f"/proc/{cls.space.pid}/task/{cls.space.pid}/children").read_text()
        return [int(word) for word in text.split()]

    @classmethod
    def tearDownClass(cls):
        for process in cls.started:
            process.kill()
        os.killpg(cls.space.pid, signal.SIGKILL)
        cls.space.wait()
        cls.space.stdout.close()
        for process in cls.started:  # none ends while a request of its own is unanswered
            process.communicate()
        cls.folder.cleanup()

    def setUp(self):
        if not self.is_ready or self.server is None:
            self.skipTest("no FUSE file system can be mounted here")

    def inside(self, *command):
        self.started.append(subprocess.Popen(["nsenter", "-t", str(self.space.pid), "-m", *command], stdout=subprocess.PIPE,
                                             text=True))
        return self.started[-1]

    def check(self, process, kind, is_guess):
        """The process waits for the server, which sleeps."""
        try:
            answer = settled(process.pid, lambda path: kinds(path) == [kind, "sleep"])
            if kind == "page":
                self.assertIn("(not read: its file system may not answer)", why(process.pid))
        finally:
            process.kill()
        self.assertEqual((kinds(answer["path"]), answer["path"][-1]["pid"], answer["path"][0]["guess"]),
                         ([kind, "sleep"], self.server, is_guess), answer["summary"])
        return answer

    def test_1_idle_server(self):
        """A server without a request waits for nobody; above all not for itself."""
        answer = settled(self.server, lambda path: kinds(path) == ["request"])
        self.assertEqual((kinds(answer["path"]), answer["end"]), (["request"], "idle"), answer["summary"])

    def test_2_page(self):
        """A missing page of a mapped file: no system call tells of it. The file cannot be read for its functions' names. One
        that ends has no pages: it waits for the answer to its close."""
        path = f"{self.top}/fuse files/slow.txt"
        holder = self.inside(sys.executable, "-c", HOLD.format(path=path))
        self.assertEqual(holder.stdout.readline().strip(), "opened")
        process = self.inside(sys.executable, "-c", MAP.format(path=path, prot=mmap.PROT_READ | mmap.PROT_EXEC))
        self.assertEqual(process.stdout.readline().strip(), "mapped")
        answer = self.check(process, "page", True)
        self.assertIn("probably provides", answer["summary"])
        holder.kill()
        answer = settled(holder.pid, lambda path: kinds(path) == ["fuse"])
        self.assertEqual((kinds(answer["path"]), answer["end"]), (["fuse"], "unknown"), answer["summary"])

    def test_3_file(self):
        """Also where another function than FUSE's own is the innermost one: the inode's lock."""
        reading = [self.inside("cat", f"{self.top}/fuse files/slow.txt") for _ in range(2)]
        for process in reading:
            is_guess = settled(process.pid, lambda path: kinds(path) == ["fuse", "sleep"])["path"][0]["guess"]
            self.check(process, "fuse", is_guess)

    def test_4_from_a_folder(self):
        """A path that begins at a descriptor: the current directory has nothing to do with it."""
        for name in ("other.txt", ""):
            process = self.inside(sys.executable, "-c", LOOK.format(path=f"{self.top}/fuse files", name=name))
            self.assertEqual(process.stdout.readline().strip(), "opened")
            answer = self.check(process, "fuse", False)
            self.assertEqual(answer["path"][0]["wait"]["path"], f"{self.top}/fuse files" + (f"/{name}" if name else ""))

    def test_5_frozen_file_system(self):
        tools = [name for name in ("mkfs.ext4", "fsfreeze", "losetup") if not shutil.which(name, path="/usr/sbin:/sbin:/usr/bin")]
        if tools:
            self.skipTest(f"missing: {tools}")
        image = self.top / "image"
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        script = f"""mkfs.ext4 -q {image} && mount -o loop {image} {self.top}/disk && fsfreeze -f {self.top}/disk || exit 1
            sh -c 'echo $$ > {self.top}/writer; echo frozen; exec 3> {self.top}/disk/new' &
            read line; fsfreeze -u {self.top}/disk; wait; umount {self.top}/disk"""
        with subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as process:
            if process.stdout.readline().strip() != "frozen":
                self.skipTest("no loop device can be mounted or frozen here")
            try:
                pid = int((self.top / "writer").read_text())
                answer = settled(pid, lambda path: kinds(path) == ["frozen_file_system"])
            finally:
                process.communicate("\n")
        self.assertEqual((kinds(answer["path"]), answer["end"]), (["frozen_file_system"], "stopped"), answer["summary"])
        self.assertIn("fsfreeze -u", answer["summary"])


if __name__ == "__main__":
    if os.geteuid() or not shutil.which("unshare") or not shutil.which("nsenter"):
        print("only root can mount file systems")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
