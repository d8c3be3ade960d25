#!/usr/bin/env python3
"""python_frames.py ARGUS: the functions of Python programs in call stacks, for each supported Python on this machine (3.11 to 3.13).

The stacks and names are read by tests/trace/decode.py. Skipped where there is no such Python.
"""
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

import recorder_harness
from recorder_harness import Live, argus

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
import decode  # noqa: E402

TARGET = pathlib.Path(__file__).resolve().parent / "programs" / "python_target.py"
VERSIONS = ("3.11", "3.12", "3.13")
MARKS, KERNEL = 7 << 60, 1 << 63  # flags of entries that hold an interpreter's frames, with marks between them, and not a stack
ENDS = 16  # values below this tell why a stack ends (argus-trace(5))


def line_of(text, which=1):
    """The number of the target's line that begins with `text` after its indentation; `which`: the first such line, or a later one."""
    return [i for i, line in enumerate(TARGET.read_text().splitlines(), 1) if line.strip().startswith(text)][which - 1]


def pythons():
    """The installed interpreters with their versions: on PATH, from Debian, from pyenv."""
    found = {}
    for version in VERSIONS:
        candidates = [shutil.which(f"python{version}"), f"/usr/bin/python{version}",
                      *sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))]
        for candidate in filter(None, candidates):
            real = pathlib.Path(candidate)
            if real.exists() and subprocess.run([real, "-c", "import asyncio"], capture_output=True).returncode == 0:
                found[str(subprocess.run([real, "-c", "import sys; print(sys.executable)"], capture_output=True,
                                         text=True).stdout.strip())] = version
    return found


class Frames:
    """The stacks of a trace as lists of (function, line) of `target`; None for every other frame; a number for the end of a stack."""

    def __init__(self, path, target=TARGET):
        names, self.stacks, self.target = {}, {}, str(target)
        for line in decode.decode(pathlib.Path(path).read_bytes()):
            kind, *fields = line.split(" ")
            if kind == "stack":
                self.stacks[int(fields[0])] = [int(f) for f in fields[1:]]
            elif kind == "name" and fields[0] == "process" and fields[3] == "0":  # not inlined
                names[int(fields[2])] = (bytes.fromhex(fields[5]).decode(), bytes.fromhex(fields[6]).decode(), int(fields[7]))
        self.paths = [[self.frame(names, address, i) for i, address in enumerate(stack)]
                      for stack in self.stacks.values() if not any(MARKS & address for address in stack if address < KERNEL)]

    def frame(self, names, address, index):
        if address < ENDS:
            return address
        function, source, line = names.get(address - (index > 0), ("", "", 0))
        return (function, line) if source == self.target else None

    def of(self, function):
        """The parts of stacks that consist of the target's functions, where `function` is the innermost of them."""
        paths = [[frame for frame in path if isinstance(frame, tuple)] for path in self.paths]
        return [path for path in paths if path and path[0][0] == function]


MAIN = "<module>"


