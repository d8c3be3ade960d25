#!/usr/bin/env python3
"""What `argus why` says about programs that are frozen for a known reason: test_why.py ARGUS STUCK SCHEMA [CASE…].

A case of stuck_*.c has a row in CASES: the kinds of waits on the path, the names (as stuck_*.c prints them) of its
threads or processes, and how it ends. No case needs root; where the kernel does not let this user look (ptrace_scope), all
are skipped.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "toolkits"))
from asking import ARGUS, SCHEMA, STUCK, Started, Stuck, cpu_ticks, kinds_and_threads, own_id, problems, settled, status, \
    why  # noqa: E402
from cases import BY_LAST_RUN, CASES, UNREAD  # noqa: E402
from display import Display  # noqa: E402

# A library function that is called without giving up the lock.
HOLDER = """import ctypes, threading
def hold_it():
    print(threading.get_native_id(), flush=True)
    ctypes.PyDLL(None).sleep(600)
def wait_for_it():
    threading.Thread(target=hold_it).start()
    for _ in range(10**9):
        pass
wait_for_it()
"""


# Sends to another machine, from which nothing comes; another process takes packets of anybody at that port.
ELSEWHERE = """import os, socket, sys, time
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", 0))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try:
    client.connect((sys.argv[1], server.getsockname()[1]))
except OSError as error:
    print(f"error: {error}", flush=True)
    sys.exit()
reader, writer = os.pipe()
if os.fork() == 0:
    client.close()
    os.close(writer)
    print("ready", flush=True)
    os.read(reader, 1)  # until the parent ends
    os._exit(0)
