#!/usr/bin/env python3
"""Threads that are runnable but get no CPU, on the real system: the records, and the culprits.

cpu_limits.py ARGUS: see recorder_harness.py. The control groups are of version 1 or 2, whichever the machine has.
"""
import json
import os
import pathlib
import sys
import time

from recorder_harness import Live, argus, main

CPU_LIMITS, CPU_GROUP = 0x60010028, 0x6001002C
QUOTA_US, PERIOD_US = 20000, 1000000
SECONDS = 4

# Waits, and then wants SECONDS of CPU time. `others` loops want the same meanwhile, under the same limits.
WANT = """
import os, sys, time
others, before, own = {others}, {before!r}, {own!r}
def limit():
    exec(before)
pids = []
for _ in range(others):
    pid = os.fork()
    if pid == 0:
        limit()
        open("/proc/self/comm", "w").write("taker")
        while True:
            pass
    pids.append(pid)
time.sleep(0.3)
wanting = os.fork()
if wanting == 0:
    limit()
    exec(own)
    until = time.monotonic() + {seconds}
    while time.monotonic() < until:
        pass
    os._exit(0)
os.waitpid(wanting, 0)
exec({after!r})  # who is throttled takes long to end
for pid in pids:
    os.kill(pid, 9)
for pid in pids:
    os.waitpid(pid, 0)
print(wanting, *pids)
"""


class Group:
    """A control group that may use QUOTA_US of each PERIOD_US; `directory` is None if none can be created."""

    def __init__(self):
        self.directory = None
        first, second = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
        for root, files in (first, {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": QUOTA_US}), (
                second, {"cpu.max": f"{QUOTA_US} {PERIOD_US}"}):
            directory = root / f"argus-limits-{os.getpid()}"
            try:
                directory.mkdir()
                for name, value in files.items():
                    (directory / name).write_text(str(value))
                self.directory = directory
                self.into = f"open('{directory}/cgroup.procs', 'w').write(str(os.getpid()))"
                unlimited = "-1" if "cpu.cfs_quota_us" in files else "max"
                self.lift = f"open('{directory}/{list(files)[-1]}', 'w').write('{unlimited}')"
                return
            except OSError:
                if directory.is_dir():
                    directory.rmdir()

    def remove(self):
        for _ in range(100):
            try:
                self.directory.rmdir()
                return
            except OSError:
                time.sleep(0.1)


class CpuLimits(Live):
    def group(self):
        group = Group()
        if not group.directory:
            self.skipTest("no control group with a cpu quota can be made")
        self.addCleanup(group.remove)
        return group

    def want(self, before, own="pass", others=0, after="pass"):
        """Records such a program. Returns the trace, the answer, the process that wanted a CPU, and the others."""
        trace, pids = self.record(WANT.format(before=before, own=own, others=others, after=after, seconds=SECONDS))
        wanting, *takers = map(int, pids)
        done = argus("diagnose", "--json", "--auto", "--pid", str(wanting), str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertTrue(answer["root_causes"], answer)
        return trace, answer["root_causes"], wanting, takers

    def check_group(self, trace, group, tid):
        records = [r[4] for r in trace.of(CPU_LIMITS, tid) if r[4][1]]
        inode = group.directory.stat().st_ino
        self.assertTrue(records)
        for record in records:
            self.assertEqual(record[1:], [inode, QUOTA_US * 1000, PERIOD_US * 1000])
        names = {b"".join(word.to_bytes(8, "little") for word in r[4]).rstrip(b"\0") for r in trace.of(CPU_GROUP, tid)}
        self.assertEqual(names, {group.directory.name.encode()[:31]})

    def test_a_quota_that_is_used_up(self):
        group = self.group()
        trace, causes, wanting, _ = self.want(group.into)
        self.check_group(trace, group, wanting)
        self.assertEqual(causes[0]["pid"], wanting, causes[0]["why"])
        self.assertIn(f"its control group {group.directory.name} (20.0 ms of cpu in each 1.00 s) had used up its cpu quota",
                      causes[0]["why"])

    def test_a_quota_that_others_use_up(self):
        group = self.group()
        trace, causes, wanting, takers = self.want(group.into, others=4, after=group.lift)
        self.check_group(trace, group, wanting)
        self.assertIn(causes[0]["pid"], takers, causes[0]["why"])
        self.assertIn("of the cpu quota of the control group", causes[0]["why"])
        self.assertEqual(causes[1]["pid"], wanting)

    def test_one_cpu_with_others(self):
        cpu = max(os.sched_getaffinity(0))
        trace, causes, wanting, takers = self.want(f"os.sched_setaffinity(0, [{cpu}])", "os.nice(5)", 3)
        if len(os.sched_getaffinity(0)) > 1:
            masks = {r[4][0] for r in trace.of(CPU_LIMITS, wanting)}
            self.assertEqual(masks - {1 << cpu}, set())
            self.assertIn(f"on cpu {cpu} (the only one that it may use)", causes[0]["why"])
        # On a busy machine other processes use that CPU as well, and then no single process is blamed.
        whys = [cause["why"] for cause in causes]
        self.assertTrue(any(f"taker [{pid}] and 2 more" in why and "at nice " in why for pid in takers for why in whys), whys)
        self.assertIn(wanting, [cause["pid"] for cause in causes])

    def test_nothing_is_told_of_threads_without_limits(self):
        if len(os.sched_getaffinity(0)) < os.cpu_count():
            self.skipTest("this test may not use all cpus itself")
        trace, (pid,) = self.record("import os, time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass\nprint(os.getpid())")
        self.assertEqual(trace.of(CPU_LIMITS, int(pid)), [])


if __name__ == "__main__":
    main()
