#!/usr/bin/env python3
"""Flags that are kept in a file, behind pointers, and through fork, exec and the end of a process; and a large number of hits.

flags_lives.py ARGUS FLAG_LIVES FLAG_TARGET. Needs root; exits 77 (skipped) where the kernel or the user cannot record.
$ARGUS_FLAG_HITS: how many hits the last test makes (100,000; a million takes half a minute).
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import flags
from flags import Recording, argus

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402
import machine  # noqa: E402

LIVES = ""
HITS = int(os.environ.get("ARGUS_FLAG_HITS", "100000"))
PROGRAMS = 4  # in a virtual machine one of them may end by a fault of the hypervisor, elsewhere none (flags.Trapped)
POINTER = "object+0->0x10->8"


class Program:
    def __enter__(self):
        self.process = subprocess.Popen([LIVES], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline())
        return self

    def tell(self, letters):
        for letter in letters:
            self.process.stdin.write(letter)
            self.process.stdin.flush()
            if letter == "x":
                assert int(self.process.stdout.readline()) == self.pid
            else:
                assert self.process.stdout.readline() == "ok\n"

    def __exit__(self, *unused):
        self.process.stdin.close()
        self.code = self.process.wait(timeout=60)
        self.process.stdout.close()


def watched(label):
    return [flag for flag in flags.flags() if flag["label"] == label and flag["pid"]]


def wait_for_watch(label, pid):
    """The flag of a process that has just started."""
    until = time.monotonic() + 20
    while not any(flag["pid"] == pid and flag["address"] for flag in watched(label)):
        assert time.monotonic() < until, f"{label} is not watched in {pid}: {flags.flags()}"
        time.sleep(0.02)


class Lives(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-lives-")
        self.addCleanup(self.folder.cleanup)
        self.kept = os.path.join(self.folder.name, "my.flags")

    def keep(self, text):
        with open(self.kept, "w") as file:
            file.write(text)
        return self.kept

    def test_a_pointer_that_is_set_and_one_that_is_not(self):
        with Program() as program, Recording() as recording:
            self.assertIn("null", argus("watchflag", program.pid, "flag_lives", POINTER, code=2))
            program.tell("p")
            argus("watchflag", program.pid, "flag_lives", POINTER, "--access", "w", "--name", "inner flag")
            program.tell("www")
            records = recording.stop()
        self.assertEqual([record["args"][1] for record in records], [1, 2, 3])
        self.assertEqual([record["args"][3] for record in records], [1, 2, 3], "numbers of the hits")

    def test_what_was_chosen_once_is_watched_in_the_next_process(self):
        with Program() as program, Recording():
            program.tell("p")
            argus("watchflag", program.pid, "flag_lives", POINTER, "--access", "w", "--name", "inner flag", "--save", self.kept)
            argus("watchflag", program.pid, "flag_lives", "plain_flag", "--access", "w", "--save", self.kept)
        argus("start", "--ring-size", "32M", "--no-probes", "--flags", self.kept)
        try:
            with Program() as program:
                wait_for_watch("plain_flag in flag_lives", program.pid)
                self.assertEqual([flag["address"] for flag in watched("inner flag")], [0])
                program.tell("p")
                wait_for_watch("inner flag", program.pid)
                program.tell("ww")
                for label in ("inner flag", "plain_flag in flag_lives"):
                    self.assertEqual([flag["hits"] for flag in watched(label)], [2], label)
                program.tell("x")
                wait_for_watch("plain_flag in flag_lives", program.pid)
                program.tell("w")
                self.assertEqual([flag["hits"] for flag in watched("plain_flag in flag_lives")], [1])
            time.sleep(0.5)
            self.assertEqual(watched("inner flag"), [])
            self.assertIn("has begun another program", argus("status"))
            self.assertIn("has ended, after 1 hits", argus("status"))
        finally:
            argus("stop")

    def test_a_child_is_not_watched(self):
        with Program() as program, Recording() as recording:
            argus("watchflag", program.pid, "flag_lives", "plain_flag", "--access", "w")
            program.tell("wfw")
            records = recording.stop()
        self.assertEqual([record["tid"] for record in records], [program.pid] * 2)
        self.assertEqual(program.code, 0)

    def test_mistakes_in_the_file(self):
        for text, said in [("flag_lives plain_flag", "line 1: 'flag_lives' is not an absolute path"),
                           (f"\n# a comment\n{LIVES}", "line 3: a flag needs"),
                           (f"{LIVES} plain_flg", "close are plain_flag"),
                           (f"{LIVES} plain_flag size=3", "1, 2, 4 or 8"),
                           (f"{LIVES} plain_flag+1 size=4", "not aligned"),
                           (f"{LIVES} plain_flag access=r", "reads alone"),
                           (f"{LIVES} plain_flag semantics=flop", "value, flip or queue"),
                           (f"{LIVES} plain_flag colour=red", "is not one of"),
                           (f"{LIVES} 0x4010 build-id=00", "not the build in which"),
                           (f"{LIVES} plain_flag name=\"x", "a quote has no end"),
                           ("/nosuch/program flag", "No such file"),
                           ("/etc/passwd flag", "not a program or library")]:
            error = argus("start", "--flags", self.keep(text + "\n"), code=2 if "reads" in said or "flop" in text or
                          "aligned" in said else 1)
            self.assertIn(said, error)
            self.assertIn(self.kept, error)
        self.assertIn("cannot open", argus("start", "--flags", "/nosuch.flags", code=1))
        self.assertIn("not recording", argus("status"))

    def survives(self, rounds):
        """Whether a program survives all rounds; the counted hits are right in any case."""
        done = 0
        with flags.Target() as target, Recording():
            argus("watchflag", target.pid, "flag_target", "written_flag", "--access", "w")
            try:
                for done in range(1, rounds + 1):
                    target.round()
            except flags.Trapped:
                print(f"(round {done}: the hypervisor lost the reason of a debug exception, and SIGTRAP ended the program)")
                return False
            self.assertEqual(flags.flags()[0]["hits"], 2 * flags.TIMES * rounds)
        self.assertEqual(target.code, 0, "the program goes on")
        return True

    def test_many_hits(self):
        rounds = max(HITS // 2 // flags.TIMES, 1)
        self.assertTrue(any(self.survives(rounds) for _ in range(PROGRAMS)), f"{PROGRAMS} programs were ended by SIGTRAP")


if __name__ == "__main__":
    flags.ARGUS, LIVES, flags.TARGET = map(os.path.realpath, sys.argv[1:4])
    machine.enter_namespace_or_skip()
    load_retry.run_unittests([sys.argv[0], *sys.argv[4:]])