server.close()
os.close(reader)
client.recv(1)
"""


# LLDB lets a process go on in the background.
UNTIL_IT_RUNS = "script import time; [time.sleep(0.05) for _ in range(600) if lldb.debugger.GetSelectedTarget().process.GetState() " \
    "!= lldb.eStateRunning]; print('it runs:', lldb.debugger.GetSelectedTarget().process.GetState() == lldb.eStateRunning)"


# Waits for what the server at a port sends.
READER = """import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
connection.recv(1)
"""


def why_all(display, *options):
    done = subprocess.run([ARGUS, "why", *options], capture_output=True, text=True, timeout=120, env=display.environment)
    if done.returncode:
        raise AssertionError(f"argus why: {done.returncode}: {done.stderr}")
    return done.stdout


def settled_case(stuck, case):
    """The answer about the main thread of a case, once its threads are in the waits of its row."""
    kinds, names, end = CASES[case]
    tids = [stuck.ids[name.rstrip("?")] for name in names]
    return settled(stuck.ids["main"], lambda path: kinds_and_threads(path) == (kinds, tids) and
                   not any(step["went_on"] for step in path), end)


def without_lines(text):
    """The text in one line, without numbers of source lines, and without the function of the last thread, which is not told of one that
    went on meanwhile: the two answers look at a loop at different moments."""
    return re.sub(r", in \w+(?=[;.])", "", re.sub(r"(\.c):\d+", r"\1", " ".join(text.split())))


class Why(unittest.TestCase):
    def check(self, case):
        kinds, names, end = CASES[case]
        with Stuck(case) as stuck:
            if case == "userfault" and "worker" not in stuck.ids:
                self.skipTest("userfaultfd is not allowed here")
            if case == "lease" and "holder" not in stuck.ids:
                self.skipTest("the file system of /tmp has no leases")
            if case in BY_LAST_RUN and not os.path.exists("/proc/self/sched"):
                self.skipTest("the kernel does not tell when a thread has run last")
            if case == "polled_elsewhere" and "holder" not in stuck.ids:
                self.skipTest("no mount namespace can be made here")
            tids = [stuck.ids[name.rstrip("?")] for name in names]
            answer = settled_case(stuck, case)
            text = why(stuck.ids["main"])
        path = answer["path"]
        self.assertEqual(kinds_and_threads(path), (kinds, tids), answer["summary"])
        self.assertEqual([False] + [step["guess"] for step in path[:-1]], [name.endswith("?") for name in names])
        self.assertEqual(answer["end"], end, answer["summary"])
        self.assertEqual(problems(answer, json.loads(pathlib.Path(SCHEMA).read_text())), [])
        if case != "udp":
            self.assertEqual(path[0]["wait"]["unread_there"], UNREAD.get(case, 0))
        self.assertFalse(any(step["went_on"] for step in path))
        polled = [stuck.ids["holder"]] if case in ("polled_lock", "polled_lock_until_told", "polled_path") else []
        if end == "sleeps":
            self.assertEqual([candidate["pid"] for candidate in answer["candidates"]], polled)
            self.assertEqual("again and again to lock a file that" in answer["summary"], bool(polled), answer["summary"])
        self.assertIn(without_lines(answer["summary"]), without_lines(text))
        return answer

    def test_stacks_are_whole_and_named(self):
        """Also functions that address their frame by a frame pointer, which nobody tells."""
        with Stuck("mutex") as stuck:
            path = settled_case(stuck, "mutex")["path"]
        for step, function in zip(path, ("mutex", "work_slowly")):
            self.assertTrue(step["stack_complete"], step["stack"])
            begin = "main" if function == "mutex" else "hold_and_sleep"
            names = [frame.split()[0] for frame in step["stack"]]
            self.assertIn(begin, names)
            # above them libc's functions, none of them left out
            self.assertGreater(len(names) - names.index(begin), 2 if begin == "main" else 1, names)
            self.assertTrue(any(frame.startswith(function + " ") for frame in step["stack"]), step["stack"])

    def test_running_thread_is_sampled(self):
        with Stuck("runs") as stuck:
            answer = settled_case(stuck, "runs")
        samples = answer["samples"]
        if samples["by"] is None or not samples["samples"]:
            self.skipTest("no samples: the kernel allows none, or the thread got no CPU")
        self.assertEqual((samples["functions"][0]["function"], samples["functions"][0]["own"]),
                         ("runs", samples["samples"]))
        self.assertTrue(samples["stacks"][0]["stack_complete"])
        names = [frame.split()[0] for frame in samples["stacks"][0]["stack"]]
        self.assertEqual(names[:2], ["runs", "main"])
        self.assertIn("runs, in runs;", answer["summary"])
        self.assertIsNone(answer["loop"])

    def test_flag_of_a_loop(self):
        for case in ("spins", "polls_flag"):
            with Stuck(case) as stuck:
                answer = settled_case(stuck, case)
            if case == "spins" and answer["samples"]["samples"] < 8:
                continue
            self.assertEqual(answer["loop"]["variables"], [{"name": "go_on", "image": "stuck", "value": 0, "lock": False, "holder_tid": None}])
            self.assertTrue(answer["loop"]["place"].startswith(case + " "), answer["loop"])
            self.assertIn("'go_on' of stuck, which is 0 now", answer["summary"])

    def test_long_sleep_polls_nothing(self):
        """The loop around it has other work."""
        with Stuck("sleeps_in_a_loop") as stuck:
            answer = settled_case(stuck, "sleeps_in_a_loop")
        self.assertIsNone(answer["loop"], answer["summary"])

    def test_lock_in_a_checked_program(self):
        """The compiler's checks (-fsanitize) add ways out of a loop, all of which end the program."""
        checked = pathlib.Path(STUCK).with_name("stuck_checked")
        if not checked.exists():
            self.skipTest("the compiler adds no such checks")
        with Stuck("polls_member", program=checked) as stuck:
            answer = settled_case(stuck, "polls_member")
        self.assertEqual([step["tid"] for step in answer["path"]], [stuck.ids["main"], stuck.ids["holder"]],
                         answer["summary"])

    def test_who_can_end_the_wait_for_a_pipe(self):
        """Of the waiter's own process, its other threads; the waiter cannot."""
        with Stuck("pipe_of_workers") as stuck:
            answer = settled_case(stuck, "pipe_of_workers")
            workers = {int(name) for name in os.listdir(f"/proc/{stuck.process.pid}/task")} - {stuck.process.pid}
        self.assertEqual(({candidate["tid"] for candidate in answer["candidates"]}, len(workers)), (workers, 2))
        self.assertIn("not known which of several", answer["summary"])
        with Stuck("pipe_of_tokens") as stuck:
            answer = settled_case(stuck, "pipe_of_tokens")
        self.assertEqual([candidate["pid"] for candidate in answer["candidates"]], [stuck.ids["holder"]])
        self.assertIn("any process that has the pipe can end it", answer["summary"])

    def test_wait_that_ends_meanwhile(self):
        """A reader that ends while argus looks is not missing: the writer has gone on, too. About every second pipeline ends so."""
        seen = 0
        for _ in range(25):
            with subprocess.Popen(["dd", "if=/dev/zero", "bs=256k", "count=400"], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL) as writer, \
                    subprocess.Popen(["cat"], stdin=writer.stdout, stdout=subprocess.DEVNULL):
                writer.stdout.close()
                done = subprocess.run([ARGUS, "why", "--json", str(writer.pid)], capture_output=True, text=True, timeout=60)
            answer = json.loads(done.stdout) if done.returncode == 0 else {"path": [], "end": None}
            has_gone_on = bool(answer["path"]) and answer["path"][-1]["went_on"]
            self.assertFalse(answer["end"] == "nobody" and has_gone_on, done.stdout)
            seen += has_gone_on
            if seen == 4:
                break

    def test_siblings_that_may_hold_a_lock(self):
        with Stuck("backends") as stuck:
            answer = settled_case(stuck, "backends")
            text = why(stuck.ids["main"])
        self.assertEqual([(candidate["pid"], candidate["client_tid"], candidate["link"]) for candidate in answer["candidates"]],
                         [(stuck.ids["other"], stuck.ids["client"], "shares")])
        self.assertIn(f"which serves stuck [{stuck.ids['client']}]", text)

    def test_session_that_may_hold_a_lock(self):
        with Stuck("sessions") as stuck:
            answer = settled_case(stuck, "sessions")
        self.assertEqual([(candidate["tid"], candidate["client_tid"], candidate["link"]) for candidate in answer["candidates"]],
                         [(stuck.ids["session"], stuck.ids["client"], "shares")])

    def test_thread_that_held_a_copied_lock(self):
        with Stuck("copied_mutex") as stuck:
            answer = settled_case(stuck, "copied_mutex")
            threads = [int(name) for name in os.listdir(f"/proc/{stuck.process.pid}/task")]
        self.assertIn(answer["path"][1]["wait"]["holder_tid"], threads)
        self.assertIn("Nobody will unlock it", answer["summary"])

    def test_handler_may_end_a_wait(self):
        with Stuck("handles_signals") as stuck:
            answer = settled_case(stuck, "handles_signals")
        self.assertIn("probably none of them can go on", answer["summary"])

    def test_thread_ids_of_a_container(self):
        """A lock has its owner's ID inside the PID namespace, which is another one outside."""
        if os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("only root can make a PID namespace")
        for case in ("mutex", "robust", "join", "copied_mutex"):
            kinds, names, end = CASES[case]
            with Stuck(case, "unshare", "--pid", "--fork", "--mount-proc") as stuck:
                if "main" not in stuck.ids:
                    self.skipTest("no PID namespace can be made here")
                outside = int(pathlib.Path(f"/proc/{stuck.process.pid}/task/{stuck.process.pid}/children").read_text())
                answer = settled(outside, lambda path: kinds_and_threads(path)[0] == kinds, end)
                own = [own_id(step["pid"], step["tid"]) for step in answer["path"]]
            self.assertEqual((own, answer["end"]), ([stuck.ids[name] for name in names], end), answer["summary"])

    def test_count_that_is_no_thread_of_a_container(self):
        """The main thread of a container's only process has the ID 1."""
        wrapper = ("unshare", "--pid", "--fork", "--mount-proc") if os.geteuid() == 0 and shutil.which("unshare") else ()
        with Stuck("own_readers", *wrapper) as stuck:
            if "main" not in stuck.ids:
                self.skipTest("no PID namespace can be made here")
            pid = stuck.process.pid
            outside = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()) if wrapper else pid
            answer = settled(outside, lambda path: kinds_and_threads(path)[0] == ["futex"])
        self.assertEqual((len(answer["path"]), answer["path"][0]["wait"]["kind"]), (1, "futex"), answer["summary"])

    def test_call_that_a_debugger_interrupted(self):
        """The call goes on as restart_syscall(), which does not say what it was."""
        with Stuck("sleeps") as stuck:
            for number in (signal.SIGSTOP, signal.SIGCONT):
                os.kill(stuck.process.pid, number)
                time.sleep(0.1)
            answer = settled_case(stuck, "sleeps")
        self.assertEqual(answer["end"], "sleeps", answer["summary"])

    def test_call_through_a_bus(self):
        """The service that has to answer, not the daemon, nor a service that answered before."""
        bus_program = pathlib.Path(STUCK).with_name("stuck_bus")
        if not bus_program.exists() or not shutil.which("dbus-daemon"):
            self.skipTest("no dbus-daemon, or built without libdbus")
        with Started("dbus-daemon", "--session", "--nofork", "--print-address") as daemon:
            environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": daemon.line}
            services = ["org.argus.First", "org.argus.Second"]
            with Started(bus_program, "serve", services[0], env=environment), \
                    Started(bus_program, "serve", services[1], env=environment) as second, \
                    Started(bus_program, "ask", *services, services[1], env=environment) as client:
                answer = settled(client.process.pid, lambda path: path[-1]["wait"]["kind"] == "sleep" and
                                 path[0]["wait"]["unread_there"])
                path = answer["path"]
                self.assertEqual([step["pid"] for step in path], [client.process.pid, second.process.pid],
                                 answer["summary"])
                self.assertEqual((path[0]["wait"]["kind"], path[0]["wait"]["path"], path[0]["link"], path[0]["guess"]),
                                 ("dbus", "org.argus.Second", "bus", True))
                self.assertGreater(path[0]["wait"]["unread_there"], 0)
                self.assertIn("bytes of messages, of all its clients, are still unread there", answer["path"][0]["text"])
                self.assertEqual(answer["end"], "sleeps")
                daemon.process.send_signal(signal.SIGSTOP)
                answer = settled(client.process.pid, lambda path: path[-1]["wait"]["kind"] == "stopped")
                self.assertEqual(([step["pid"] for step in answer["path"]], answer["end"]),
                                 ([client.process.pid, daemon.process.pid], "stopped"), answer["summary"])

    def test_window_that_does_not_answer(self):
        """Without an argument: of two windows, the stopped one; GTK and Qt answer pings to different listeners."""
        programs = [pathlib.Path(STUCK).parents[1] / "tests/toolkits" / name for name in ("freeze-gtk3", "freeze-qt5")]
        programs = [program for program in programs if program.exists()]
        if not programs or not shutil.which("Xvfb"):
            self.skipTest("no Xvfb, or built without GTK and Qt")
        with Display() as display:
            started = [subprocess.Popen([program, "sleep"], env=display.environment, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL) for program in programs]
            try:
                self.assertTrue(self.wait_for_windows(display, {one.pid: True for one in started}))
                started[0].send_signal(signal.SIGSTOP)
                wanted = {one.pid: one is not started[0] for one in started}
                answer = self.wait_for_windows(display, wanted)
                self.assertEqual((answer["answers"][0]["path"][0]["pid"], answer["answers"][0]["end"]),
                                 (started[0].pid, "stopped"))
                text = why_all(display)
                self.assertRegex(text, r'The window "[^"]*" of \S+ \[' + str(started[0].pid) + r"\] does not answer")
                display.server.send_signal(signal.SIGSTOP)
                answer = json.loads(why_all(display, "--json"))
                self.assertEqual((answer["display"], answer["answers"][0]["path"][0]["pid"]),
                                 ("silent", display.server.pid))
            finally:
                display.server.send_signal(signal.SIGCONT)  # it would not end
                for one in started:
                    one.kill()
                    one.wait()

    def wait_for_windows(self, display, wanted):
        """Until exactly these windows answer, or do not."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            answer = json.loads(why_all(display, "--json"))
            self.assertEqual(problems(answer, json.loads(pathlib.Path(SCHEMA).with_name("why-all.json").read_text())), [])
            if {window["pid"]: window["answers"] for window in answer["windows"]} == wanted:
                return answer
        self.fail(f"{answer['windows']}, wanted: {wanted}")

    def test_holder_of_the_gil(self):
        """Which Python function holds Python's lock, and who waits for it."""
        if not (3, 11) <= sys.version_info < (3, 14) or sys.platform != "linux":
            self.skipTest("offsets of this Python are not known")
        with Started(sys.executable, "-c", HOLDER) as python:
            answer = settled(python.process.pid, lambda path: kinds_and_threads(path)[0] == ["gil", "sleep"])
        path = answer["path"]
        self.assertEqual([step["wait"]["kind"] for step in path], ["gil", "sleep"], answer["summary"])
        self.assertEqual([step["tid"] for step in path], [python.process.pid, int(python.line)])
        names = [[frame.split()[0] for frame in step["stack"]] for step in path]
        self.assertIn("wait_for_it", names[0])
        self.assertEqual([frame for frame in path[1]["stack"] if frame.startswith("hold_it ")], ["hold_it (<string>:4)"])
        self.assertIn("in hold_it;", answer["summary"])

    def test_packets_for_another_machine(self):
        """A local server that takes packets of anybody has nothing to do with them."""
        for address, is_remote in (("192.0.2.1", True), ("127.0.0.2", False)):  # RFC 5737; this machine
            with Started(sys.executable, "-c", ELSEWHERE, address) as python:
                if python.line != "ready":
                    self.skipTest(f"no packets can be sent: {python.line}")
                answer = settled(python.process.pid, lambda path: path[0]["wait"]["kind"] == "udp")
            self.assertEqual((len(answer["path"]), answer["end"] == "remote"), (1 if is_remote else 2, is_remote),
                             answer["summary"])

    def test_python_in_a_container(self):
        """Python's list of threads has their IDs inside the PID namespace."""
        if not (3, 11) <= sys.version_info < (3, 14) or os.geteuid() != 0 or not shutil.which("unshare"):
            self.skipTest("offsets of this Python are not known, or no PID namespace can be made")
        with Started("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, "-c", HOLDER) as python:
            if not python.line:
                self.skipTest("no PID namespace can be made here")
            pid = python.process.pid
            outside = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text())
            answer = settled(outside, lambda path: kinds_and_threads(path)[0] == ["gil", "sleep"])
            path = answer["path"]
            self.assertEqual([step["wait"]["kind"] for step in path], ["gil", "sleep"], answer["summary"])
            self.assertEqual(own_id(path[1]["pid"], path[1]["tid"]), int(python.line))
        self.assertTrue(any(frame.startswith("hold_it ") for frame in path[1]["stack"]), path[1]["stack"])

    def in_lldb(self, pid, *commands):
        """What LLDB prints that has attached to the process and executes the commands."""
        found = [name for name in ("lldb", *(f"lldb-{version}" for version in range(14, 23))) if shutil.which(name)]
        plugin = pathlib.Path(STUCK).parents[1] / "lib/libargus.so"
        if not found or not plugin.exists():
            self.skipTest("no LLDB, or built without its plugin")
        if b"__asan_init" in plugin.read_bytes():
            self.skipTest("a sanitizer's runtime cannot be loaded into LLDB")
        options = [word for command in commands for word in ("-o", command)]
        done = subprocess.run([found[0], "--batch", "--no-lldbinit", "-o", f"plugin load {plugin}", "-p", str(pid), *options],
                              capture_output=True, text=True, timeout=200)
        if "attach failed" in done.stderr:
            self.skipTest("LLDB may not attach here")
        return " ".join(done.stdout.split())

    def test_stopped_in_lldb(self):
        """Inside LLDB, the debugger's stop is not the reason."""
        with Stuck("mutex") as stuck:
            settled_case(stuck, "mutex")
            said = self.in_lldb(stuck.ids["main"], "argus why")
        self.assertRegex(said, rf"waits for mutex 0x[0-9a-f]+, which thread stuck "
                               rf"\[{stuck.ids['holder']}\] of stuck \[{stuck.ids['main']}\] holds")

    def test_running_in_lldb(self):
        """The process need not be stopped first."""
        with Stuck("unread") as stuck:
            settled_case(stuck, "unread")
            said = self.in_lldb(stuck.ids["main"], "script lldb.debugger.SetAsync(True)", "continue", UNTIL_IT_RUNS, "argus why",
                                "process detach")
        if "it runs: True" not in said:
            self.skipTest("this LLDB does not let a process run while it reads commands")
        self.assertIn(f"whose other end stuck [{stuck.ids['server']}] has", said)

    def test_nothing_is_changed(self):
        """A thread that sleeps in a call which a stop would end with EINTR is still there, in the same call."""
        with Stuck("loops") as stuck:
            pid = stuck.ids["main"]
            settled_case(stuck, "loops")
            switches = [line for line in status(pid) if "ctxt_switches" in line]
            for _ in range(5):
                why(pid)
            self.assertEqual([line for line in status(pid) if "ctxt_switches" in line], switches)

    def test_by_name_and_by_thread(self):
        with Stuck("mutex") as stuck:
            settled_case(stuck, "mutex")
            answer = json.loads(why(stuck.ids["holder"], "--json"))
            self.assertEqual([step["tid"] for step in answer["path"]], [stuck.ids["holder"]])
            self.assertEqual({thread["tid"] for thread in answer["threads"]}, {stuck.ids["main"], stuck.ids["holder"]})
        done = subprocess.run([ARGUS, "why", "no-such-process"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no process 'no-such-process'", done.stderr)

    def test_a_line_break_in_a_name(self):
        """It would look like a line of the answer."""
        with tempfile.TemporaryDirectory() as folder:
            name = "a\nWhere\x1b[2J\tb"
            fifo = os.path.join(folder, name)
            os.mkfifo(fifo)
            with subprocess.Popen(["cat", fifo]) as reader:
                try:
                    answer = settled(reader.pid, lambda path: "Where" in json.dumps(path))
                    text = why(reader.pid)
                finally:
                    reader.kill()
        self.assertIn("a\\u000aWhere\\u001b[2J\\u0009b", text)
        self.assertNotIn("Where\x1b", text)
        self.assertIn(name.replace("\n", "\v").replace("\t", "\f"), answer["path"][0]["wait"]["path"])

    def test_other_users_processes_are_said(self):
        """A user who may not look is told so, and no one is blamed."""
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        with Stuck("mutex") as stuck:
            done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ARGUS, "why", "--json",
                                   str(stuck.ids["main"])], capture_output=True, text=True, timeout=60)
        if done.returncode == 127 or "ermission denied" in done.stderr:
            self.skipTest(f"another user cannot execute {ARGUS}")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["end"], len(answer["path"])), ("denied", 1))
        self.assertIn("it belongs to another user", answer["uncertain"][0])

    def test_only_a_debugger_may_look(self):
        """As with kernel.yama.ptrace_scope: the user is told why."""
        user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups") if os.geteuid() == 0 else ()
        if subprocess.run([*user, ARGUS, "--version"], capture_output=True).returncode:
            self.skipTest(f"another user cannot execute {ARGUS}")
        with Stuck("undumpable", *user) as stuck:
            until, answer = time.monotonic() + 60, {"end": None}
            while answer["end"] != "denied" and time.monotonic() < until:  # it may still be on its way to sleep
                done = subprocess.run([*user, ARGUS, "why", "--json", str(stuck.ids["main"])], capture_output=True, text=True, timeout=60)
                answer = json.loads(done.stdout)
        self.assertEqual((answer["end"], len(answer["path"])), ("denied", 1), answer["summary"])
        self.assertIn("kernel.yama.ptrace_scope, or the program forbids it", answer["uncertain"][0])

    def test_other_users_server_is_not_named(self):
        """The other end of a connection belongs to another user: who it is, only root sees."""
        if os.geteuid() != 0:
            self.skipTest("only root can become another user")
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        with socket.create_server(("127.0.0.1", 0)) as server, \
                Started(*user, "/usr/bin/env", "python3", "-c", READER, str(server.getsockname()[1])) as client:
            if client.line != "ready":
                self.skipTest("another user cannot run Python")
            answer = settled(client.process.pid, lambda path: len(path) > 1)
            self.assertEqual(answer["path"][1]["pid"], os.getpid(), answer["summary"])
            done = subprocess.run([*user, ARGUS, "why", "--json", str(client.process.pid)], capture_output=True, text=True,
                                  timeout=60)
            if done.returncode == 127 or "ermission denied" in done.stderr:
                self.skipTest(f"another user cannot execute {ARGUS}")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["end"], len(answer["path"])), ("denied", 1), answer["summary"])
        self.assertIn("run argus with sudo", answer["summary"])


def add_case(case):
    def test(self):
        self.check(case)
    setattr(Why, f"test_case_{case}", test)


def may_look():
    scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
    if os.geteuid() and scope.exists() and scope.read_text().strip() != "0":
        return "only root may look at processes that are not its children: kernel.yama.ptrace_scope"
    with Stuck("sleeps") as stuck:
        try:
            pathlib.Path(f"/proc/{stuck.ids['main']}/syscall").read_text()
        except OSError as error:
            return f"this user may not look at a child's system call: {error}"
    return None


if __name__ == "__main__":
    reason = may_look()
    if reason:
        print(reason)
        sys.exit(77)
    for one in CASES:
        add_case(one)
    unittest.main(argv=[sys.argv[0], *(f"Why.{name}" for name in sys.argv[4:])])
