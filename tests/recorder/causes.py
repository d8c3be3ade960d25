#!/usr/bin/env python3
"""The object of a wait and the cause of its end, on the real system: every scene of causes.c is recorded. The graph must name
the object of its wait, and the process that ended it, by a named rule.

causes.py ARGUS CAUSES: the `argus` program and the built causes.c. Needs root; exits 77 (skipped) where the kernel or the
user cannot record. It runs in a mount namespace with a /run/argus of its own.
"""
import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402

ARGUS, CAUSES = "", ""
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000

# The text of the wait, with the facts that the scene printed in braces, and the cause of its end: the rule, and the process from
# which the wake-up came (empty: the scene's own; None: nothing in the trace). A further pair is the cause of that cause. arm64's C
# library calls ppoll for poll() and pause().
SCENES = {
    "poll": (r"p?poll: ready fd {fd} \(unix socket {inode}, peer {peer}\)", "wake.task", "causes-helper"),
    "select": (r"p?select6?: ready fd {fd} \(pipe {inode}\)", "wake.task", "causes-helper"),
    "epoll": (r"epoll_\w+ fd \d+ \(epoll set\): ready fd {fd} \(pipe {inode}\)", "wake.task", "causes-helper"),
    "futex": (r"futex 0x[0-9a-f]+, shared: inode {inode} offset {offset}", "wake.unlock", "causes-helper"),
    "child": (r"wait4 any child, which was pid {pid}", "wake.exit", "c-child"),
    "waitid": (r"waitid pid {pid}", "wake.exit", "c-waitid"),
    "sleep": (r"clock_nanosleep for {ms} ms", "timer.fired", ""),
    "flock": (r"flock fd {fd} \(\S+/lock\)", "wake.exit", "causes-helper"),
    "msgrcv": (r"msgrcv, message queue {id}", "wake.task", "causes-helper"),
    "semop": (r"sem(timed)?op, semaphore set {id}", "wake.unlock", "causes-helper"),
    "signal": (r"(pause|ppoll); {name} from thread \d+ \(causes-helper\)", "wake.signal", "causes-helper"),
    "interrupted": (r"clock_nanosleep for 5000 ms; {name} from thread \d+ \(causes-helper\)", "wake.signal",
                    "causes-helper"),
    "stopped": (r"being continued, stopped by {name} from thread \d+ \(causes-helper\)", "wake.signal",
                "causes-helper"),
    "pty": (r"read fd {fd} \(device \d+\)", "wake.task", "kworker"),
    "timerfd": (r"p?poll: ready fd {fd} \(timerfd\)", "timer.fired", ""),
    "wheel": (r"recvfrom fd {fd} \(unix socket \d+, peer \d+\)", "timer.fired", ""),
    "alarm": (r"(pause|ppoll); {name} from thread \d+ \(c-alarm\)", "timer.fired", ""),
    "prof": (r"(pause|ppoll); {name} from thread \d+ \(c-prof\)", "signal.sent", ""),
}
# These need a file system on a disk.
DISK_SCENES = {
    "fault": (r"a page fault at 0x[0-9a-f]+; disk \d+:\d+, read of \d+ bytes of \S+/data",
              "block.completed", ""),
    "direct": (r"pread64 fd {fd} \(\S+/data\); disk {device}, read of {bytes} bytes", "block.completed", ""),
}


def run(*arguments, **options):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, **options)


def facts_of(text):
    """{"poll": {"fd": "5", …}, …}"""
    return {line.split()[0]: dict(word.split("=") for word in line.split()[1:]) for line in text.splitlines()}