class Python(Live):
    def recorded(self, python):
        done = argus("record", "-o", str(self.path), *self.backend, "--", python, str(TARGET))
        self.assertEqual(done.returncode, 0, done.stderr)
        return Frames(self.path)

    def check(self, python, version):
        frames = self.recorded(python)
        main = line_of("recurse(3)")
        short = [("recurse", line_of("time.sleep"))] + 3 * [("recurse", line_of("recurse(depth - 1)"))] + [(MAIN, main)]
        self.assertIn(short, frames.of("recurse"))
        long = [path for path in frames.of("recurse") if len(path) > 50]
        if version != "3.13":  # there the outermost frame has the mark, which is not read: the interpreter's function stays
            self.assertTrue(long)
        self.assertTrue(all(set(path[1:]) == {("recurse", line_of("recurse(depth - 1)"))} for path in long), "no other function")
        self.assertTrue(all(path[-1] == 4 for path in frames.paths if long and path.count(long[0][-1]) > 50), "deeper: it says so")
        self.assertIn([("generate", line_of("time.sleep(0.03)") + 6), (MAIN, line_of("list(generate"))], frames.of("generate"))
        cooperates = [path for path in frames.of("cooperate") if path[0][1] == line_of("async def") + 1]
        self.assertTrue(cooperates and all(path[-1] == (MAIN, line_of("asyncio.run")) for path in cooperates))
        self.assertIn([("in_child", line_of("def in_child") + 1), (MAIN, line_of("child.start"))], frames.of("in_child"))
        self.assertIn([("key", line_of("def key") + 1), (MAIN, line_of("sorted"))], frames.of("key"))
        self.assertIn([("Worker.step", line_of("def step") + 1), ("Worker.run", line_of("self.step"))], frames.of("Worker.step"))
        self.assertFalse([path for path in frames.paths for frame in path if isinstance(frame, tuple) and "leut" in frame[0]])
        # A name that is not plain ASCII is unknown; its callers are known.
        self.assertIn([(MAIN, line_of("Ümlaut()"))], frames.of(MAIN))

    def test_lasting(self):
        """Threads that still wait when the recording ends: their frames are read at that time."""
        python = next(iter(pythons()))
        self.assertEqual(argus("start", *self.backend, "--ring-size", "16M").returncode, 0)
        target = subprocess.Popen([python, str(TARGET), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.wait)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.stdin.close)
        self.assertEqual(target.stdout.readline(), "ready\n")
        time.sleep(0.3)
        done = argus("stop", "-o", str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = Frames(self.path)
        self.assertIn([("read_input", line_of("sys.stdin.readline")), (MAIN, line_of("read_input()"))], frames.of("read_input"))
        self.assertTrue([path for path in frames.of("blocked") if path[0] == ("blocked", line_of("event.wait"))])

    def test_every_version(self):
        for python, version in pythons().items():
            with self.subTest(version=version, python=python):
                self.check(python, version)

    def test_memory_used_again(self):
        """Each function has its name, although another one was at the same address before."""
        python = next(iter(pythons()))
        done = argus("record", "-o", str(self.path), *self.backend, "--", python, str(TARGET), "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = Frames(self.path)
        found = [path[0] for number in range(10) for path in frames.of(f"again{number}")[:1]]
        self.assertLessEqual(set(found), {(f"again{number}", 2 + number) for number in range(10)})
        self.assertGreaterEqual(len(found), 7, "two at one address have the same 12 bits one time in 4096, and then no name")

    def test_answers(self):
        """The printed frames have the function, file and line instead of the interpreter's function."""
        python = next(iter(pythons()))
        self.recorded(python)
        text = argus("contexts", "--every", "--top=100", "--process", pathlib.Path(python).name[:15], str(self.path)).stdout
        self.assertIn("Worker.step  (python_target.py)", text)
        rows = [line for line in text.splitlines() if "Worker.step  (" in line]
        self.assertTrue(all(" main " in row for row in rows), rows)

    def diagnosed(self, python, mode):
        """The answer for the target when it freezes in this way."""
        done = argus("record", "-o", str(self.path), *self.backend, "--", python, str(TARGET), mode)
        self.assertEqual(done.returncode, 0, done.stderr)
        return argus("diagnose", "--auto", "--process", pathlib.Path(python).name[:15], str(self.path)).stdout

    def test_diagnosis(self):
        """The sentence names the script's function, file and line, even if frames of the interpreter are further in."""
        python = next(iter(pythons()))
        nap = line_of("time.sleep(2.5)")
        text = " ".join(self.diagnosed(python, "nap").split())
        self.assertIn(f"in load_settings (python_target.py:{nap})", text)
        self.assertIn(f"by load_settings (python_target.py:{nap}) by freeze", text)
        self.assertIn(f"in convert (python_target.py:{line_of('subprocess.run')})", " ".join(self.diagnosed(python, "child").split()))
        text = " ".join(self.diagnosed(python, "busy").split())
        self.assertIn(f"by crunch (python_target.py:{line_of('sum(')})", text)
        self.assertNotIn("<module> (tempfile.py): in", text, "modules have names of their own")

    @unittest.skipUnless(shutil.which("unshare") and shutil.which("objcopy"), "needs unshare and objcopy")
    def test_container(self):
        """A process in a mount namespace, with an interpreter that exists only there and has no build ID."""
        debian = next((python for python in pythons() if python.startswith("/usr/bin/")), None)
        if not debian:
            self.skipTest("no Python of the distribution")
        root = self.path.parent / "container"
        root.mkdir()
        script = (f"mount -t tmpfs tmpfs {root} && objcopy --remove-section=.note.gnu.build-id {debian} {root}/{pathlib.Path(debian).name}"
                  f" && PYTHONHOME=/usr exec {root}/{pathlib.Path(debian).name} {TARGET} wait")
        target = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.wait)
        self.addCleanup(target.stdout.close)
        self.addCleanup(target.stdin.close)
        self.assertEqual(target.stdout.readline(), "ready\n")
        self.assertEqual(argus("start", *self.backend, "--ring-size", "16M").returncode, 0)
        time.sleep(0.5)
        target.stdin.write("\n")
        target.stdin.flush()
        time.sleep(0.5)  # the process must live when the recording ends, because no other process has its files
        done = argus("stop", "-o", str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = Frames(self.path)
        self.assertIn([("recurse", line_of("time.sleep"))] + 3 * [("recurse", line_of("recurse(depth - 1)"))] + [(MAIN, line_of("recurse(3)", 2))],
                      frames.of("recurse"))


if __name__ == "__main__":
    if not pythons():
        print("skipped: no Python", " or ".join(VERSIONS))
        sys.exit(77)
    recorder_harness.main()
