"""What the tests of hooks share: a folder, tables, and running argus-hook."""
import argparse
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest


def machine_of(program):
    """The processor of an ELF file, named as platform.machine() does."""
    with open(program, "rb") as file:
        number = int.from_bytes(file.read(20)[18:20], "little")
    return {62: "x86_64", 183: "aarch64"}[number]


class HooksTest(unittest.TestCase):
    build = work = None

    @property
    def machine(self):
        return machine_of(self.build / "bin/argus-hook")

    @property
    def is_emulated(self):
        return self.machine != platform.machine()

    def environment(self, preload=(), **more):
        """The environment for a hooked program. Under qemu-user the emulator's own threads are hidden from it."""
        libraries = [str(self.work / "libhide-emulator.so")] if self.is_emulated else []
        libraries += preload
        preloaded = {"LD_PRELOAD": ":".join(libraries)} if libraries else {}
        return {**os.environ, **preloaded, **more}

    def skip_where_emulated(self):
        """Skips a test that needs programs of this machine, such as python3: they cannot load libraries for another processor."""
        if self.is_emulated:
            self.skipTest("the programs of this machine are not for " + self.machine)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-hooks-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.victims = str(self.work / "libargus-victims.so")

    def table(self, text, name="t.conf"):
        """Writes a table; VICTIMS stands for the library of victims."""
        path = self.path / name
        path.write_text(text.replace("VICTIMS", self.victims), encoding="utf-8")
        return str(path)

    def hook(self, *words, code=0, **options):
        """Runs argus-hook and returns its output; if it is expected to fail, its stderr."""
        result = subprocess.run([str(self.build / "bin/argus-hook"), *words], capture_output=True, text=True, timeout=60,
                                check=False, **options)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr if code else result.stdout

    def make(self, text, name="hooks.so"):
        path = str(self.path / name)
        self.hook("make", self.table(text), "-o", path)
        return path

    def run_program(self, argv, code=0, env=None):
        """Runs a program; returns its stdout, followed by its stderr."""
        result = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    HooksTest.build, HooksTest.work = options.build, options.work
    unittest.main(argv=[sys.argv[0], *rest])
