#!/usr/bin/env python3
"""The recorder on the real system: the contents of a trace, and what remains after a bad end. See recorder_harness.py."""
import json
import os
import signal
import subprocess
import sys
import time
import unittest

from recorder_harness import (ARGUS, HARDIRQ, MAKE_RUNNABLE, NAME_THREAD, NEW_THREAD, OBJECT, SAMPLE, STACK, SWITCH, WAITED,
                              TASK, THREAD_EXIT, TIMER_FIRED, Live, Trace, argus, children, comm, eventually, main, status,
                              syscall_id)


class Contents(Live):
    def test_every_system_call_once_with_its_result(self):
        trace, (pid, parent) = self.record(
            "import os\nprint(os.getpid(), os.getppid())\nfor i in range(1000): os.getppid()")
        number = {"x86_64": 110, "aarch64": 173}[os.uname().machine]
        starts = trace.of(syscall_id(number), int(pid))
        ends = trace.of(syscall_id(number, True), int(pid))
        self.assertEqual((len(starts), len(ends)), (1001, 1001))
        self.assertTrue(all(end[4] == [0, int(parent), 0, int(pid)] for end in ends))
        self.assertTrue(trace.complete)
        self.assertEqual(trace.counters["records"], len(trace.records))
        self.assertEqual(trace.counters["lost"], 0)

    def test_arguments_and_error_number(self):
        trace, (pid,) = self.record("import os\nprint(os.getpid())\ntry: os.lseek(987, 4096, 1)\nexcept OSError: pass")
        number = {"x86_64": 8, "aarch64": 62}[os.uname().machine]
        calls = [r[4][:3] for r in trace.of(syscall_id(number), int(pid)) if r[4][0] == 987]
        self.assertEqual(calls, [[987, 4096, 1]])
        self.assertIn(9, [r[4][0] for r in trace.of(syscall_id(number, True), int(pid))])

    def test_a_sleep_blocks_and_a_timer_wakes_it(self):
        # on the first CPU: some virtual machines hide from perf_event what happens while another CPU is idle
        trace, (pid,) = self.record("import os, time\nos.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
                                    "print(os.getpid())\nfor i in range(5): time.sleep(0.02)")
        blocked = [r for r in trace.of(SWITCH, int(pid)) if r[4][0] & 1]
        self.assertGreaterEqual(len(blocked), 5)
        woken = [r for r in trace.of(MAKE_RUNNABLE) if r[4][0] == int(pid) and r[4][3] == HARDIRQ]
        self.assertGreaterEqual(len(woken), 5)
        fired = {(r[0], r[3]) for r in trace.of(TIMER_FIRED)}
        for time_ns, _, _, cpu, _ in woken:
            self.assertTrue(any(cpu == c and 0 <= time_ns - t < 100000 for t, c in fired))

    def test_a_pipe_names_its_object_at_both_ends(self):
        trace, (inode, reader, writer) = self.record("""
import os, time
r, w = os.pipe()
child = os.fork()
if child == 0:
    os.read(r, 1); os._exit(0)
time.sleep(0.1); os.write(w, b'x'); os.waitpid(child, 0)
print(os.fstat(r).st_ino, child, os.getpid())""")
        inode, reader, writer = int(inode), int(reader), int(writer)
        waits = [r[4] for r in trace.of(OBJECT, reader)]
        wakes = [r[4] for r in trace.of(OBJECT, writer)]
        self.assertIn(inode, [w[1] for w in waits])
        self.assertIn(inode, [w[1] for w in wakes])
        self.assertTrue(all(w[3] == 0o010000 for w in waits if w[1] == inode))
        self.assertTrue([r for r in trace.of(MAKE_RUNNABLE, writer) if r[4][0] == reader and r[4][3] == TASK])
        self.assertTrue([r for r in trace.of(NEW_THREAD, writer) if r[4] == [reader, reader, 1, writer]])
        self.assertTrue([r for r in trace.of(THREAD_EXIT, reader) if r[4][:2] == [reader, 1]])

    def test_a_socket_names_its_peer(self):
        trace, (own, peer, pid) = self.record("""
import os, socket, time
a, b = socket.socketpair()
child = os.fork()
if child == 0:
    b.recv(1); os._exit(0)
time.sleep(0.1); a.send(b'x'); os.waitpid(child, 0)
print(os.fstat(a.fileno()).st_ino, os.fstat(b.fileno()).st_ino, os.getpid())""")
        kind = 0o140000 | socket_bits(family=1, kind=1)
        self.assertIn([int(own), int(peer), kind], [r[4][1:] for r in trace.of(OBJECT, int(pid))])

    def test_stacks_belong_to_waits_and_are_in_the_file(self):
        trace, (pid,) = self.record("import os, time\nprint(os.getpid())\ntime.sleep(0.05)")
        stacks = trace.of(STACK, int(pid))
        self.assertTrue(stacks)
        for time_ns, _, _, cpu, arguments in stacks:
            if arguments[2] == WAITED:  # taken after the wait, at the end of its call
                self.assertTrue([s for s in stacks if s[0] == arguments[3] and s[4][2] == 1])
                continue
            self.assertTrue([r for r in trace.records if r[0] == time_ns and r[3] == cpu and
                             r[2] == (SWITCH if arguments[2] == 1 else MAKE_RUNNABLE)])
        blocked = [s for s in stacks if s[4][2] == 1]
        self.assertTrue(any(s[4][0] in trace.stacks and s[4][1] in trace.stacks for s in blocked))

    def test_without_stacks_and_samples(self):
        trace, _ = self.record("sum(range(10 ** 6))", "--no-stacks", "--rate", "0")
        self.assertFalse(trace.of(STACK) + trace.of(SAMPLE))
        self.assertFalse(trace.stacks)

    def test_samples_of_a_busy_process(self):
        trace, (pid,) = self.record("import os, time\nprint(os.getpid())\nu=time.process_time()+0.5\n"
                                    "while time.process_time() < u: pass")
        self.assertGreater(len(trace.of(SAMPLE, int(pid))), 20)

    def test_names_and_images(self):
        trace, (pid, tid) = self.record("""
import ctypes, os, threading
def run():
    ctypes.CDLL(None).prctl(15, b'renamed', 0, 0, 0)
    print(os.getpid(), threading.get_native_id())
t = threading.Thread(target=run); t.start(); t.join()""")
        named = {t[0]: t[5] for t in trace.threads}
        self.assertEqual(named[int(tid)], "renamed")
        self.assertTrue(trace.of(NAME_THREAD, int(tid)))
        self.assertTrue(named[int(pid)].startswith("python"))
        libc = [i for i in trace.images if i[0] == int(pid) and "libc.so" in i[2]]
        self.assertTrue(libc)

    def test_machine_and_packages(self):
        """By which a fleet tells machines and versions apart."""
        self.record("pass")
        notes = json.loads(argus("info", "--json", str(self.path)).stdout)["notes"]
        self.assertTrue([note for note in notes if note.startswith("the recording machine: ")] or not os.path.exists("/etc/machine-id"), notes)
        packages = dict(note.removeprefix("package of ").rsplit(": ", 1) for note in notes if note.startswith("package of "))
        if os.path.exists("/var/lib/dpkg/status"):
            path, found = next(iter(packages.items()))
            owner = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", found.split()[0]], capture_output=True, text=True)
            self.assertEqual(owner.stdout, found.split()[1], path)

    def test_it_never_records_itself(self):
        self.assertEqual(argus("start", *self.backend, "--ring-size", "16M").returncode, 0)
        recorder = status()["recorder_pid"]
        time.sleep(0.3)
        self.assertEqual(argus("snapshot", "-o", str(self.path)).returncode, 0)
        self.assertEqual(argus("stop", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        own = [r for r in trace.records if r[1] == recorder and (r[2] >> 16 == 0x040C or r[2] in (STACK, SAMPLE))]
        wakes = [r for r in trace.of(MAKE_RUNNABLE)
                 if r[4][0] == recorder or (r[1] == recorder and r[4][3] == TASK)]
        self.assertFalse(own + wakes)


def socket_bits(family, kind):
    return family << 16 | kind << 32


class Endings(Live):
    def test_the_exit_code_is_the_commands(self):
        for script, code in (("exit 3", 3), ("kill -9 $$", 137), ("true", 0)):
            done = argus("record", "-o", str(self.path), "--", "sh", "-c", script)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertTrue(Trace(self.path).complete)
        self.assert_detached()

    def test_a_command_that_is_not_there(self):
        done = argus("record", "-o", str(self.path), "--", "no-such-program")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-program", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assert_detached()

    def test_without_the_table_of_probes(self):
        done = argus("record", "-o", str(self.path), "--", "true", env={**os.environ, "ARGUS_PROBES": str(self.folder / "none")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no callbacks and UI events: cannot open the table", done.stderr)
        self.assertIn("no probes in libraries (the table of probes could not be read)", " ".join(argus("hangs", str(self.path)).stdout.split()))

    def test_a_file_that_is_no_program(self):
        script = self.folder / "broken"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        done = argus("record", "-o", str(self.path), "--", str(script))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertFalse(self.path.exists())
        self.assert_detached()

    def test_the_second_recording_is_refused(self):
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)
        for arguments in (["start"], ["record", "-o", str(self.path), "--", "true"]):
            done = argus(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"already recording since \d\d:\d\d:\d\d, started by uid 0, pid \d+")
        self.assertFalse(self.path.exists())
        self.recorder()
        self.assertEqual(argus("stop").returncode, 0)
        self.assert_detached()
        self.assertEqual(argus("stop").returncode, 1)

    def test_a_killed_recorder_leaves_nothing(self):
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)
        os.kill(self.recorder(), signal.SIGKILL)
        self.assert_detached()
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)

    def test_a_killed_front_end_ends_the_file(self):
        front = subprocess.Popen([ARGUS, "record", "-o", str(self.path), "--", "sleep", "30"])
        self.recorder()
        self.assertTrue(eventually(lambda: any(comm(p) == "sleep" for p in children(front.pid))))
        sleepers = children(front.pid)
        time.sleep(0.1)
        front.kill()
        front.wait()
        self.assert_detached()
        for pid in sleepers:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(eventually(lambda: Trace(self.path).complete))

    def test_an_ended_recorder_is_told(self):
        front = subprocess.Popen([ARGUS, "record", "-o", str(self.path), "--", "sleep", "1"],
                                 stderr=subprocess.PIPE, text=True)
        os.kill(self.recorder(), signal.SIGTERM)
        _, message = front.communicate(timeout=20)
        self.assertEqual(front.returncode, 1)
        self.assertIn("ended early", message)
        self.assertTrue(Trace(self.path).complete)
        self.assert_detached()

    def test_interrupting_the_command_keeps_the_trace(self):
        front = subprocess.Popen([ARGUS, "record", "-o", str(self.path), "--", "sleep", "30"],
                                 stderr=subprocess.PIPE, start_new_session=True)
        self.assertTrue(eventually(lambda: any(comm(p) == "sleep" for p in children(front.pid))))
        os.killpg(front.pid, signal.SIGINT)
        front.communicate(timeout=20)
        self.assertEqual(front.returncode, 128 + signal.SIGINT)
        self.assertTrue(Trace(self.path).complete)

    def test_a_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", self.folder], check=False)
        if mounted.returncode:
            self.skipTest("cannot mount a small tmpfs")
        self.addCleanup(lambda: subprocess.run(["umount", self.folder], check=True))
        done = argus("record", "-o", str(self.path), "--", "sh", "-c", "sleep 1.5; ls -R /usr >/dev/null; sleep 1.5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left", done.stderr)
        self.assert_detached()

    def test_stop_into_a_bad_place_keeps_recording(self):
        self.assertEqual(argus("start", "--ring-size", "4M").returncode, 0)
        self.assertEqual(argus("stop", "-o", "/no/such/folder/x.argus").returncode, 1)
        self.assertTrue(status()["recording"])

    def test_wrong_sizes(self):
        done = argus("start", "--ring-size", "12")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assert_detached()

    def test_a_small_ring_that_loses_says_how_much(self):
        self.assertEqual(argus("start", "--ring-size", "1M").returncode, 0)
        subprocess.run(["ls", "-R", "/usr"], stdout=subprocess.DEVNULL, check=True)
        before = status()
        self.assertGreater(before["emitted"], before["records"])
        self.assertEqual(argus("snapshot", "-o", str(self.path)).returncode, 0)
        trace = Trace(self.path)
        self.assertLessEqual(len(trace.records), before["ring_bytes"] / 64)
        self.assertEqual(trace.counters["lost"], 0)
        tids = {t[0] for t in trace.threads} | {0}
        self.assertFalse({r[1] for r in trace.records} - tids)

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "there is only one cpu")
    def test_a_snapshot_begins_where_all_cpus_are_complete(self):
        """The ring of a busy CPU covers less time. Before that time, threads that it woke would seem never to have run."""
        busy = min(os.sched_getaffinity(0))
        self.assertEqual(argus("start", "--ring-size", "8M").returncode, 0)
        time.sleep(2)
        subprocess.run(["taskset", "-c", str(busy), "timeout", "2", "dd", "if=/dev/zero", "of=/dev/null", "bs=1"],
                       stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(argus("snapshot", "-o", str(self.path)).returncode, 0)
        first = {}
        for at, _, _, cpu, _ in Trace(self.path).records:
            first[cpu] = min(at, first.get(cpu, at))
        self.assertGreater(len(first), 1)
        self.assertGreaterEqual(min(first.values()), first[busy] - 1_000_000)


if __name__ == "__main__":
    main()
