#!/usr/bin/env python3
"""32-bit programs: compat.py ARGUS COMPILER SOURCE.

The same program, built with 64 and with 32 bits, leaves the same records. Freezes that involve programs of both kinds are explained
in the same way. Skipped (77) without a compiler that makes 32-bit programs (Debian: gcc-12-multilib and libc6-dev-i386).
"""
import ctypes
import errno
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as live  # noqa: E402

COMPILER, SOURCE, PROGRAMS, FREEZES = "", "", {}, {}
MESSAGE, READY = 0x60020010, 0x6002001C
NUMBERS = {"read": 0, "poll": 7, "readv": 19, "select": 23, "getpid": 39, "sendto": 44, "recvfrom": 45, "sendmsg": 46,
           "recvmsg": 47, "wait4": 61, "getppid": 110, "futex": 202, "epoll_wait": 232, "epoll_ctl": 233, "ppoll": 271,
           "recvmmsg": 299, "sendmmsg": 307, "write": 1, "writev": 20}
# i386's glibc uses the newer of two equivalent calls.
NAMES = {number: name for name, number in NUMBERS.items()} | {270: "select", 281: "epoll_wait"}
BUILDS = {
    "64": ["-m64"],
    "32": ["-m32", "-fomit-frame-pointer"],
    "32-frames": ["-m32", "-fno-omit-frame-pointer"],
}


def build_one(source, options, path):
    """Returns false if the compiler cannot build this."""
    multiarch = subprocess.run([COMPILER, "-print-multiarch"], capture_output=True, text=True).stdout.strip()
    done = subprocess.run([COMPILER, "-O2", "-g", "-pthread", *options, str(source), "-o", str(path),
                           "-idirafter", f"/usr/include/{multiarch}"], capture_output=True, text=True)
    return done.returncode == 0


def build(folder):
    freeze = pathlib.Path(SOURCE).with_name("compat_freeze.c")
    for name, options in BUILDS.items():
        PROGRAMS[name] = str(pathlib.Path(folder) / f"compat-{name}")
        FREEZES[name] = str(pathlib.Path(folder) / f"freeze-{name}")
        if not build_one(SOURCE, options, PROGRAMS[name]) or not build_one(freeze, options, FREEZES[name]):
            return False
    return True


def thread_ids(trace, name):
    """The process IDs and thread IDs of the program called `name`."""
    pids = {thread[1] for thread in trace.threads if thread[5] == name}
    return pids, {thread[0] for thread in trace.threads if thread[1] in pids}


