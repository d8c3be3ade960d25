#!/usr/bin/env python3
"""Symbols from debuginfod servers: debuginfod.py ARGUS CC.

A program without symbols is recorded here. Its trace is read while the package debuginfod serves the stripped symbols, and with servers
that are slow, send wrong files, or do not have it. Servers listen on a free port of this machine only, have a cache of their own, and are
ended by their ids. Needs root and a kernel that records, and libdebuginfod, else skipped (77); see recorder_harness.py.
"""
import contextlib
import ctypes
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import recorder_harness as live  # noqa: E402
from names import CC, LITTLE, RESTER  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plugin"))
import harness as plugin  # noqa: E402

PLUGIN = pathlib.Path(live.ARGUS).resolve().parent.parent / "lib/libargus.so"


def has_library():
    with contextlib.suppress(OSError):
        return bool(ctypes.CDLL("libdebuginfod.so.1"))
    return False


class Answers(http.server.BaseHTTPRequestHandler):
    """The answers of a server that is not debuginfod: `server.how` is "hang", "missing" or a file to send."""

    def do_GET(self):
        self.server.asked.append(self.path)
        if self.server.how == "hang":
            self.server.over.wait()
        body = self.server.how.read_bytes() if isinstance(self.server.how, pathlib.Path) else b""
        with contextlib.suppress(OSError):
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_arguments):
        pass


class Program:
    """A stripped program, its debug information, and traces of it with and without names; made once."""

    def __init__(self, folder):
        self.path, self.served = folder / "held", folder / "served"
        self.served.mkdir()
        whole = self.build(folder, RESTER, "held")
        subprocess.run(["objcopy", "--only-keep-debug", whole, self.served / "held.debug"], check=True)
        subprocess.run(["strip", "-o", self.path, whole], check=True)
        shutil.copy(self.path, self.served / "held")
        self.build_id = build_id_of(self.path)
        self.other = self.build(folder, RESTER.replace("int main", "int other(void) { return 1; }\nint main"), "held")
        self.trace, self.bare = folder / "t.argus", folder / "bare.argus"
        with fake_server("hang") as server:  # the names that are written at the end of a recording come from this machine alone
            for path, options in (self.trace, []), (self.bare, ["--no-symbols"]):
                done = live.argus("record", "-o", str(path), *LITTLE, *options, "--", str(self.path), env=server.environment)
                assert done.returncode == 0, done.stderr
            self.asked_while_recording = list(server.asked)
        os.unlink(whole)

    @staticmethod
    def build(folder, source, name):
        text, program = folder / f"{name}.c", folder / f"{name}.whole{len(source)}"
        text.write_text(source.replace("NAME", name))
        subprocess.run([CC, "-g", "-O1", "-fno-omit-frame-pointer", "-o", program, text], check=True)
        return program


def environment_for(port, cache, **more):
    removed = {name: value for name, value in os.environ.items() if not name.startswith("DEBUGINFOD_")}
    return {**removed, "DEBUGINFOD_URLS": f"http://127.0.0.1:{port}", "DEBUGINFOD_CACHE_PATH": cache, **more}


@contextlib.contextmanager
def fake_server(how):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server, tempfile.TemporaryDirectory() as cache:
        server.how, server.asked, server.over, server.daemon_threads = how, [], threading.Event(), True
        server.environment = environment_for(server.server_port, cache)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()


def answers(port, build_id):
    with contextlib.suppress(urllib.error.URLError, OSError):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/buildid/{build_id}/debuginfo", timeout=5):
            return True
    return False


def build_id_of(path):
    notes = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    return notes.split("Build ID: ")[1].split()[0]


