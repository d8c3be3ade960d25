#!/usr/bin/env python3
"""Records of hooks in a recording, on the real system: each hit once, by which thread, and with its name.

live_hooks.py ARGUS ARGUS-HOOK HOOKED LIBRARY GTK-PROGRAM (none: skipped). See ../recorder/recorder_harness.py.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "recorder"), str(HERE.parent / "toolkits")]
from display import Display  # noqa: E402
from recorder_harness import Live, Trace, argus, cannot_record, decode, machine, syscall_id  # noqa: E402

HOOK_PROGRAM, HOOKED, LIBRARY, GTK = sys.argv[2:6]
NOTE, QUEUED, BEGIN, FLAG_WRITE = 0x60030018, 0x60030004, 0x60030009, 0x60050004
GETPID = {"x86_64": 39, "aarch64": 172}[os.uname().machine]


class Hooks(Live):
    def make(self, text, *options):
        table, library = self.folder / "t.conf", str(self.folder / "hooks.so")
        table.write_text(text, encoding="utf-8")
        done = subprocess.run([HOOK_PROGRAM, "make", str(table), "-o", library, *options], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return library

    def make_in_the_middle(self, image, function):
        """A hook in the middle of a function: at the first suitable instruction after the fourth, since compilers differ."""
        table, library = self.folder / f"{image}.conf", str(self.folder / f"{image}.hooks.so")
        for skip in range(4, 30):
            table.write_text(f"{image} note {function} skip={skip} key=rdi\n", encoding="utf-8")
            if subprocess.run([HOOK_PROGRAM, "make", str(table), "-o", library], capture_output=True, check=False).returncode == 0:
                return library
        return self.fail(f"no hook can be in {function}")

    def record_hooks(self, library, *command, options=(), **more):
        done = argus("record", "-o", str(self.path), *options, "--hooks", library, "--", *command, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        return Trace(self.path), done.stdout

    def check_shapes(self, options):
        library = self.make("lib note victim_loop+2 key=rdi other=rax label=\"round of the loop\"\n"
                            "lib queue victim_short key=rdi function=rsp->0\n"
                            "lib begin victim_tail key=rdi\n"
                            "lib flag_write victim_rip key=rdi other=rdi:u32\n"
                            "lib note victim_red_zone when=rdi=6\n".replace("lib ", "libargus-victims.so "), "--image", LIBRARY)
        trace, _ = self.record_hooks(library, HOOKED, "once", options=options)
        rounds = [record[4] for record in trace.of(NOTE) if record[4][0]]  # the other hook's note has no key
        # the loop sums 10 + 9 + … + 1, and the hook is before each addition
        self.assertEqual([(a[0], a[3]) for a in rounds], [(10 - i, sum(range(11 - i, 11))) for i in range(10)])
        self.assertEqual(len(trace.of(NOTE)), 11)
        self.assertEqual([r[4][0] for r in trace.of(QUEUED) if r[4][2] >= 0x10000], [5])
        self.assertEqual([r[4][0] for r in trace.of(BEGIN) if r[4][2] >= 0x10000], [5])
        self.assertEqual([(r[4][0], r[4][1], r[4][2] >> 56) for r in trace.of(FLAG_WRITE)], [(5, 5, 0x14)])
        tids = {record[1] for kind in (NOTE, FLAG_WRITE) for record in trace.of(kind)}
        self.assertEqual(len(tids), 1)
        label = b"round of the loop".hex()
        self.assertTrue(any(label in line for line in decode.decode(self.path.read_bytes()) if line.startswith("probe ")))
        return trace, tids.pop()

    def test_shapes(self):
        trace, tid = self.check_shapes(("--backend", "bpf"))
        # the call that transports a hook's record is not recorded as a system call
        carried = [r for r in trace.of(syscall_id(GETPID), tid) if r[4][0] == 0x4B4F4F4853554752]
        self.assertEqual(carried, [])
        self.assertEqual(len(trace.of(syscall_id(GETPID), tid)), len(trace.of(syscall_id(GETPID, True), tid)))

    def test_shapes_without_bpf(self):
        self.check_shapes(("--backend", "perf"))

    def test_without_probes_there_are_none(self):
        library = self.make("libargus-victims.so note victim_loop+2\n", "--image", LIBRARY)
        trace, _ = self.record_hooks(library, HOOKED, "once", options=("--backend", "bpf", "--no-probes"))
        self.assertEqual(trace.of(NOTE), [])

    def test_not_a_library_of_hooks(self):
        done = argus("record", "-o", str(self.path), "--hooks", LIBRARY, "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("is not a library with hooks", done.stderr)

    def test_a_gtk_application(self):
        """Hooks in GLib's main loop, and in the middle of libX11 and of malloc(), which timers and another thread call all the time."""
        if GTK == "none" or not shutil.which("Xvfb"):
            self.skipTest("no GTK 3 or no Xvfb here")
        libraries = [self.make("libglib-2.0.so.0 queue g_source_attach key=arg1 skip=1 label=\"GLib source\"\n"
                               "libglib-2.0.so.0 turn g_main_context_prepare skip=1\n"),
                     self.make_in_the_middle("libX11.so.6", "_XEnq"), self.make_in_the_middle("libc.so.6", "malloc")]
        with Display() as display:
            options = [word for library in libraries[1:] for word in ("--hooks", library)]
            trace, out = self.record_hooks(libraries[0], GTK, options=options, env=display.environment)
        self.assertIn("ticks 100, idle 1000\n", out)
        numbers = {record[4][2] for record in trace.of(NOTE)}
        self.assertEqual(len(numbers), 2)  # X11 and malloc
        queued = [record for record in trace.of(QUEUED) if record[4][2] >= 0x10000]
        self.assertGreaterEqual(len(queued), 1000)
        self.assertGreaterEqual(len({record[1] for record in queued}), 2)  # the main thread, and the other one


if __name__ == "__main__":
    if cannot_record():
        print("skipped:", cannot_record())
        sys.exit(77)
    machine.enter_namespace()
    unittest.main(argv=sys.argv[:1], verbosity=2)