class Graph:
    def __init__(self, path):
        self.path = path

    def ask(self, *arguments):
        done = run(ARGUS, "graph", arguments[0], str(self.path), *arguments[1:], "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def vertices(self, process):
        return self.ask("find", "--process", process)["vertices"]

    def causes(self, vertex):
        """Its causes, except the previous vertex of its thread."""
        return [c for c in self.ask("show", vertex["id"])["causes"] if c["kind"] != "sequence"]

    def waits(self, process, pattern):
        """(the vertex that waited, the next vertex) for each wait whose text matches `pattern`"""
        vertices = self.vertices(process)
        found = []
        for before, after in zip(vertices, vertices[1:]):
            if before["tid"] == after["tid"] and before["wait_on"] and re.fullmatch(pattern, before["wait_on"]):
                found.append((before, after))
        return found


class Causes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="argus-causes-", dir="/var/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "t.argus"

    def record(self, *scenes, **options):
        done = run(ARGUS, "record", "-o", str(self.path), "--", CAUSES, *scenes, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(" 0 lost", done.stderr)
        return Graph(self.path), facts_of(done.stdout)

    def check(self, graph, facts, name, expected):
        pattern, rule, process = expected
        pattern = pattern.format(**{key: re.escape(value) for key, value in facts[name].items()})
        waits = graph.waits(f"c-{name}", pattern)
        said = [v["wait_on"] for v in graph.vertices(f"c-{name}")]
        self.assertEqual(len(waits), 1, f"{pattern} is not among {said}")
        causes = graph.causes(waits[0][1])
        from_whom = [(c["rule"], c["from"]["process"]) for c in causes]
        self.assertTrue(any(r == rule and p.startswith(process or f"c-{name}") for r, p in from_whom), from_whom)
        return waits[0]

    def test_waits_name_their_object_and_who_ended_them(self):
        graph, facts = self.record(*SCENES)
        for name, expected in SCENES.items():
            with self.subTest(name):
                self.check(graph, facts, name, expected)

    def test_waits_for_a_disk(self):
        if run("stat", "-f", "-c", "%T", str(self.folder)).stdout.strip() in ("tmpfs", "overlayfs"):
            self.skipTest("/var/tmp is on no disk")
        graph, facts = self.record(*DISK_SCENES)
        for name, expected in DISK_SCENES.items():
            with self.subTest(name):
                self.check(graph, facts, name, expected)

    def test_a_terminal_leads_through_a_kernel_worker_to_the_writer(self):
        graph, facts = self.record("pty")
        wait = self.check(graph, facts, "pty", SCENES["pty"])
        worker = next(c["from"] for c in graph.causes(wait[1]) if c["rule"] == "wake.task")
        began = graph.causes(worker)
        self.assertIn(("work.executed", "causes-helper"), [(c["rule"], c["from"]["process"]) for c in began])
        self.assertIn("(work flush_to_ldisc)", run(ARGUS, "graph", "show", str(self.path), worker["id"]).stdout)

    def test_a_signal_reaches_a_thread_that_runs(self):
        graph, _ = self.record("taken")
        causes = [c for v in graph.vertices("c-taken") for c in graph.causes(v) if c["rule"] == "signal.taken"]
        self.assertEqual([c["from"]["process"] for c in causes], ["causes-helper"])
        self.assertGreater(causes[0]["to_ns"], causes[0]["to"]["start_ns"])

    def test_a_timerfd_is_the_armers(self):
        graph, facts = self.record("timerfd")
        wait = self.check(graph, facts, "timerfd", SCENES["timerfd"])
        fired = [c for c in graph.causes(wait[1]) if c["rule"] == "timer.fired"]
        self.assertEqual([c["from"]["thread"] for c in fired], ["armer"])

    def test_an_epoll_set_that_is_older_than_the_recording(self):
        program = subprocess.Popen([CAUSES, "oldepoll"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.wait)
        facts = facts_of(program.stdout.readline())["epoll"]
        script = "import os, time; os.write(int(os.environ['GO']), b'x'); time.sleep(0.4)"
        done = run(ARGUS, "record", "-o", str(self.path), "--", sys.executable, "-c", script,
                   env={**os.environ, "GO": str(program.stdin.fileno())}, pass_fds=[program.stdin.fileno()])
        self.assertEqual(done.returncode, 0, done.stderr)
        program.stdin.close()
        program.stdout.close()
        pattern = rf"epoll_\w+ fd \d+ \(epoll set\): ready fd {facts['fd']} \(pipe {facts['inode']}\)"
        self.assertEqual(len(Graph(self.path).waits("c-oldepoll", pattern)), 1)

    def test_a_loop_device_leads_through_its_kernel_worker(self):
        image = self.folder / "image"
        image.write_bytes(bytes(1 << 20))
        made = run("losetup", "--find", "--show", "--direct-io=on", str(image))
        if made.returncode:
            self.skipTest(f"no loop device: {made.stderr.strip()}")
        device = made.stdout.strip()
        self.addCleanup(run, "losetup", "--detach", device)
        graph, _ = self.record("loop", env={**os.environ, "CAUSES_LOOP": device})
        waits = graph.waits("c-loop", r"pread64 fd \d+ \(block device \d+\); disk 7:\d+, read of 4096 bytes")
        self.assertEqual(len(waits), 1, [v["wait_on"] for v in graph.vertices("c-loop")])
        chain, vertex = [], waits[0][1]
        for _ in range(8):
            causes = [c for c in graph.causes(vertex) if c["to_ns"] == c["to"]["start_ns"]]
            if not causes:
                break
            chain.append(causes[0]["rule"])
            vertex = causes[0]["from"]
            if vertex["process"] == "c-loop":
                break
        self.assertEqual(vertex["process"], "c-loop", chain)
        self.assertIn("work.executed", chain)


def can_record():
    """None, or the reason why this machine cannot record."""
    if os.geteuid() != 0:
        return "it needs root"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None):
        return "no mount namespaces: " + os.strerror(ctypes.get_errno())
    os.makedirs("/run/argus", mode=0o755, exist_ok=True)
    if libc.mount(b"none", b"/run/argus", b"tmpfs", 0, b"mode=755"):
        return "cannot mount: " + os.strerror(ctypes.get_errno())
    with tempfile.TemporaryDirectory() as folder:
        done = run(ARGUS, "record", "-o", f"{folder}/t.argus", "--", "true")
        return None if done.returncode == 0 else done.stderr.strip()


if __name__ == "__main__":
    ARGUS, CAUSES = sys.argv[1:3]
    REASON = can_record()
    if REASON:
        print("skipped:", REASON)
        sys.exit(77)
    load_retry.run_unittests([sys.argv[0], *sys.argv[3:]])
