#!/usr/bin/env python3
"""`argus why` while a recorder runs: the diagnosis of its ring stands beside the live state.

why.py ARGUS: see recorder_harness.py.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from recorder_harness import Live, argus, eventually, main

# The server reads the request, says so, and sleeps.
PAIR = """
import os, socket, sys, time
here, there = socket.socketpair()
if os.fork() == 0:
    here.close()
    there.recv(10)
    print(os.getpid(), flush=True)
    time.sleep(600)
there.close()
here.send(b"question")
here.recv(1)
"""


def folders():
    """Where a snapshot would have stayed behind."""
    return set(pathlib.Path(tempfile.gettempdir()).glob("argus-why-*"))


class WhileRecording(Live):
    def begin(self):
        program = subprocess.Popen([sys.executable, "-c", PAIR], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        server = int(program.stdout.readline())
        self.addCleanup(subprocess.run, ["kill", str(server)])
        self.assertTrue(eventually(lambda: self.waits(program.pid), 30))
        return program.pid, server

    def waits(self, pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"

    def test_recording_is_diagnosed(self):
        before = folders()
        self.assertEqual(argus("start").returncode, 0)
        client, server = self.begin()
        answer = {}

        def is_recorded():  # the hang has to be long enough to be one
            answer.update(json.loads(argus("why", "--json", str(client)).stdout))
            return answer["recording"] is not None
        self.assertTrue(eventually(is_recorded, 60), answer)
        self.assertEqual([step["pid"] for step in answer["path"]], [client, server])
        self.assertEqual(answer["recording"]["root_causes"][0]["pid"], server, answer["recording"]["summary"])
        text = argus("why", str(client)).stdout
        self.assertIn("What the running recorder has recorded", text)
        self.assertEqual(folders() - before, set())
        argus("stop")

    def test_hang_is_older_than_the_recording(self):
        """Then the live state is the whole answer, and nothing has failed."""
        before = folders()
        client, server = self.begin()
        self.assertEqual(argus("start").returncode, 0)
        done = argus("why", "--json", str(client))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([step["pid"] for step in json.loads(done.stdout)["path"]], [client, server])
        done = argus("why", str(client))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"[{server}]", done.stdout)
        rules = self.folder / "argus/rules"
        rules.parent.mkdir()
        rules.symlink_to(rules)  # the recording cannot be analysed, because its rules cannot be read
        done = argus("why", "--json", str(client), env={**os.environ, "XDG_CONFIG_HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(([step["pid"] for step in answer["path"]], answer["recording"]), ([client, server], None))
        self.assertIn("a recorder runs, but its records do not tell more", done.stderr)
        self.assertEqual(folders() - before, set())
        argus("stop")

    def test_no_recorder_runs(self):
        client, server = self.begin()
        answer = json.loads(argus("why", "--json", str(client)).stdout)
        self.assertEqual([step["pid"] for step in answer["path"]], [client, server])
        self.assertIsNone(answer["recording"])


if __name__ == "__main__":
    main()
