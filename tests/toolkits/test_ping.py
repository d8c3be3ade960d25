#!/usr/bin/env python3
"""Pings that a program does not answer: test_ping.py ARGUS PING_WM NAP_GTK ("none": not built).

A window manager of our own pings a window of GTK, which sleeps for 3 s in a handler. The hang must be found by the ping as
well as by the event loop. A window that always answers is not reported. Exits 77 where this machine cannot record.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from display import Display
from recording import enter_namespace, load_retry, skip

LOOP, PING = "event loop did not come back", "ping not answered"


def record(argus, manager, program, seconds, trace):
    with Display() as display:
        pings = subprocess.Popen([manager], env=display.environment)
        try:
            done = subprocess.run([argus, "record", "-o", trace, "--", program, str(seconds)], env=display.environment,
                                  capture_output=True, text=True, timeout=100)
        finally:
            pings.terminate()
            pings.wait()
    assert done.returncode == 0, done.stderr


def hangs(argus, trace, *options):
    done = subprocess.run([argus, "hangs", "--json", "--process", "nap_gtk", *options, trace], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["hangs"]


def check(argus, manager, program):
    with tempfile.TemporaryDirectory(prefix="argus-ping-") as folder:
        trace = str(pathlib.Path(folder) / "ping.argus")
        record(argus, manager, program, 3, trace)
        found = hangs(argus, trace)
        print(json.dumps([hang["indicators"] for hang in found]))
        assert [hang["indicators"] for hang in found] == [[LOOP, PING]], found
        assert 2.9e9 < found[0]["duration_ns"] < 4e9, found
        senders = {item["process"] for item in found[0]["pending"]}
        assert "Xvfb" in senders, found[0]["pending"]
        assert hangs(argus, trace, "--threshold=6s") == []
        record(argus, manager, program, 0, trace)
        found = [hang for hang in hangs(argus, trace, "--threshold=1500ms") if PING in hang["indicators"]]
        assert found == [], found


def main():
    argus, manager, program = sys.argv[1:]
    if "none" in (manager, program):
        skip("GTK 3 or Xlib is not installed for building programs (scripts/deps toolkits)")
    if not shutil.which("Xvfb"):
        skip("there is no Xvfb (scripts/deps toolkits)")
    enter_namespace()
    load_retry.run_check(lambda: check(argus, manager, program))


main()
