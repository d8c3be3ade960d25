#!/usr/bin/env python3
"""A trace carries its names: names.py ARGUS CC.

Each program is compiled here, recorded, and gone when its trace is read: by `argus graph show`, contexts and diagnose.
Needs root and a kernel that records, else skipped (77); see recorder_harness.py.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as live  # noqa: E402

CC = sys.argv.pop(2) if len(sys.argv) > 2 else "cc"
LITTLE = ["--no-probes", "--only", "syscalls,stacks", "--backend", "bpf"]

RESTER = """
#include <time.h>
__attribute__((noinline)) void NAME_rests(int ms) { struct timespec t = {0, ms * 1000000L}; nanosleep(&t, 0); __asm__ volatile(""); }
__attribute__((noinline)) static void NAME_waits(void) { NAME_rests(60); __asm__ volatile(""); }
int main(int argc, char **argv) { for (int i = 0; i < (argc > 1 ? 400 : 8); i++) NAME_waits(); return 0; }
"""

# Copies a function into memory that it may execute, and says so in /tmp/perf-PID.map.
MAKER = """
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
typedef int (*sleeper)(const struct timespec *, struct timespec *);
__attribute__((noinline, section("copied_code"))) void copied(sleeper function, const struct timespec *t) { function(t, 0); __asm__ volatile(""); }
int main(int argc, char **argv)
{
    char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, (void *)copied, 256);
    char path[64];
    snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
    FILE *map = fopen(path, "w");
    if (argc > 1)
        fprintf(map, "garbage\\n%lx zz no\\n%lx 100 made::at_run_time\\n", (long)code, (long)code);
    fclose(map);
    struct timespec t = {0, 60000000};
    for (int i = 0; i < 8; i++)
        ((void (*)(sleeper, const struct timespec *))code)(nanosleep, &t);
    puts(path);
    return 0;
}
"""


class Names(unittest.TestCase):
    def setUp(self):
        folder = live.tempfile.TemporaryDirectory(prefix="argus-names-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = str(self.folder / "t.argus")
        self.addCleanup(lambda: live.argus("stop"))

    def build(self, source, name, *flags):
        text, program = self.folder / f"{name}.c", self.folder / name
        text.write_text(source.replace("NAME", name))
        subprocess.run([CC, "-g", "-O1", "-fno-omit-frame-pointer", *flags, "-o", program, text], check=True)
        return str(program)

    def record(self, *command, options=()):
        done = live.argus("record", "-o", self.path, *LITTLE, *options, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record_and_leave(self, script):
        """The program whose id `script` prints lives on until its names were looked up."""
        os.kill(int(self.record("sh", "-c", f"({script}) 2>/dev/null")), signal.SIGKILL)

    def frames(self, process):
        """All frames of the long waits of `process`, as they are shown."""
        done = live.argus("graph", "find", "--no-cache", "--json", "--process", process, "--longer-than", "20ms", self.path)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        frames = set()
        for vertex in json.loads(done.stdout)["vertices"]:
            shown = live.argus("graph", "show", self.path, vertex["id"], "--json")
            frames.update(json.loads(shown.stdout).get("wait_stack") or [])
        self.assertTrue(frames, "no stack of a wait")
        return frames

    def assert_named(self, process, with_lines=True):
        frames = self.frames(process)
        wanted = f"{process}_waits ({process}.c:" if with_lines else f"{process}_waits"
        self.assertTrue(any(frame.startswith(wanted) for frame in frames), frames)

    def assert_not_named(self, process):
        frames = self.frames(process)
        self.assertFalse(any("_waits" in frame or "_rests" in frame for frame in frames), frames)
        return frames

    def test_the_program_is_gone(self):
        program = self.build(RESTER, "gone")
        self.record(program)
        shutil.move(program, program + ".away")
        self.assert_named("gone")
        contexts = live.argus("contexts", "--no-cache", "--process", "gone", self.path)
        self.assertIn("gone_waits", contexts.stdout)

    def test_no_symbols(self):
        program = self.build(RESTER, "bare")
        self.record(program, options=["--no-symbols"])
        self.assert_named("bare")  # the file is there
        os.unlink(program)
        self.assert_not_named("bare")

    def test_another_build_at_its_path(self):
        for flags in ((), ("-Wl,--build-id=none",)):
            program = self.build(RESTER, "first", *flags)
            self.record(program, options=["--no-symbols"])
            os.unlink(program)
            other = self.build(RESTER.replace("int main", "int other(void) { return 1; }\nint main"), "second", *flags)
            shutil.move(other, program)
            self.assert_not_named("first")
            os.unlink(program)
            program = self.build(RESTER, "first", *flags)
            self.record(program)
            shutil.copy(self.build(RESTER, "second", *flags), program)
            self.assert_named("first")

    def test_deleted_while_it_runs(self):
        program = self.build(RESTER, "deleted")
        self.record_and_leave(f"{program} long >/dev/null & echo $!; sleep 0.3; rm {program}; sleep 0.7")
        self.assert_named("deleted")

    def test_another_mount_namespace(self):
        program = self.build(RESTER, "hidden")
        place = self.folder / "place"
        place.mkdir()
        script = (f"mount --make-rprivate / && mount -t tmpfs none {place} && cp {program} {place}/hidden && rm {program} && "
                  f"exec {place}/hidden long")
        self.record_and_leave(f"unshare -m sh -c '{script}' >/dev/null & echo $!; sleep 1.5")
        self.assert_named("hidden")

    def test_a_ring_file(self):
        program = self.build(RESTER, "ringed")
        self.record(program, options=["--ring-size", "4M"])
        os.unlink(program)
        self.assert_named("ringed")

    def test_a_snapshot(self):
        program = self.build(RESTER, "kept")
        started = live.argus("start", *LITTLE)
        self.assertEqual(started.returncode, 0, started.stderr)
        subprocess.run([program], check=True)
        done = live.argus("snapshot", "-o", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        live.argus("stop")
        os.unlink(program)
        self.assert_named("kept")

    def test_code_made_at_run_time(self):
        program = self.build(MAKER, "maker")
        path = pathlib.Path(self.record(program, "named").strip())
        path.unlink()
        self.assertIn("made::at_run_time", self.frames("maker"))

    def test_a_list_that_is_another_users(self):
        program = self.build(MAKER, "maker")
        path = self.record("sh", "-c", f"{program} named & wait $!; chown 12345 /tmp/perf-$!.map").strip()
        pathlib.Path(path).unlink()
        self.assertNotIn("made::at_run_time", self.frames("maker"))


if __name__ == "__main__":
    live.main()
