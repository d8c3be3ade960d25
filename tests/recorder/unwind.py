#!/usr/bin/env python3
"""Stacks of programs without frame pointers: unwind.py ARGUS UNWIND_TARGET.

Needs root and a kernel that records, else skipped (77); see recorder_harness.py. If gdb is installed, its stacks of a
stopped process are compared.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
import decode  # noqa: E402
import key_ring  # noqa: E402
import recorder_harness as live  # noqa: E402

TARGET = ""
LITTLE = ["--no-probes", "--only", "syscalls,stacks"]  # drops records of other programs


def functions(stack):
    """Function names without file and line."""
    return [frame.split(" (")[0] for frame in stack]


def graph(path, *arguments):
    done = live.argus("graph", *arguments, "--json", str(path))
    if done.returncode not in (0, 4):  # 4: the stack was cut off
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def wait_stacks(path, *conditions, least="10ms", most=12):
    """The stacks of the first long waits, each as a list of function names."""
    found = graph(path, "find", *conditions, "--longer-than", least, "--limit", str(most))["vertices"]
    stacks = []
    for vertex in found:
        done = live.argus("graph", "show", str(path), vertex["id"], "--json")
        stacks.append(functions(json.loads(done.stdout).get("wait_stack") or []))
    return [stack for stack in stacks if stack]


def holds_snapshots(path):
    """Whether the file has a chunk of snapshots, from the chunk headers alone. The recorder writes none that is not encrypted."""
    data = pathlib.Path(path).read_bytes()
    at, kinds = 4096, set()
    while chunk := decode.chunk_at(data, at, len(data)):
        kinds.add(chunk.kind)
        at += chunk.extent
    if decode.SNAPSHOTS in kinds:
        raise AssertionError("copied stacks are not encrypted")
    return decode.ENCRYPTED in kinds


def copied_stacks(path, **how):
    """What `argus info` says of them: the object, and what is printed."""
    done = subprocess.run([live.ARGUS, "info", "--json", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          **how)
    return json.loads(done.stdout)["copied_stacks"], done


def snapshot_copies(path, pid):
    """The bytes of each copied stack of this process in the file."""
    return [snapshot[6] for snapshot in decode.Trace(pathlib.Path(path).read_bytes(), key_ring.find).snapshots if snapshot[1] == pid]


def is_chain(stack, names):
    """Whether `names` are in the stack, one directly after the other."""
    return any(stack[i:i + len(names)] == names for i in range(len(stack)))


class Unwinding(live.Live):
    def record_target(self, case, *options):
        done = live.argus("record", "-o", str(self.path), *LITTLE, *options, "--", TARGET, case)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def stacks_of(self, case, *options, least="10ms"):
        self.record_target(case, "--unwind", "unwind_target", *options)
        self.assertFalse(holds_snapshots(self.path))
        return wait_stacks(self.path, "--process", "unwind_target", least=least)

    def assert_chain(self, stacks, names, bottom="_start"):
        found = [stack for stack in stacks if is_chain(stack, names)]
        self.assertTrue(found, stacks)
        self.assertEqual(found[0][-1], bottom, found[0])

    def kill_recorder_of(self, *command, options=()):
        """Records a program that runs until its standard input ends, and kills the recorder once copied stacks are in the file."""
        front = subprocess.Popen([live.ARGUS, "record", "-o", str(self.path), "--no-probes", *options, "--", *command],
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(front.kill)
        recorder = self.recorder()
        self.assertTrue(live.eventually(lambda: holds_snapshots(self.path), seconds=20))
        time.sleep(1.2)  # the records that name the process and its stacks are written within a second
        os.kill(recorder, signal.SIGKILL)
        front.stdin.close()
        front.wait(timeout=60)

    def test_a_chain_in_the_program(self):
        self.assert_chain(self.stacks_of("chain"), ["target_wait", "target_middle", "target_outer", "case_chain", "main"])

    def test_long_waits_need_no_option(self):
        middle = ["target_wait", "target_middle", "target_outer"]
        for case, names, bottom in (("chain", [*middle, "case_chain", "main"], "_start"),
                                    ("library", ["callback", "library_inner", "library_outer", "case_library", "main"], "_start"),
                                    ("sorting", ["case_sorting", "main"], "_start"),
                                    ("signal", ["case_signal", "main"], "_start"),
                                    ("thread", [*middle, "thread_body"], None)):
            with self.subTest(case):
                self.record_target(case)
                self.assertFalse(holds_snapshots(self.path))
                stacks = wait_stacks(self.path, "--process", "unwind_target")
                found = [stack for stack in stacks if is_chain(stack, names)]
                self.assertTrue(found, stacks)
                self.assertTrue(found[0][-1] == bottom if bottom else "clone" in found[0][-1], found[0])

    def test_a_wait_that_lasts_needs_no_option(self):
        for options in [], ["-o", str(self.path)]:
            with self.subTest(options=options):
                done = live.argus("start", *LITTLE, *options)
                self.assertEqual(done.returncode, 0, done.stderr)
                target = subprocess.Popen([TARGET, "read"], stdout=subprocess.PIPE, text=True)
                try:
                    target.stdout.readline()
                    time.sleep(0.3)
                    self.assertEqual(live.argus("stop", *([] if options else ["-o", str(self.path)])).returncode, 0)
                finally:
                    target.kill()
                    target.communicate()
                stacks = wait_stacks(self.path, "--process", "unwind_target", least="100ms")
                self.assertTrue([stack for stack in stacks if "main" in stack and stack[-1] == "_start"], stacks)
                self.path.unlink()

    def test_nothing_of_the_memory_is_in_the_file(self):
        """The recorded file contains the copied stacks during the recording. If one word of the stack that is not an address remains, the
        search finds it."""
        secret = "Zq7secretXw9"
        told = self.path.with_suffix(".pid")
        script = (f"import os, select, sys\nopen('{told}', 'w').write(str(os.getpid()))\nx = bytearray(b'{secret[:6]}' + b'{secret[6:]}')\n"
                  "while not select.select([sys.stdin], [], [], 0.05)[0]: pass")
        self.kill_recorder_of(sys.executable, "-c", script)
        words = [word for copy in snapshot_copies(self.path, int(told.read_text())) for (word,) in struct.iter_unpack("<Q", copy)]
        self.assertTrue(words)
        small = [hex(word) for word in words if 0 < word < 1 << 40 and word >> 32 not in (0x55, 0x56)]
        self.assertLessEqual(len(small), len(words) // 1000, small[:20])

    def test_by_frame_pointers_the_chain_is_not_there(self):
        self.record_target("chain", "--frame-pointers")
        stacks = wait_stacks(self.path, "--process", "unwind_target")
        self.assertFalse([stack for stack in stacks if "target_outer" in stack and "main" in stack])

    def test_through_a_library_of_its_own(self):
        self.assert_chain(self.stacks_of("library"),
                          ["target_wait", "callback", "library_inner", "library_outer", "case_library", "main"])

    def test_through_libc(self):
        stacks = self.stacks_of("sorting")
        self.assert_chain(stacks, ["target_wait", "compare"])
        self.assert_chain(stacks, ["case_sorting", "main"])

    def test_a_thread_by_the_name_of_the_process_and_by_its_own(self):
        names = ["target_wait", "target_middle", "target_outer", "thread_body"]
        for name in "unwind_target", "unwind_thread":
            self.record_target("thread", "--unwind", name)
            stacks = wait_stacks(self.path, "--process", "unwind_target")
            found = [stack for stack in stacks if is_chain(stack, names)]
            self.assertTrue(found, stacks)
            self.assertIn("clone", found[0][-1])

    def test_through_a_signal_handler(self):
        stacks = self.stacks_of("signal")
        self.assert_chain(stacks, ["target_wait", "target_middle", "target_outer", "handle"])
        self.assert_chain(stacks, ["case_signal", "main"])

    def test_a_stack_that_is_longer_than_the_copy_says_so(self):
        end = "[the stack goes on: no more of it was copied]"
        self.assert_chain(self.stacks_of("deep", "--unwind-size", "16K"), ["target_wait", "recurse", "recurse"], end)
        self.assert_chain(self.stacks_of("deep", "--unwind-size", "64K"), ["recurse", "case_deep", "main"])

    def test_the_same_wait_is_copied_once(self):
        self.record_target("again", "--unwind", "unwind_target")
        trace = live.Trace(self.path)
        thread = [t[0] for t in trace.threads if t[5] == "unwind_target"][0]
        waits = [r[4][0] for r in trace.of(live.STACK, thread) if r[4][2] == 1]
        self.assertGreater(trace.counters["snapshots_known"], 190)
        self.assertGreater(len(waits), 190)
        self.assertLess(len(set(waits)), 30)

    def test_stacks_that_differ_in_one_word_are_told_apart_when_they_are_known(self):
        for case, first, second in ("twins", "first_twin", "second_twin"), ("traps", "first_trap", "second_trap"):
            with self.subTest(case):
                stacks = [stack for stack in self.stacks_of(case, least="1ms") if "target_wait" in stack]  # and no page fault's
                self.assertGreater(len(stacks), 3)
                turns = [first in stack for stack in stacks]
                self.assertTrue(all((first in stack) != (second in stack) for stack in stacks), stacks)
                self.assertEqual(turns, [bool(i % 2) == turns[1] for i in range(len(turns))], stacks)
                self.assertGreater(live.Trace(self.path).counters["snapshots_same"], 20)

    def test_a_process_by_its_id_while_it_waits(self):
        target = subprocess.Popen([TARGET, "ever"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        pid = target.stdout.readline().strip()
        done = live.argus("record", "-o", str(self.path), *LITTLE, "--unwind", pid, "--", "sleep", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_chain(wait_stacks(self.path, "--pid", pid, least="500us", most=3), ["target_wait", "wait_with", "case_ever", "main"])

    def test_python_has_main_at_the_bottom(self):
        python = "/usr/bin/python3"
        if not os.path.exists(python):
            self.skipTest("no " + python)
        done = live.argus("record", "-o", str(self.path), *LITTLE, "--unwind", "python3", "--", python, "-c",
                          "import os, time\nprint(os.getpid())\nfor i in range(5): time.sleep(0.02)")
        self.assertEqual(done.returncode, 0, done.stderr)
        stacks = wait_stacks(self.path, "--pid", done.stdout.strip())  # other programs may run python3 as well
        sleeps = [s for s in stacks if "clock_nanosleep" in s[0]]
        self.assertTrue(sleeps, stacks)
        for stack in sleeps:
            self.assertEqual(stack[-1], "_start", stack)

    def test_samples_have_whole_stacks(self):
        for rate, least in ((1000, 100), (10000, 300), (1, 0)):
            self.record_target("busy", "--unwind", "unwind_target", "--rate", str(rate))
            trace = live.Trace(self.path)
            thread = [t[0] for t in trace.threads if t[5] == "unwind_target"][0]
            waits = [trace.stacks[r[4][0]] for r in trace.of(live.STACK, thread) if r[4][0] in trace.stacks]
            outermost = {stack[-1] for stack in waits if len(stack) >= 5}  # the _start functions of ld.so and of the program
            samples = [trace.stacks.get(r[4][0], []) for r in trace.of(live.SAMPLE, thread)]
            whole = [stack for stack in samples if len(stack) >= 5 and stack[-1] in outermost]
            self.assertGreaterEqual(len(whole), least)
            self.assertGreaterEqual(len(whole), len(samples) * 0.9 - 5)

    def test_the_flight_recorder(self):
        done = live.argus("start", *LITTLE, "--unwind", "unwind_target", "--ring-size", "256M")
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([TARGET, "chain"], stdout=subprocess.DEVNULL, check=True)
        for arguments in ["snapshot"], ["stop"]:
            done = live.argus(*arguments, "-o", str(self.path))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse(holds_snapshots(self.path))
            self.assert_chain(wait_stacks(self.path, "--process", "unwind_target"),
                              ["target_wait", "target_middle", "target_outer", "case_chain", "main"])

    def test_a_ring_file(self):
        done = live.argus("start", *LITTLE, "--unwind", "unwind_target", "-o", str(self.path), "--ring-size", "16M")
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([TARGET, "chain"], stdout=subprocess.DEVNULL, check=True)
        done = live.argus("stop")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(holds_snapshots(self.path))
        self.assert_chain(wait_stacks(self.path, "--process", "unwind_target"), ["target_outer", "case_chain", "main"])

    def test_a_killed_recorder_leaves_what_can_be_unwound(self):
        self.kill_recorder_of("sh", "-c", f"{TARGET} chain; read line", options=["--unwind", "unwind_target"])
        self.assertTrue(holds_snapshots(self.path))
        self.assert_chain(wait_stacks(self.path, "--process", "unwind_target"),
                          ["target_wait", "target_middle", "target_outer", "case_chain", "main"])

    def test_the_key_is_kept_for_the_user_alone(self):
        self.kill_recorder_of("sh", "-c", f"{TARGET} chain; read line", options=["--unwind", "unwind_target"])
        copies, done = copied_stacks(self.path, preexec_fn=key_ring.enter_new_session)
        self.assertEqual((done.returncode, copies["plain"], copies["locked"]), (4, 0, 0), done.stderr)
        self.assertGreater(copies["encrypted"], 0)
        self.assertIn("key ring of this user has their key", done.stderr)
        self.path.chmod(0o644)
        self.path.parent.chmod(0o755)
        others, done = copied_stacks(self.path, user=65534, group=65534, extra_groups=[], env={**os.environ, "HOME": "/nonexistent"})
        self.assertEqual((done.returncode, others["plain"], others["encrypted"], others["locked"]), (4, 0, 0, copies["encrypted"]))
        self.assertEqual(done.stderr.count("does not have their key"), 1, done.stderr)

    def test_a_finished_file_leaves_no_key(self):
        before = argus_keys()
        for arguments in ["start", "-o", str(self.path), "--ring-size", "16M"], ["stop"], ["start"], ["snapshot", "-o", str(self.path)], \
                ["stop", "-o", str(self.path)], ["record", "-o", str(self.path), "--", TARGET, "chain"]:
            done = live.argus(*arguments, *(LITTLE if arguments[0] in ("start", "record") else []))
            self.assertEqual(done.returncode, 0, done.stderr)
            expected = arguments[:2] == ["start", "-o"]  # another recording of this user can have one for a while
            self.assertTrue(live.eventually(lambda want=expected: len(argus_keys() - before) == want, seconds=60), arguments)
            self.assertTrue(arguments[0] == "start" or not self.path.exists() or not holds_snapshots(self.path))

    def test_where_the_kernel_keeps_no_key(self):
        def without_keys(*arguments):
            return subprocess.run([live.ARGUS, *arguments], capture_output=True, text=True, check=False, preexec_fn=key_ring.refuse_keys)
        for end in "stop", "kill":
            done = without_keys("start", *LITTLE, "--unwind", "unwind_target", "-o", str(self.path), "--ring-size", "16M")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("if the recorder is killed, they are lost", without_keys("status").stdout)
            self.assertIs(json.loads(live.argus("status", "--json").stdout)["key_kept"], False)
            subprocess.run([TARGET, "chain"], stdout=subprocess.DEVNULL, check=True)
            self.assertTrue(live.eventually(lambda: holds_snapshots(self.path), seconds=20))
            if end == "stop":
                done = without_keys("stop")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertFalse(holds_snapshots(self.path))
                self.assert_chain(wait_stacks(self.path, "--process", "unwind_target"), ["target_outer", "case_chain", "main"])
        recorder = self.recorder()
        os.kill(recorder, signal.SIGKILL)
        self.assertTrue(live.eventually(lambda: not live.alive(recorder)))  # until then, `argus status` may meet its last moment
        self.assertFalse(live.status()["recording"])
        copies, done = copied_stacks(self.path)
        self.assertGreater(copies["locked"], 0)
        self.assertEqual((done.returncode, copies["encrypted"]), (4, 0), done.stderr)

    def test_what_cannot_be_is_said(self):
        for options, code in ((["--unwind", "4000000"], 1), (["--unwind", "a/b"], 2), (["--unwind", ""], 2),
                              (["--unwind", "x"] * 17, 2), (["--unwind", "x", "--unwind-size", "1M"], 2),
                              (["--unwind", "x", "--unwind-size", "10"], 2), (["--unwind", "x", "--frame-pointers"], 2)):
            done = live.argus("record", "-o", str(self.path), *options, "--", "true")
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn("unwind", done.stderr)
            self.assertFalse(self.path.exists())
        self.record_target("chain", "--unwind", "unwind_target", "--no-stacks")
        notes = [bytes.fromhex(line.split()[1]).decode() for line in decode.decode(self.path.read_bytes())
                 if line.startswith("note ")]
        self.assertTrue([note for note in notes if "--unwind" in note], notes)

    def test_gdb_says_the_same(self):
        if not shutil.which("gdb"):
            self.skipTest("no gdb")
        done = live.argus("start", *LITTLE, "--unwind", "unwind_target", "--ring-size", "256M")
        self.assertEqual(done.returncode, 0, done.stderr)
        target = subprocess.Popen([TARGET, "read"], stdout=subprocess.PIPE, text=True)
        try:
            target.stdout.readline()
            self.assertTrue(live.eventually(lambda: "pipe_read" in wchan(target.pid) or "S" in state(target.pid)))
            time.sleep(0.2)
            self.assertEqual(live.argus("stop", "-o", str(self.path)).returncode, 0)
            stacks = [[plain(name) for name in stack]
                      for stack in wait_stacks(self.path, "--process", "unwind_target")]
            gdb = subprocess.run(["gdb", "-nx", "-batch", "-p", str(target.pid), "-ex", "bt -past-main on"],
                                 capture_output=True, text=True, timeout=120, check=False).stdout
        finally:
            target.kill()
            target.communicate()
        expected = re.findall(r"^#\d+\s+(?:0x[0-9a-f]+ in )?([\w.]+)", gdb, re.MULTILINE)
        self.assertIn("main", expected, gdb)
        self.assertIn([plain(name) for name in expected], stacks)


def argus_keys():
    return {line.split()[0] for line in pathlib.Path("/proc/keys").read_text().splitlines() if " argus:" in line}


def plain(name):
    """glibc has several names for one function, and gdb may choose another one."""
    return re.sub(r"^(__GI_|__libc_|__)+|_impl$", "", name)


def wchan(pid):
    return pathlib.Path(f"/proc/{pid}/wchan").read_text()


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


if __name__ == "__main__":
    reason = live.cannot_record()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    live.machine.enter_namespace()
    live.ARGUS = sys.argv.pop(1)
    TARGET = sys.argv.pop(1)
    live.load_retry.run_unittests(sys.argv)