@contextlib.contextmanager
def real_server(program):
    """A debuginfod server whose files are all in a temporary folder; yields the environment for asking it."""
    with socket.socket() as probe, tempfile.TemporaryDirectory() as folder:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        words = ["debuginfod", "-F", "-p", str(port), "-d", f"{folder}/db.sqlite", "-t", "2", str(program.served)]
        with open(f"{folder}/log", "w", encoding="utf-8") as log:
            server = subprocess.Popen(words, stdout=log, stderr=log, cwd=folder, env=os.environ | {"HOME": folder})
        try:
            if not live.eventually(lambda: answers(port, program.build_id), 60):
                raise AssertionError(pathlib.Path(f"{folder}/log").read_text())
            yield environment_for(port, f"{folder}/cache")
        finally:
            server.terminate()
            server.wait()


class Servers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="argus-debuginfod-")
        cls.addClassCleanup(folder.cleanup)
        if not has_library():
            raise unittest.SkipTest("libdebuginfod is not installed (Debian: libdebuginfod1)")
        cls.program = Program(pathlib.Path(folder.name))

    def setUp(self):
        if "debuginfod" in self.id().rsplit(".", 1)[1] and not shutil.which("debuginfod"):
            self.skipTest("the package debuginfod is not installed")

    @contextlib.contextmanager
    def gone(self):
        away = self.program.path.with_suffix(".away")
        os.rename(self.program.path, away)
        try:
            yield
        finally:
            os.rename(away, self.program.path)

    def vertex(self, path):
        """A vertex that waited in held_rests()."""
        done = live.argus("graph", "find", "--no-cache", "--json", "--process", "held", "--longer-than", "50ms", str(path))
        waits = [v for v in json.loads(done.stdout)["vertices"] if (v["wait_on"] or "").startswith("clock_nanosleep")]
        self.assertTrue(waits, done.stdout)
        return waits[0]["id"]

    def show(self, path, environment):
        return live.argus("graph", "show", "--no-cache", str(path), self.vertex(path), env=environment)

    def assert_named(self, shown):
        for frame in "held_rests (held.c:", "held_waits (held.c:", "main (held.c:":
            self.assertIn(frame, shown.stdout, shown.stderr)
        self.assertNotIn("no symbol", shown.stdout)

    def assert_not_named(self, shown, reason):
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertNotIn("held_waits", shown.stdout)
        self.assertRegex(shown.stdout, rf"\d of \d+ frames have no symbol, because {reason}")

    def test_debuginfod_has_what_was_stripped(self):
        with real_server(self.program) as environment:
            self.assert_not_named(self.show(self.program.trace, None), "the file is stripped")
            self.assert_named(self.show(self.program.trace, environment))
            contexts = live.argus("contexts", "--no-cache", "--process", "held", str(self.program.trace), env=environment)
            self.assertIn("held_waits", contexts.stdout)
            shown = live.argus("graph", "show", "--no-cache", "--json", str(self.program.trace), self.vertex(self.program.trace),
                               env=environment)
            self.assertIsNone(json.loads(shown.stdout)["unnamed_frames"])

    def test_debuginfod_has_a_program_that_is_gone(self):
        with real_server(self.program) as environment, self.gone():
            self.assert_not_named(self.show(self.program.bare, None), "the file is gone")
            self.assert_named(self.show(self.program.bare, environment))

    def test_debuginfod_after_a_stop(self):
        """When a request is given up, the library remembers the file as missing on the servers."""
        with fake_server("hang") as server, self.gone():
            slow = {**server.environment, "DEBUGINFOD_MAXTIME": "2"}
            shown = self.show(self.program.bare, slow)
            self.assert_not_named(shown, "the file is gone")
            self.assertIn("took too long", shown.stderr)
            with real_server(self.program) as environment:
                self.assert_named(self.show(self.program.bare, environment | {
                    "DEBUGINFOD_CACHE_PATH": slow["DEBUGINFOD_CACHE_PATH"]}))

    def test_recording_asks_nobody(self):
        self.assertEqual(self.program.asked_while_recording, [])

    def test_only_what_is_shown_is_asked_for(self):
        with fake_server("missing") as server:
            live.argus("graph", "summary", "--no-cache", str(self.program.trace), env=server.environment)
            live.argus("hangs", "--no-cache", str(self.program.trace), env=server.environment)
            live.argus("info", str(self.program.trace), env=server.environment)
            self.assertEqual(server.asked, [])
            shown = self.show(self.program.trace, server.environment)
            self.assert_not_named(shown, "the file is stripped")
            self.assertIn("do not have", shown.stderr)
            own = [path for path in server.asked if self.program.build_id in path]
            self.assertEqual(own, [f"/buildid/{self.program.build_id}/debuginfo"])

    def ask_of_contexts(self, *options):
        """The requests of `argus contexts` to servers, from an empty state each time, because the library remembers missing files."""
        with fake_server("missing") as server:
            done = live.argus("contexts", "--no-cache", *options, str(self.program.trace), env=server.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            return set(server.asked), done.stdout

    def test_contexts_ask_for_printed_rows(self):
        own = f"/buildid/{self.program.build_id}/debuginfo"
        self.assertEqual(self.ask_of_contexts("--top", "0")[0], set())
        asked, printed = self.ask_of_contexts("--process", "held", "--top", "1")
        self.assertIn(own, asked)
        self.assertRegex(printed, r"held\+0x")
        self.assertRegex(printed, r"\d+ of \d+ frames ha(s|ve) no symbol")
        everything = self.ask_of_contexts("--json", "--tree")[0]
        self.assertLessEqual(asked, everything)
        if len(everything) == 1:
            self.skipTest("the recording has no other file without names")
        self.assertLess(asked, everything)

    def test_another_build_is_not_used(self):
        with fake_server(self.program.other) as server:
            self.assert_not_named(self.show(self.program.trace, server.environment), "the file is stripped")
            with self.gone():
                self.assert_not_named(self.show(self.program.bare, server.environment), "the file is gone")
            self.assertTrue(server.asked)

    def test_no_server_is_there(self):
        with fake_server("missing") as server:
            environment = server.environment
        shown = self.show(self.program.trace, environment)
        self.assert_not_named(shown, "the file is stripped")
        self.assertIn("no symbols from DEBUGINFOD_URLS: Connection refused", shown.stderr)

    def test_interrupt_in_the_shell(self):
        with fake_server("hang") as server, self.gone():
            words = [live.ARGUS, "graph", "show", "--no-cache", str(self.program.bare), self.vertex(self.program.bare)]
            shown = subprocess.Popen(words, env=server.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertTrue(live.eventually(lambda: server.asked, 30))
            shown.send_signal(signal.SIGINT)
            begin = time.monotonic()
            text, remarks = shown.communicate(timeout=60)
            self.assertLess(time.monotonic() - begin, 10)
            self.assertIn("stopped by Ctrl-C", remarks)
            self.assertNotIn("held_waits", text)

    def test_interrupt_in_lldb(self):
        lldb = shutil.which("lldb") or shutil.which("lldb-19") or shutil.which("lldb-14")
        if not lldb or not PLUGIN.exists():
            self.skipTest("no lldb is installed, or the plugin is not built")
        if "libasan" in subprocess.run(["ldd", PLUGIN], capture_output=True, text=True).stdout:
            self.skipTest("the address sanitizer's library would have to be loaded before LLDB")
        vertex = self.vertex(self.program.bare)
        with fake_server("hang") as server, self.gone():
            terminal = plugin.Terminal([lldb, "--no-lldbinit", "--no-use-colors"], **server.environment)
            self.addCleanup(terminal.close)
            terminal.wait_for("(lldb)")
            terminal.send(f'plugin load "{PLUGIN}"\r')
            terminal.send(f"argus load {self.program.bare}\r")
            terminal.wait_for("vertices")
            terminal.send(f"argus graph show {vertex}\r")
            while not server.asked:
                terminal.wait_for("(lldb)")
                time.sleep(0.05)
            begin = time.monotonic()
            terminal.send("\x03")
            terminal.send("argus version\r")
            terminal.wait_for("trace format", seconds=30)
            self.assertLess(time.monotonic() - begin, 10)
            terminal.send("quit\r")
            self.assertEqual(terminal.end(), 0)


if __name__ == "__main__":
    live.main()
