#!/usr/bin/env python3
"""`argus why` is killed at random moments, and what it looked at goes on: test_kills.py ARGUS STUCK SCHEMA [KILLS].

The dangerous moments are those in which a running thread is stopped to be sampled. So perf_event is not allowed here, as on many
machines. 100 kills, or as many as are given; `test_kills.py … 1000` takes about two minutes.
"""
import ctypes
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest

from asking import ARGUS, Stuck, cpu_ticks, settled, status

KILLS = int(sys.argv[4]) if len(sys.argv) > 4 else 100
DRIVERS = 4
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)


def forbid_perf_event():
    """A seccomp filter: perf_event_open() returns EPERM (linux/filter.h, linux/seccomp.h)."""
    load, equal, give = 0x20, 0x15, 0x06
    rows = [(load, 0, 0, 0), (equal, 0, 1, PERF_EVENT_OPEN), (give, 0, 0, 0x00050000 | 1), (give, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rows), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):  # NO_NEW_PRIVS, SECCOMP
        os._exit(99)


def value_of(pid, field):
    return next(line.split()[1] for line in status(pid) if line.startswith(field))


def waits_until(condition):
    until = time.monotonic() + 60
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Kills(unittest.TestCase):
    def kill_often(self, pid, count, seed):
        """Most kills come while argus walks and begins to sample, the others while it samples."""
        try:
            self.kill_each(pid, count, seed)
        except Exception as error:  # an exception in a thread fails no test
            self.failures.append(repr(error))

    def kill_each(self, pid, count, seed):
        moment = random.Random(seed)
        for number in range(count):
            with subprocess.Popen([ARGUS, "why", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  preexec_fn=forbid_perf_event) as argus:
                time.sleep(moment.random() * (0.3 if number % 3 else 1.2))
                argus.kill()
                self.killed += argus.wait() == -signal.SIGKILL  # else it had ended before
            is_free = waits_until(lambda: value_of(pid, "TracerPid:") == "0" and value_of(pid, "State:") in "RS")
            if not is_free:
                self.failures.append(f"kill {number}: {value_of(pid, 'State:')}, traced by {value_of(pid, 'TracerPid:')}")
                return

    def test_running_threads_go_on(self):
        self.failures, self.killed = [], 0
        running = [Stuck("runs") for _ in range(DRIVERS)]
        pids = [one.ids["main"] for one in running]
        seed = random.randrange(1 << 32)
        drivers = [threading.Thread(target=self.kill_often, args=(pid, KILLS // DRIVERS, seed + pid)) for pid in pids]
        for driver in drivers:
            driver.start()
        for driver in drivers:
            driver.join()
        before = [cpu_ticks(pid) for pid in pids]
        moved = [waits_until(lambda pid=pid, ticks=ticks: cpu_ticks(pid) != ticks) for pid, ticks in zip(pids, before)]
        for one in running:
            one.__exit__()
        self.assertEqual((self.failures, moved), ([], [True] * DRIVERS), f"seed {seed}")
        self.assertGreater(self.killed, KILLS // 4, f"seed {seed}")

    def test_samples_by_stops(self):
        """Without perf_event, the thread's functions are found by short stops, and it goes on."""
        with Stuck("runs") as stuck:
            pid = stuck.ids["main"]
            settled(pid, lambda path: path[0]["wait"]["kind"] == "runs")
            answer = self.sampled_by_stops(pid)
            functions = [function["function"] for function in answer["samples"]["functions"]]
            ticks = cpu_ticks(pid)
            self.assertTrue(waits_until(lambda: cpu_ticks(pid) != ticks))
        self.assertEqual(answer["samples"]["by"], "stops")
        self.assertIn("runs", functions)
        self.assertIn("main", functions)

    def sampled_by_stops(self, pid):
        """Until there are samples: on a crowded machine the thread may get no CPU for a second."""
        until = time.monotonic() + 60
        while True:
            done = subprocess.run([ARGUS, "why", "--json", str(pid)], capture_output=True, text=True, timeout=60,
                                  preexec_fn=forbid_perf_event)
            answer = json.loads(done.stdout)
            if answer["samples"] and answer["samples"]["samples"] or time.monotonic() > until:
                return answer


if __name__ == "__main__":
    if not PERF_EVENT_OPEN:
        print("no number of perf_event_open() is known for this machine")
        sys.exit(77)
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() and scope.exists() and scope.read_text().strip() != "0":
        print("only root may stop threads of other processes: kernel.yama.ptrace_scope")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
