#!/usr/bin/env python3
"""argus step on programs that are hard to step: their output and their exit are the same as without it.

live_step.py ARGUS SHOW TARGET [LINKAGE]: TARGET is step_target; with "static" it has no libraries to step over.
"""
import ctypes
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
from schema import misfits  # noqa: E402

ARGUS = SHOW = TARGET = LINKAGE = ""
PATIENCE_S = 60
NOBODY = 65534


def argus(*words, code=0):
    done = subprocess.run([ARGUS, "step", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return done


def answer(text):
    """The JSON object in the output of the stepped program."""
    return json.JSONDecoder().raw_decode(text[text.index("{\n"):])[0]


def printed(text):
    """The output of the stepped program, without the JSON object."""
    start = text.index("{\n")
    return text[:start] + text[start + json.JSONDecoder().raw_decode(text[start:])[1] + 1:]


def pipe_of(uid):
    """A pipe that another user made."""
    here, there = socket.socketpair()
    child = os.fork()
    if child == 0:
        os.setresuid(uid, uid, uid)
        socket.send_fds(there, [b"x"], list(os.pipe()))
        os._exit(0)
    os.waitpid(child, 0)
    fds = socket.recv_fds(here, 1, 2)[1]
    here.close()
    there.close()
    return fds


class Steps:
    """A step file, as printed by show_steps."""

    def __init__(self, path):
        lines = subprocess.run([SHOW, path], check=True, capture_output=True, text=True).stdout.splitlines()
        self.about = dict(re.findall(r"(\w+)=(\S*)", lines[0]))
        self.lines = lines[1:]

    def of(self, kind):
        return [dict(re.findall(r"(\w+)=(\S+)", line)) for line in self.lines if line.startswith(kind + " ")]


class Spinner:
    """step_target in a loop, from "spinning" until it is told to end."""

    def __init__(self, mode="spin"):
        self.process = subprocess.Popen([TARGET, mode], stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        assert self.process.stdout.readline() == "spinning\n"
        self.cpus = os.sched_getaffinity(self.pid)
        unittest.addModuleCleanup(self.process.kill)

    def tracer(self):
        with open(f"/proc/{self.pid}/status") as status:
            return re.search(r"TracerPid:\t(\d+)", status.read()).group(1)

    def end(self, test):
        """The process runs, is not traced, has its CPU affinity, and ends normally."""
        test.assertIsNone(self.process.poll())
        test.assertEqual(self.tracer(), "0")
        test.assertEqual(os.sched_getaffinity(self.pid), self.cpus)
        os.kill(self.pid, signal.SIGUSR2)
        test.assertEqual(self.process.communicate(timeout=PATIENCE_S)[0], "over\n")
        test.assertEqual(self.process.returncode, 5)


def take_debug_register():
    """Of this process and those that it will start (perf_event_open(2): disabled, inherit, exclude_kernel); until the file is closed."""
    word = ctypes.create_string_buffer(16)
    address = (ctypes.addressof(word) + 7) // 8 * 8
    attributes = struct.pack("<II4Q", 5, 112, 0, 1, 0, 0) + struct.pack("<QII2Q", 0x23, 0, 2, address, 8).ljust(72, b"\0")
    fd = ctypes.CDLL(None, use_errno=True).syscall(298, attributes, 0, -1, -1, 8)
    if fd < 0:
        raise unittest.SkipTest(f"no debug register: {os.strerror(ctypes.get_errno())}")
    return fd


class Step(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="argus-step-")
        self.file = os.path.join(self.folder.name, "it.steps")
        self.addCleanup(self.folder.cleanup)

    def launch(self, function, mode, *words):
        done = argus("--json", "-o", self.file, "--function", function, *words, "--", TARGET, mode)
        return answer(done.stdout), printed(done.stdout)

    def test_output_stays_the_same(self):
        expected = subprocess.run([TARGET, "rounds"], capture_output=True, text=True).stdout
        for function in ["plain_work", "copy", "restores_flags", "has_trap_flag", "factorial", "jumping_work", "work_in_thread"]:
            with self.subTest(function):
                result, text = self.launch(function, "rounds")
                self.assertEqual(text, expected)
                self.assertGreater(result["steps"], 2)

    def test_calls_and_returns(self):
        result, _ = self.launch("factorial", "rounds")
        steps = Steps(self.file)
        self.assertEqual(result["end"], "return")
        self.assertEqual([int(call["arg1"], 0) for call in steps.of("call")], [5, 4, 3, 2, 1])
        self.assertEqual([int(back["value"], 0) for back in steps.of("return")], [1, 2, 6, 24, 120, 720])
        self.assertEqual(len(steps.of("step")), result["steps"])
        self.assertTrue(all(step["registers"] == "1" and step["code"] == "15" for step in steps.of("step")))
        frames = steps.of("frame")
        calls = steps.of("call")
        self.assertEqual([frames[int(call["frame"])]["function"] for call in calls], [calls[0]["address"]] * 5)
        self.assertEqual(frames[int(calls[1]["frame"])]["caller"], calls[0]["frame"])
        self.assertEqual(frames[int(calls[0]["frame"])]["caller"], steps.about["first"])

    def test_libraries_are_stepped_over(self):
        if LINKAGE == "static":
            self.skipTest("it has no libraries")
        result, _ = self.launch("plain_work", "rounds")
        skips = Steps(self.file).of("skip")
        self.assertGreaterEqual(len(skips), 2)  # qsort, raise
        self.assertTrue(all(skip["returned"] == "1" for skip in skips))
        self.assertGreaterEqual(result["signals"], 1)
        self.assertEqual(result["end"], "return")

    @unittest.skipUnless(os.uname().machine == "x86_64", "only there a return address is always on the stack")
    def test_a_call_that_was_left(self):
        result, text = self.launch("hopping_work", "hop")
        self.assertEqual((result["end"], text), ("return", "hops: 40\n"))
        steps = Steps(self.file)
        targets = [int(call["arg1"], 0) for call in steps.of("call")]
        turns = {turn for turn in targets if 1 <= turn <= 40}  # is_over(), after longjmp()
        self.assertGreater(len(turns), 10)
        if LINKAGE != "static":
            self.assertIn("0", [skip["returned"] for skip in steps.of("skip")])

    @unittest.skipUnless(os.uname().machine == "x86_64", "only there calls are watched")
    def test_another_tool_has_a_debug_register(self):
        """The two return places and the way out need the other three, so calls are not watched."""
        if LINKAGE == "static":
            self.skipTest("it has no libraries")
        self.addCleanup(os.close, take_debug_register())
        self.assertEqual(self.launch("jumping_work", "rounds")[0]["end"], "return")

    def test_step_into(self):
        if LINKAGE == "static":
            self.skipTest("it has no libraries")
        over, _ = self.launch("plain_work", "rounds")
        into, _ = self.launch("plain_work", "rounds", "--step-into", "libc.so.6", "--step-into", "ld-linux*")
        self.assertGreater(into["steps"], over["steps"] + 50)

    def test_where_a_thread_is(self):
        for mode in ["spin", "nap"]:
            with self.subTest(mode):
                spinner = Spinner(mode)
                words = [] if LINKAGE != "static" or mode == "spin" else ["--wait", "20s"]
                done = argus("--json", "-o", self.file, "--process", spinner.pid, "--thread", spinner.pid, "--max", 300, *words)
                self.assertEqual(json.loads(done.stdout)["steps"], 300)
                steps = Steps(self.file)
                turns = [int(call["arg1"], 0) for call in steps.of("call") if call["address"] == steps.of("call")[0]["address"]]
                if LINKAGE != "static":
                    self.assertEqual(turns[:4], list(range(turns[0], turns[0] + 4)) if mode == "spin" else turns[:4])
                    self.assertGreater(len(turns), 3)
                spinner.end(self)

    def test_place_in_a_running_process(self):
        spinner = Spinner()
        result = json.loads(argus("--json", "-o", self.file, "--process", spinner.pid, "--function", "is_over").stdout)
        self.assertEqual((result["end"], result["pid"]), ("return", spinner.pid))
        self.assertEqual(Steps(self.file).of("return")[-1]["value"], "0x0")
        spinner.end(self)

    def test_a_thread_that_was_just_made_goes_on(self):
        for _ in range(12):
            result, text = self.launch("await_birth", "birth")
            self.assertEqual((result["end"], text), ("return", "born: 1\n"))

    def test_time_is_over(self):
        spinner = Spinner()
        result = json.loads(argus("--json", "-o", self.file, "--process", spinner.pid, "--thread", spinner.pid, "--max", 10**7, "--for", "0.4s").stdout)
        self.assertEqual(result["end"], "time")
        spinner.end(self)

    def test_ctrl_c_and_kill(self):
        for number in [signal.SIGINT, signal.SIGKILL]:
            for words in [["--thread", "PID", "--max", str(10**7)], ["--function", "main"]]:
                with self.subTest(number=number, words=words):
                    self.interrupt(number, words).end(self)

    def interrupt(self, number, words):
        spinner = Spinner()
        words = [str(spinner.pid) if word == "PID" else word for word in words]
        command = [ARGUS, "step", "-o", self.file, "--process", str(spinner.pid), *words]
        stepper = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while spinner.tracer() == "0" and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        stepper.send_signal(number)
        stepper.wait(timeout=PATIENCE_S)
        while spinner.tracer() != "0" and time.monotonic() < deadline:
            time.sleep(0.01)
        return spinner

    def test_the_process_ends_or_becomes_another(self):
        for function, mode, end, said in [("become_echo", "exec", "exec", "echoed\n"), ("quitter", "quit", "exit", "joined\n")]:
            with self.subTest(mode):
                result, text = self.launch(function, mode, *(["--step-into", "*"] if mode == "exec" else []))
                self.assertIn(result["end"], [end, "max"] if LINKAGE == "static" else [end])
                self.assertEqual(text, said)

    def test_killed_meanwhile(self):
        spinner = Spinner()
        command = [ARGUS, "step", "--json", "-o", self.file, "--process", str(spinner.pid), "--thread", str(spinner.pid), "--max", str(10**7)]
        stepper = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while spinner.tracer() == "0":
            time.sleep(0.01)
        time.sleep(0.2)
        spinner.process.kill()
        result = json.loads(stepper.communicate(timeout=PATIENCE_S)[0])
        self.assertEqual(misfits(result), [])
        self.assertEqual(result["end"], "exit")
        self.assertIn("signal 9", result["end_text"])
        spinner.process.communicate()

    def test_refusals(self):
        spinner = Spinner()
        pid = spinner.pid
        for words, code, said in [
                (["--process", 4194303, "--thread", 4194303], 1, "there is no process 4194303"),
                (["--process", os.getpid(), "--thread", pid], 2, f"thread {pid} belongs to process {pid}"),
                (["--process", pid, "--thread", 4194303], 1, "there is no thread 4194303"),
                (["--process", pid, "--function", "0x1000"], 1, "no code at address 0x1000"),
                (["--process", pid, "--function", "is_ovr"], 1, "did you mean 'is_over'?"),
                (["--process", pid, "--function", "nosuchlibrary:f"], 1, "no file 'nosuchlibrary' is mapped"),
                (["--process", pid, "--function", "main", "--wait", "0.3s"], 1, "came to that place within 0.3 s"),
                (["--process", pid], 2, "needs to know where"),
                (["--function", "main"], 2, "needs a live run"),
                (["--process", pid, "--function", "main", "--", "true"], 2, "not both"),
                (["--process", "self", "--function", "main"], 2, "is not a process or thread id"),
                (["--process", pid, "--thread", pid, "--max", 0], 2, "--max: 1 to"),
                (["--process", pid, "--thread", pid, "--registers", "some"], 2, "--registers takes"),
                (["--process", pid, "--thread", pid, "--until", "dawn"], 2, "--until: return or max"),
                (["--function", "main", "--", "/nosuch/program"], 1, "cannot run /nosuch/program")]:
            with self.subTest(words=words):
                self.assertIn(said, argus(*words, "-o", self.file, code=code).stderr)
                self.assertFalse(os.path.exists(self.file))
        spinner.end(self)

    @unittest.skipUnless(os.geteuid() == 0, "only root can take the place of sudo")
    def test_only_the_users_own_processes(self):
        """The recorder is root through sudo; a user who asks it gets no other user's process. Who made the pipe asks."""
        spinner = Spinner()
        request = struct.pack("<6I16s2Q1024s2Q1024s2Q2048s2048s", 0x51535441, 1, spinner.pid, spinner.pid, 1, 5, b"", 0, 0,
                              b"", 0, 0, b"", 0, 0, b"", b"")
        for uid, said in [(NOBODY, f"it belongs to root, and this is user {NOBODY}"), (0, None)]:
            reading, writing = pipe_of(uid)
            os.write(writing, request)
            with subprocess.Popen([os.path.join(os.path.dirname(ARGUS), "argus-recorder"), "step"], stdin=reading, stdout=subprocess.PIPE,
                                  env={**os.environ, "SUDO_UID": "0"}) as stepper:
                answered = stepper.communicate(timeout=PATIENCE_S)[0]
            os.close(reading)
            os.close(writing)
            self.assertEqual(stepper.returncode, 1 if said else 0, answered[-400:])
            self.assertEqual((said or "cannot").encode() in answered, said is not None)
        spinner.end(self)

    def test_a_32_bit_process(self):
        source, object_, program = [os.path.join(self.folder.name, name) for name in ("old.s", "old.o", "old")]
        with open(source, "w", encoding="ascii") as text:
            text.write(".globl _start\n_start: movl $29, %eax\nint $0x80\njmp _start\n")  # pause() for ever
        if os.uname().machine != "x86_64" or subprocess.run(["as", "--32", "-o", object_, source], check=False).returncode or \
                subprocess.run(["ld", "-m", "elf_i386", "-o", program, object_], check=False).returncode:
            self.skipTest("32-bit programs cannot be made here")
        try:
            old = subprocess.Popen([program])
        except OSError:
            self.skipTest("this kernel does not run 32-bit programs")
        self.addCleanup(old.wait)
        self.addCleanup(old.kill)
        self.assertIn("is a 32-bit program", argus("--process", old.pid, "--thread", old.pid, "-o", self.file, code=1).stderr)
        self.assertIsNone(old.poll())

    def test_one_at_a_time(self):
        spinner = Spinner()
        first = subprocess.Popen([ARGUS, "step", "-o", self.file, "--process", str(spinner.pid), "--function", "main"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while spinner.tracer() == "0":
            time.sleep(0.01)
        self.assertIn("is traced already, by process", argus("--process", spinner.pid, "--thread", spinner.pid, code=1).stderr)
        first.send_signal(signal.SIGINT)
        first.wait()
        spinner.end(self)


def reason_to_skip():
    done = subprocess.run([ARGUS, "step", "-o", os.devnull + ".x", "--function", "main", "--", "/nosuch"], capture_output=True, text=True)
    if "cannot run" not in done.stderr:
        return done.stderr
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([ARGUS, "step", "-o", folder + "/x", "--function", "is_over", "--max", "3", "--", TARGET, "exec"],
                              capture_output=True, text=True, timeout=PATIENCE_S)
    return done.stderr if "breakpoint" in done.stderr or "may not" in done.stderr else ""


if __name__ == "__main__":
    ARGUS, SHOW, TARGET = (os.path.realpath(word) for word in sys.argv[1:4])
    LINKAGE = sys.argv[4] if len(sys.argv) > 4 else ""
    reason = reason_to_skip()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
