#!/usr/bin/env python3
"""A trace carries its names: names.py ARGUS CC.

Each program is compiled here, recorded, and deleted before its trace is read: by `argus graph show`, contexts and diagnose. The same
trace is also read in a root folder that has only argus itself.
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

# Copies a function into executable memory, and lists it in /tmp/perf-PID.map.
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
    for (int i = 0; i < (argc > 2 ? 400 : 8); i++)
        ((void (*)(sleeper, const struct timespec *))code)(nanosleep, &t);
    puts(path);
    return 0;
}
"""

# An event loop that hangs in its own functions.
LOOP = """
#include <poll.h>
#include <time.h>
#include <unistd.h>
static int ends[2];
static void idle(int times) { struct pollfd f = {ends[0], POLLIN, 0}; for (int i = 0; i < times; i++) poll(&f, 1, 50); }
__attribute__((noinline)) void NAME_rests(int ms) { struct timespec t = {ms / 1000, ms % 1000 * 1000000L}; nanosleep(&t, 0); __asm__ volatile(""); }
__attribute__((noinline)) static void NAME_waits(void) { NAME_rests(900); __asm__ volatile(""); }
int main(void) { if (pipe(ends)) return 1; idle(10); NAME_waits(); idle(20); return 0; }
"""


class Elsewhere:
    """A root folder with only argus and its libraries, at other places than here; it does not even have /proc."""

    def __init__(self, folder):
        self.root = folder / "elsewhere"
        (self.root / "argus").mkdir(parents=True)
        listed = subprocess.run(["ldd", live.ARGUS], check=True, capture_output=True, text=True).stdout
        libraries = [word for word in listed.split() if word.startswith("/")]
        for file in {live.ARGUS, *libraries}:
            shutil.copy(file, self.root / "argus")
        self.linker = next("/argus/" + pathlib.Path(word).name for word in libraries if "/ld-" in word)
        self.needs_proc = "libasan" in listed

    def argus(self, *words):
        command = ["chroot", self.root, self.linker, "--library-path", "/argus", "/argus/" + pathlib.Path(live.ARGUS).name]
        return subprocess.run([*command, *words], capture_output=True, text=True, timeout=60)


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

    def record(self, *command, options=(), what=LITTLE):
        done = live.argus("record", "-o", self.path, *what, *options, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def record_and_leave(self, script):
        """The program whose ID `script` prints runs until its names have been looked up."""
        os.kill(int(self.record("sh", "-c", f"({script}) 2>/dev/null")), signal.SIGKILL)

    def frames(self, process):
        """All frames of the long waits of `process`, as Argus prints them."""
        done = live.argus("graph", "find", "--no-cache", "--json", "--process", process, "--longer-than", "20ms", self.path)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        frames = set()
        for vertex in json.loads(done.stdout)["vertices"]:
            shown = live.argus("graph", "show", self.path, vertex["id"], "--json")
            frames.update(json.loads(shown.stdout).get("wait_stack") or [])
        self.assertTrue(frames, "no stack of a wait")
        return frames

    def long_wait(self, process, at_least="20ms"):
        done = live.argus("graph", "find", "--no-cache", "--json", "--process", process, "--longer-than", at_least, self.path)
        waits = [v for v in json.loads(done.stdout)["vertices"] if (v["wait_on"] or "").startswith("clock_nanosleep")]
        self.assertTrue(waits, done.stdout)
        return waits[0]["id"]

    def names_in_file(self):
        lines = live.decode.decode(pathlib.Path(self.path).read_bytes())
        return sum(line.startswith("name ") for line in lines)

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
        self.assert_named("bare")  # the file still exists
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

    def test_a_container(self):
        """A container with its own process IDs as well, which are in the names of the lists of generated code."""
        program = self.build(RESTER, "boxed")
        maker = self.build(MAKER, "maker")
        place = self.folder / "place"
        place.mkdir()
        inside = (f"mount --make-rprivate / && mkdir {place}/in && mount -t tmpfs none {place}/in && "
                  f"cp {program} {maker} {place}/in && rm {program} {maker} && cd {place}/in && mount -t tmpfs none /tmp && "
                  "(./maker named long & ./boxed long)")
        self.record_and_leave(f"unshare -mpf --kill-child --mount-proc sh -c '{inside}' >/dev/null & echo $!; sleep 2.5")
        self.assert_named("boxed")
        self.assertIn("made::at_run_time", self.frames("maker"))

    def test_on_another_machine(self):
        elsewhere = Elsewhere(self.folder)
        if elsewhere.needs_proc:
            self.skipTest("the address sanitizer needs /proc")
        program = self.build(LOOP, "moved")
        self.record(program, what=[])
        vertex = self.long_wait("moved")
        there = self.path  # the same path in both root folders
        (elsewhere.root / there[1:]).parent.mkdir(parents=True)
        shutil.copy(there, elsewhere.root / there[1:])
        for words in (("graph", "show", "--no-cache", there, vertex), ("graph", "show", "--no-cache", "--json", there, vertex),
                      ("slice", "--no-cache", "--auto", there, vertex), ("diagnose", "--no-cache", "--auto", "--json", there, vertex),
                      ("contexts", "--tree", "--json", "--no-cache", there),
                      ("contexts", "--no-cache", "--process", "moved", there), ("graph", "check", "--no-cache", there),
                      ("hangs", "--no-cache", "--threshold", "500ms", there), ("graph", "export", "--no-cache", there)):
            with self.subTest(words):
                here, other = live.argus(*words), elsewhere.argus(*words)
                self.assertEqual((here.returncode, here.stderr), (other.returncode, other.stderr))
                self.assertTrue(here.stdout)
                self.assertTrue(here.stdout == other.stdout, "another answer than here")
        self.assertIn("moved_waits (moved.c:", elsewhere.argus("graph", "show", there, vertex).stdout)

    def test_every_answer_says_what_has_no_symbol(self):
        program = self.build(LOOP, "unsaid")
        self.record(program, options=["--no-symbols"], what=[])
        os.unlink(program)
        vertex = self.long_wait("unsaid")
        page = str(self.folder / "page.html")
        for words in (("graph", "show", self.path, vertex), ("diagnose", "--auto", self.path, vertex),
                      ("contexts", "--process", "unsaid", self.path)):
            with self.subTest(words):
                self.assertRegex(live.argus(*words).stdout, r"(?s)\d of \d+ frames have no symbol, because .*the\s+file\s+is\s+gone")
                numbers = json.loads(live.argus(*words, "--json").stdout)["unnamed_frames"]
                self.assertGreater(numbers["frames"], numbers["unnamed"])
                self.assertEqual(sum(why["frames"] for why in numbers["why"]), numbers["unnamed"])
                self.assertIn("the file is gone", [why["reason"] for why in numbers["why"]])
        for words in (("graph", "export", "--process", "unsaid", self.path),
                      ("contexts", "--format", "folded", "--process", "unsaid", self.path)):
            self.assertRegex(live.argus(*words).stderr, r"frames have no symbol, because")
        for words in ("hangs", self.path), ("graph", "check", self.path), ("slice", "--auto", self.path, vertex):
            self.assertIn("unnamed_frames", json.loads(live.argus(*words, "--json").stdout))
        self.assertEqual(live.argus("report", self.path, "-o", page).returncode, 0)
        self.assertIn("frames have no symbol, because", pathlib.Path(page).read_text())

    def test_no_symbols_of_stop_and_snapshot(self):
        program = self.build(RESTER, "short")
        for options in [], ["--no-symbols"]:
            started = live.argus("start", *LITTLE)
            self.assertEqual(started.returncode, 0, started.stderr)
            subprocess.run([program], check=True)
            for command in "snapshot", "stop":
                done = live.argus(command, "-o", self.path, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.names_in_file() > 0, not options, command)

    def test_diagnose_of_a_program_that_is_gone(self):
        program = self.build(LOOP, "asked")
        self.record(program, what=[])
        os.unlink(program)
        done = live.argus("diagnose", "--auto", "--json", "--no-cache", self.path, self.long_wait("asked"))
        stacks = [cause["stack"] for cause in json.loads(done.stdout)["root_causes"]]
        self.assertTrue(any(frame.startswith("asked_waits (asked.c:") for stack in stacks for frame in stack), done.stdout)

    def test_a_program_in_memory(self):
        """Container launchers start programs from a memfd: a file without a path, which can be opened while it runs."""
        program = self.build(RESTER, "inmemory", "-Wl,--build-id=none")
        script = ("import os,sys; fd = os.memfd_create('kept', 0); os.write(fd, open(sys.argv[1], 'rb').read()); os.unlink(sys.argv[1]); "
                  "os.execv(f'/proc/self/fd/{fd}', ['inmemory', 'long'])")
        runner = self.folder / "runner.py"
        runner.write_text(script)
        done = live.argus("record", "-o", self.path, *LITTLE, "--", "sh", "-c",
                          f"{sys.executable} {runner} {program} >/dev/null 2>&1 & echo $!; sleep 1.5")
        pid = int(done.stdout)
        name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
        os.kill(pid, signal.SIGKILL)
        frames = self.frames(name)
        self.assertTrue(any(frame.startswith("inmemory_waits (inmemory.c:") for frame in frames), frames)

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

    def test_a_program_that_waited_all_the_time(self):
        """Only the records at the end have its stack."""
        program = self.build(LOOP.replace("idle(10); NAME_waits()", "NAME_waits()").replace("900", "900000"), "still")
        with subprocess.Popen([program]) as running:
            try:
                live.time.sleep(0.5)
                self.record("sleep", "1", what=[])
            finally:
                running.kill()
        os.unlink(program)
        self.assert_named("still")

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
