#!/usr/bin/env python3
"""A recording that costs more than --max-overhead allows leaves out categories, says so, and records them again.
See recorder_harness.py."""
import json
import os
import platform
import subprocess
import sys
import time

from recorder_harness import SWITCH, Live, Trace, argus, eventually, links_of, main, status, syscall_id

GETPPID = {"x86_64": 110, "aarch64": 173}[platform.machine()]
LEFT_OUT = 0x6004000C
CALLS = 1 << 1
FLOOD = "import os\ncall = os.getppid\nwhile True:\n  for i in range(10000): call()"
# An event loop, by poll(), that always comes back; before it goes on with the next turn, it computes for a moment.
LOOP = """
import select, socket, sys, time
a, b = socket.socketpair()
poll = select.poll()
poll.register(a, select.POLLIN)
while True:
    poll.poll(20)
"""


class Overhead(Live):
    def run_beside(self, script):
        process = subprocess.Popen([sys.executable, "-c", script])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start(self, *options):
        done = argus("start", *self.backend, "--frame-pointers", "--no-probes", *options)
        self.assertEqual(done.returncode, 0, done.stderr)

    def left_out(self):
        return status()["overhead"]["left_out"]

    def test_a_flood_of_system_calls(self):
        """Out under the flood; back after it; marks and notes in the file; no hang of the loop that was not seen."""
        loop = self.run_beside(LOOP)
        self.start("-o", str(self.path), "--ring-size", "300M", "--max-overhead", "0.5%")
        pid = self.recorder()
        before = len(links_of(pid))
        flood = self.run_beside(FLOOD)
        self.assertTrue(eventually(lambda: "syscalls" in self.left_out(), 40), status()["overhead"])
        out_ns = time.monotonic_ns()
        self.assertLess(len(links_of(pid)), before)
        text = argus("status").stdout
        self.assertIn("syscalls left out", text)
        self.assertRegex(text, r"left out since \d\d:\d\d:\d\d \(\d+ s\): syscalls")
        time.sleep(3)
        flood.kill()
        flood.wait()
        self.assertEqual(argus("stop", "--no-symbols").returncode, 0)
        trace = Trace(self.path)
        marks = trace.of(LEFT_OUT)
        begin = next(m[0] for m in marks if m[4][0] & CALLS)
        after = [m[0] for m in marks if m[0] > begin and m[4][0] & CALLS and m[4][1] & CALLS]
        self.assertTrue(after)
        calls = [r[0] for r in trace.records if r[2] in (syscall_id(GETPPID), syscall_id(GETPPID, True))]
        self.assertTrue([c for c in calls if c < begin])
        self.assertFalse([c for c in calls if after[0] < c < out_ns + 2_000_000_000])
        self.assertTrue([r for r in trace.of(SWITCH) if after[0] < r[0]])
        info = argus("info", str(self.path)).stdout
        self.assertRegex(info, r"missing +some records of: system calls, messages")
        self.assertIn("recorded partly without syscalls, to stay below --max-overhead: ", info)
        hangs = argus("hangs", str(self.path), "--pid", str(loop.pid), "--json")
        self.assertEqual(hangs.returncode, 0, hangs.stderr)
        # with a process given, its longest stretch is listed if nothing hung
        found = [hang for hang in json.loads(hangs.stdout)["hangs"] if hang["indicator"] != "longest stretch"]
        self.assertEqual(found, [])

    def test_it_comes_back(self):
        """Without a load that lasts, everything is recorded again, from all places that were attached before."""
        self.start("--ring-size", "256M", "--max-overhead", "6%")
        pid = self.recorder()
        before = len(links_of(pid))
        floods = [self.run_beside(FLOOD) for _ in range(os.cpu_count())]
        self.assertTrue(eventually(lambda: "syscalls" in self.left_out(), 40), status()["overhead"])
        for flood in floods:
            flood.kill()
            flood.wait()
        if not eventually(lambda: not self.left_out(), 60):
            self.skipTest(f"the machine is too busy: {status()['overhead']}")
        self.assertEqual(len(links_of(pid)), before)
        script = "import os, time\nfor i in range(100):\n  os.getppid()\n  time.sleep(0.001)\nprint(os.getpid())"
        tid = int(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        self.assertEqual(argus("stop", "--no-symbols", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        self.assertEqual(len(trace.of(syscall_id(GETPPID, True), tid)), 100)
        marks = trace.of(LEFT_OUT)  # none if the ring has forgotten that time
        self.assertEqual(marks[-1][4][0] if marks else 0, 0)

    def test_what_it_refuses(self):
        for text in ("0", "101%", "-1", "3x", "nan", ""):
            done = argus("start", "--max-overhead", text)
            self.assertEqual(done.returncode, 2, text)
        done = argus("start", "--backend", "perf", "--max-overhead", "3%")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot leave out categories for --max-overhead", done.stderr)
        self.assertFalse(status()["recording"])


if __name__ == "__main__":
    main()
