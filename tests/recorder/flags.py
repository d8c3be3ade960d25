#!/usr/bin/env python3
"""Data flags on the real system: every write and read of flag_target.c is in the trace, with its thread and value; requests
that cannot be fulfilled are refused with a reason; and the program continues undisturbed.

flags.py ARGUS FLAG_TARGET. Needs root; exits 77 (skipped) where the kernel or the user cannot record.
"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
import load_retry  # noqa: E402
import machine  # noqa: E402
from schema import misfits  # noqa: E402

ARGUS, TARGET = "", ""
TIMES = 300
WRITE, READ, STACK = 0x60050004, 0x60050008, 0x60020000


def argus(*arguments, code=0):
    done = subprocess.run([ARGUS, *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, f"argus {arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


class Trapped(Exception):
    """SIGTRAP ended the program in a virtual machine, whose hypervisor may lose the reason of the exception (argus-flags(5))."""


class Target:
    """The program, waiting for its first round."""

    def __enter__(self):
        self.process = subprocess.Popen([TARGET, str(TIMES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())
        return self

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        said = self.process.stdout.readline()
        if not said and machine.is_virtual() and self.process.wait(timeout=60) == -signal.SIGTRAP:
            raise Trapped
        assert said == "done\n", f"the program said {said!r}; its end: {self.process.poll()}"

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.code = self.process.wait(timeout=60)


class Letters:
    """flag_shared.c"""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())

    def tell(self, letter):
        self.process.stdin.write(letter)
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.communicate()


class Recording:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-flags-")
        self.path = os.path.join(self.folder.name, "flags.argus")
        argus("start", "--ring-size", "32M", "--no-probes")
        return self

    def stop(self):
        argus("stop", "-o", self.path)
        self.stopped = True
        dump = argus("dump", "--json", self.path)
        return [json.loads(line) for line in dump.splitlines() if '"flag_' in line]

    def __exit__(self, *unused):
        if not getattr(self, "stopped", False):
            argus("stop")
        self.folder.cleanup()


def flags():
    answer = json.loads(argus("watchflag", "list", "--json"))
    assert not misfits(answer), misfits(answer)
    return answer["flags"]


class Flags(unittest.TestCase):
    def test_every_write_by_threads_that_come_later(self):
        with Target() as target, Recording() as recording:
            argus("watchflag", target.pid, "flag_target", "written_flag", "--access", "w")
            target.round()
            target.round()
            self.assertEqual(flags()[0]["hits"], 4 * TIMES)
            records = recording.stop()
        self.assertEqual(target.code, 0)
        self.assertEqual({record["debugid"] for record in records}, {WRITE})
        by_thread = collections.Counter(record["tid"] for record in records)
        self.assertEqual(sorted(by_thread.values()), [TIMES] * 4)
        self.assertNotIn(target.pid, by_thread)
        values = {record["args"][1] for record in records}
        self.assertTrue(values <= {who << 32 | i for who in (1, 2) for i in range(1, TIMES + 1)})
        # If one thread writes at a time, the recorded value is certainly the one that it wrote.
        self.assertGreater(len(values), TIMES)

    def test_reads(self):
        with Target() as target, Recording() as recording:
            argus("watchflag", target.pid, "flag_target", "quiet_flag")
            target.round()
            records = recording.stop()
        self.assertEqual(target.code, 0)
        self.assertEqual([record["debugid"] for record in records], [READ] * TIMES)
        self.assertEqual({record["tid"] for record in records}, {target.pid})
        self.assertEqual({record["args"][1] for record in records}, {7})

    def test_a_part_of_a_variable_and_an_address(self):
        with Target() as target, Recording() as recording:
            argus("watchflag", target.pid, "flag_target", "bytes_flag+3", "--size", "1", "--access", "w")
            argus("watchflag", target.pid, "flag_target", "hidden_flag", "--access", "w")
            first = flags()[0]
            self.assertIn("watched already", argus("watchflag", target.pid, hex(first["address"]), code=1))
            argus("watchflag", "remove", "1")
            argus("watchflag", target.pid, hex(first["address"]), "--size", "1", "--access", "w")
            target.round()
            records = recording.stop()
        self.assertEqual([record["args"][1] for record in records], [1, 1])
        self.assertEqual(target.code, 0)

    def test_a_member(self):
        with Target() as target, Recording() as recording:
            self.assertIn("has no member 'stat'; it has number, state",
                          argus("watchflag", target.pid, "flag_target", "holder.box->stat", code=1))
            argus("watchflag", target.pid, "flag_target", "holder.box->state", "--access", "w")
            self.assertEqual((flags()[0]["label"], flags()[0]["bytes"]), ("holder.box->state in flag_target", 4))
            target.round()
            target.round()
            records = recording.stop()
        self.assertEqual([record["args"][1] for record in records], [1, 2])

    def test_memory_that_processes_share(self):
        program = pathlib.Path(TARGET).with_name("flag_shared")
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            file.truncate(65536)
            with Letters(program, file.name, "8256") as reader, Letters(program, file.name, "8256") as writer, Recording() as recording:
                self.assertIn("no process maps", argus("watchflag", "--file", file.name + "+0x20000", code=1))
                said = argus("watchflag", "--file", file.name + "+0x2040", "--size", "4")
                self.assertEqual(len(said.splitlines()), 2)
                self.assertEqual({flag["pid"] for flag in flags()}, {reader.pid, writer.pid})
                self.assertEqual([reader.tell("r"), writer.tell("w"), reader.tell("r")], [0, 7, 7])
                recording.stop()
                shared = [json.loads(line) for line in argus("dump", "--json", recording.path).splitlines() if '"flag_shared' in line]
                self.assertEqual({record["args"][3] for record in shared}, {0x2040})
                self.assertEqual(len({record["args"][0] for record in shared}), 2)
                rules = json.loads(argus("schema", recording.path, "--json"))["rules"]
                self.assertEqual([rule["count"] for rule in rules if rule["name"] == "flag.written"], [1])

    def test_thread_local_variables(self):
        with Target() as target, Recording() as recording:
            argus("watchflag", target.pid, "flag_target", "own_flag", "--access", "w")
            argus("watchflag", target.pid, "libflag_library", "library_own_flag", "--access", "w")
            target.round()
            target.round()
            records = recording.stop()
        self.assertEqual(target.code, 0)
        self.assertEqual([record["args"][1] & 0xffffffff for record in records], [1, 1, 2, 2])
        self.assertEqual({record["tid"] for record in records}, {target.pid})

    def test_removed(self):
        with Target() as target, Recording() as recording:
            argus("watchflag", target.pid, "flag_target", "written_flag", "--access", "w")
            argus("watchflag", "remove", "1")
            self.assertEqual(flags(), [])
            self.assertIn("no flag 1", argus("watchflag", "remove", "1", code=1))
            target.round()
            self.assertEqual(recording.stop(), [])

    def test_what_is_refused(self):
        with Target() as target:
            self.assertIn("argus start", argus("watchflag", target.pid, "flag_target", "quiet_flag", code=1))
            with Recording():
                for arguments, code, said in [
                        ((target.pid, "flag_target", "writen_flag"), 1, "written_flag"),
                        ((target.pid, "libm.so", "quiet_flag"), 1, "it has: flag_target"),
                        ((target.pid, "flag_target", "own_flag", "--tid", "4194305"), 1, "no thread 4194305"),
                        ((target.pid, "0x10"), 2, "no memory at 0x10"),
                        ((target.pid, "flag_target", "bytes_flag+1", "--size", "4"), 2, "not aligned"),
                        ((target.pid, "flag_target", "quiet_flag", "--size", "3"), 2, "1, 2, 4 or 8"),
                        ((target.pid, "flag_target", "quiet_flag", "--access", "r"), 2, "reads alone"),
                        (("4194305", "flag_target", "quiet_flag"), 1, "no process"),
                        (("x", "flag_target", "quiet_flag"), 2, "not a process id")]:
                    self.assertIn(said, argus("watchflag", *arguments, code=code))
                for i in range(4):
                    argus("watchflag", target.pid, "flag_target", f"bytes_flag+{i}", "--size", "1")
                self.assertIn("no debug register", argus("watchflag", target.pid, "flag_target", "quiet_flag", code=2))
                self.assertEqual(len(flags()), 4)
            with Recording():  # the debug registers of the previous recording are free again
                argus("watchflag", target.pid, "flag_target", "quiet_flag")
                target.round()
        self.assertEqual(target.code, 0)

    def test_a_process_that_ends_while_watched(self):
        with Recording() as recording:
            with Target() as target:
                argus("watchflag", target.pid, "flag_target", "written_flag", "--access", "w")
                target.round()
            self.assertEqual(len(recording.stop()), 2 * TIMES)


if __name__ == "__main__":
    ARGUS, TARGET = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
    machine.enter_namespace_or_skip()
    load_retry.run_unittests([sys.argv[0], *sys.argv[3:]])