def has_32_bit_vdso():
    """Whether the kernel can map it into a 64-bit program. If so, it answers that one is mapped already; otherwise that the request is
    unknown (arch_prctl, ARCH_MAP_VDSO_32)."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(158, 0x2002, 0x10000000)
    return ctypes.get_errno() == errno.EEXIST


class Compat(live.Live):
    def record_case(self, build_name, case):
        done = live.argus("record", "-o", str(self.path), *self.backend, "--no-probes", "--", PROGRAMS[build_name], case)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        return live.Trace(self.path)

    def records_of(self, build_name, case):
        """The records of the program's threads: its calls by name, and the other records of these calls."""
        trace = self.record_case(build_name, case)
        tids = thread_ids(trace, pathlib.Path(PROGRAMS[build_name]).name[:15])[1]
        return [record for record in trace.records if record[1] in tids]

    def test_the_same_records(self):
        def essence(records):
            calls, messages, ready = [], [], []
            for _, _, debugid, _, arguments in records:
                number = (debugid >> 2) & 0x3FFF
                if debugid & ~0xFFFF == live.syscall_id(0) & ~0xFFFF and debugid & 2 and number in NAMES:
                    calls.append((NAMES[number], arguments[1]))
                elif debugid == MESSAGE:
                    messages.append(arguments[1])
                elif debugid == READY:
                    ready.append((arguments[0], arguments[3]))
            calls = [call for call in calls if call[0] not in ("read", "futex", "wait4", "write", "getpid")]
            return sorted(calls), sorted(messages), ready  # whether the sender or the receiver returns first is chance

        wanted = essence(self.records_of("64", "waits"))
        self.assertGreaterEqual(len(wanted[1]), 20)
        self.assertEqual(len(wanted[2]), 4)
        for build_name in ("32", "32-frames"):
            found = essence(self.records_of(build_name, "waits"))
            self.assertEqual(found, wanted, build_name)

    def test_no_call_is_skipped(self):
        for build_name in ("32", "32-frames"):
            self.record_case(build_name, "waits")
            info = json.loads(live.argus("info", "--json", str(self.path)).stdout)
            self.assertEqual(info["counters"]["compat_syscalls_skipped"], 0)

    def test_the_way_by_interrupt(self):
        for build_name in ("32", "64"):
            records = self.records_of(build_name, "int80")
            ends = [NAMES.get(debugid >> 2 & 0x3FFF) for _, _, debugid, _, _ in records if debugid & ~0xFFFF == 0x040C0000 and debugid & 2]
            self.assertEqual(ends.count("getppid"), 1)
            self.assertEqual(ends.count("getpid"), 2)

    def diagnose(self, server, client):
        socket = str(self.folder / "socket")
        script = (f"import subprocess; s = subprocess.Popen([{PROGRAMS[server]!r}, 'server', {socket!r}]); "
                  f"subprocess.run([{PROGRAMS[client]!r}, 'client', {socket!r}]); s.kill()")
        self.record(script, "--no-probes")
        done = live.argus("diagnose", "--auto", "--json", str(self.path), "--process", pathlib.Path(PROGRAMS[client]).name[:15])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_freezes(self):
        """The answer is the same whichever of the two programs has 32 bits, and it says which."""
        for server, client in (("32", "64"), ("64", "32"), ("32-frames", "32")):
            with self.subTest(server=server, client=client):
                found = self.diagnose(server, client)
                cause = found["root_causes"][0]
                self.assertEqual(cause["thread"], "indexer")
                self.assertGreater(cause["duration_ns"], 1_000_000_000)
                names = [frame.split(" (")[0] for frame in cause["stack"]]
                self.assertEqual([name for name in names if name in ("sleep_ms", "rebuild_index", "run_indexer")],
                                 ["sleep_ms", "rebuild_index", "run_indexer"], names)
                said = {entry["process"] for entry in found["programs_32_bit"]}
                wanted = {pathlib.Path(PROGRAMS[name]).name[:15] for name in (server, client) if name != "64"}
                self.assertEqual(said, wanted)
                waiting = [vertex["wait_on"] for vertex in found["path"]]
                self.assertTrue(any("futex" in wait for wait in waiting), waiting)
                os.unlink(self.folder / "socket")

    def freeze(self, build_name, kind):
        """The parts of an answer that must not depend on the number of bits."""
        own = {"slow_index", "help_late", "help_locked", "help_by_thread", "on_alarm", "ask_sleep", "ask_signal", "on_tick", "run_loop",
               "main", "_start"}
        name = pathlib.Path(FREEZES[build_name]).name[:15]
        done = live.argus("record", "-o", str(self.path), *self.backend, "--no-probes", "--", FREEZES[build_name], kind)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = live.argus("diagnose", "--auto", "--json", str(self.path), "--process", name)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        cause = found["root_causes"][0]
        names = [frame.split(" (")[0] for frame in cause["stack"]]
        waits = [vertex["wait_on"].split(" (")[-1] for vertex in found["path"]]
        words = [re.sub("(0x)?[0-9a-f]*[0-9][0-9a-f]*", "N", wait).split(",")[0] for wait in waits]
        return {"thread": cause["thread"].replace(name, "freeze"), "type": cause["type"], "waits": words,
                "stack": [name for name in names if name in own]}, names

    def test_every_freeze(self):
        """The culprit, the object and the functions are the same with 64 and with 32 bits."""
        for kind in ("pipe", "socket", "flock", "join", "mutex", "sleep", "signal"):
            wanted, _ = self.freeze("64", kind)
            self.assertEqual(wanted["stack"][0], "slow_index", kind)
            for build_name in ("32", "32-frames"):
                with self.subTest(kind=kind, build=build_name):
                    found, names = self.freeze(build_name, kind)
                    self.assertEqual(found, wanted)
                    if kind == "signal" and has_32_bit_vdso():
                        self.assertIn("__kernel_sigreturn", names)
                        self.assertIn("__kernel_vsyscall", names)

    def test_stacks_are_whole(self):
        """Without any option, the copied stacks of a program without frame pointers reach from its system calls to its first function."""
        self.record_case("32", "waits")
        found = json.loads(live.argus("graph", "find", "--process", "compat-32", "--longer-than", "10ms", "--json", str(self.path)).stdout)
        whole = 0
        for vertex in found["vertices"]:
            shown = json.loads(live.argus("graph", "show", str(self.path), vertex["id"], "--json").stdout)
            names = [frame.split(" (")[0] for frame in shown.get("wait_stack") or []]
            whole += "_start" in names and "main" in names or "help" in names
        self.assertGreaterEqual(whole, 12)


if __name__ == "__main__":
    reason = live.cannot_record()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    live.machine.enter_namespace()
    live.ARGUS, COMPILER, SOURCE = sys.argv[1:4]
    del sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="argus-compat-") as programs:
        if os.uname().machine != "x86_64" or not build(programs):
            print("skipped: no compiler makes 32-bit programs (Debian: apt-get install gcc-12-multilib libc6-dev-i386)")
            sys.exit(77)
        live.load_retry.run_unittests(sys.argv)
