#!/usr/bin/env python3
"""Programs that get no memory, on the real system: the records of stalls and sizes.

memory_limits.py ARGUS: see recorder_harness.py. The control group is of version 1 or 2, whichever the machine has.
"""
import json
import os
import pathlib
import time

from recorder_harness import Live, argus, main

MEMORY_STALL, MEMORY_GROUP, MEMORY_SIZE = 0x60020040, 0x60020044, 0x60020048
GROUP_RECLAIM = 2
MB = 1 << 20
LIMIT, FILE_BYTES, GROWN = 48 * MB, 200 * MB, 200 * MB

# Writes a file that is larger than its group may have pages, and reads it again and again.
READER = """
import os, time
{into}
path = {path!r}
with open(path, "wb") as file:
    for _ in range({megabytes}):
        file.write(os.urandom(1 << 20))
until = time.monotonic() + 3
while time.monotonic() < until:
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
os.unlink(path)
print(os.getpid())
"""

GROWER = """
import os, time
kept = []
for _ in range({megabytes}):
    kept.append(bytearray(os.urandom(1 << 20)))
until = time.monotonic() + 0.5
while time.monotonic() < until:
    pass
print(os.getpid())
"""


# A waiter needs its pages again and again; so does the taker, which has more of them. Both share a group that is too small.
SHARED = """
import os, time
{into}
def touch(megabytes, seconds):
    pages = bytearray(megabytes << 20)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for start in range(0, len(pages), 1 << 20):
            pages[start:start + (1 << 20):4096] = bytes(256)
taker = os.fork()
if taker == 0:
    touch(160, 60)
    os._exit(0)
time.sleep(0.5)
waiter = os.fork()
if waiter == 0:
    touch(30, 4)
    os._exit(0)
os.waitpid(waiter, 0)
os.kill(taker, 9)
os.waitpid(taker, 0)
print(waiter, taker)
"""


def has_swap():
    return len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1


def new_group():
    """A control group of LIMIT bytes, and the file that has its limit; None if none can be made."""
    for root, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        directory = pathlib.Path(root) / f"argus-memory-{os.getpid()}"
        try:
            directory.mkdir()
            (directory / file).write_text(str(LIMIT))
            return directory
        except OSError:
            if directory.is_dir():
                directory.rmdir()
    return None


def remove(directory):
    for _ in range(100):
        try:
            directory.rmdir()
            return
        except OSError:
            time.sleep(0.1)


class MemoryLimits(Live):
    def test_a_group_at_its_limit(self):
        group = new_group()
        if not group:
            self.skipTest("no control group with a memory limit can be made")
        self.addCleanup(remove, group)
        into = f"open('{group}/cgroup.procs', 'w').write(str(os.getpid()))"
        path = str(self.path) + ".large"
        trace, (pid,) = self.record(READER.format(into=into, path=path, megabytes=FILE_BYTES // MB))
        stalls = [r[4] for r in trace.of(MEMORY_STALL, int(pid))]
        at_limit = [r for r in stalls if r[0] & 0xFF == GROUP_RECLAIM and r[2]]
        self.assertTrue(at_limit, stalls)
        for what, length, inode, limit in at_limit:
            self.assertGreaterEqual(length, 1000000)
            self.assertEqual((inode, limit), (group.stat().st_ino, LIMIT))
        self.assertGreater(sum(r[0] >> 8 for r in at_limit), LIMIT)
        names = {b"".join(word.to_bytes(8, "little") for word in r[4]).rstrip(b"\0") for r in trace.of(MEMORY_GROUP, int(pid))}
        self.assertEqual(names, {group.name.encode()[:31]})

    def test_a_group_that_two_share(self):
        if not has_swap():
            self.skipTest("this machine has no swap space")
        group = new_group()
        if not group:
            self.skipTest("no control group with a memory limit can be made")
        self.addCleanup(remove, group)
        into = f"open('{group}/cgroup.procs', 'w').write(str(os.getpid()))"
        _, (waiter, taker) = self.record(SHARED.format(into=into))
        done = argus("diagnose", "--json", "--auto", "--pid", waiter, str(self.path))
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        causes = [(cause["pid"], cause["why"]) for cause in answer["root_causes"]]
        self.assertEqual([pid for pid, _ in causes[:2]], [int(taker), int(waiter)], causes)
        for cause in answer["root_causes"][:2]:
            self.assertEqual((cause["memory"]["group"], cause["memory"]["limit_bytes"]), (group.name[:31], LIMIT))
        self.assertIn("control group", answer["summary"])

    def test_a_program_that_grows(self):
        trace, (pid,) = self.record(GROWER.format(megabytes=GROWN // MB))
        sizes = [r[4] for r in trace.of(MEMORY_SIZE) if r[4][0] == int(pid)]
        own = [size[1] for size in sizes]
        self.assertGreater(max(own), GROWN - 32 * MB, sizes)
        # A record for each 16 MiB, not for each page.
        self.assertLess(len(own), 60)


if __name__ == "__main__":
    main()
