#!/usr/bin/env python3
"""`argus why` while a recorder runs: the diagnosis of its ring stands beside the live state.

why.py ARGUS: see recorder_harness.py.
"""
import json
import pathlib
import subprocess
import sys
import time

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
    return set(pathlib.Path("/tmp").glob("argus-why-*"))


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
        time.sleep(2)  # the hang has to be long enough to be one
        answer = json.loads(argus("why", "--json", str(client)).stdout)
        self.assertEqual([step["pid"] for step in answer["path"]], [client, server])
        self.assertEqual(answer["recording"]["root_causes"][0]["pid"], server, answer["recording"]["summary"])
        text = argus("why", str(client)).stdout
        self.assertIn("What the running recorder has recorded", text)
        self.assertTrue(eventually(lambda: folders() <= before), folders())
        argus("stop")

    def test_no_recorder_runs(self):
        client, server = self.begin()
        answer = json.loads(argus("why", "--json", str(client)).stdout)
        self.assertEqual([step["pid"] for step in answer["path"]], [client, server])
        self.assertIsNone(answer["recording"])


if __name__ == "__main__":
    main()
