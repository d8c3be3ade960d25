#!/usr/bin/env python3
"""Desktop notifications of argus start --on-hang, on a private session bus. See recorder_harness.py."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import on_hang
from recorder_harness import argus, eventually, main, status

HERE = pathlib.Path(__file__).resolve().parent
CONFIGURATION = """<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""


class Notices(on_hang.HangLoops):
    def setUp(self):
        super().setUp()
        self.socket = self.folder / "bus"
        (self.folder / "bus.conf").write_text(CONFIGURATION.format(path=self.socket))
        self.process(["dbus-daemon", "--nofork", f"--config-file={self.folder}/bus.conf"])
        self.assertTrue(eventually(self.socket.exists))
        self.address = {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.socket}"}

    def process(self, words):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def desktop(self, action=""):
        """A notification service, which prints each notification as a line."""
        service = self.process([sys.executable, "-B", str(HERE / "notification_daemon.py"), str(self.socket), action])
        self.assertEqual(service.stdout.readline(), "ready\n")
        return service

    def hang(self, name="argusloop1"):
        self.assertEqual(self.loop(name, 0.9).stdout.readline(), "done\n")
        self.assertTrue(eventually(lambda: status()["hangs"]["files"] == 1, 60), status())

    def note(self):
        return [note for note in status()["notes"] if note.startswith("no desktop notification")]

    def test_a_hang_is_shown_with_its_cause(self):
        desktop = self.desktop()
        self.start("--process", "argusloop1", **self.address)
        self.hang()
        shown = json.loads(desktop.stdout.readline())
        self.assertRegex(shown["title"], r"^argusloop1 did not answer for (\d{3} ms|\d\.\d+ s)$")
        self.assertRegex(shown["text"], r"^(Probably it|It) .*slept.*\.$")
        self.assertEqual(shown["actions"], ["default", "Open report", "report", "Open report"])
        self.assertEqual(self.note(), [])
        self.assertFalse(list(self.folder.glob("*.html")))  # without a click there is no report

    def test_markup_is_escaped_and_another_session_bus_is_found(self):
        desktop = self.desktop()
        # the session in which the recording was started has ended since; the new one has its bus in the usual place
        self.start("--process", "a<b>&c", DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere/bus", XDG_RUNTIME_DIR=str(self.folder))
        self.hang("a<b>&c")
        shown = json.loads(desktop.stdout.readline())
        self.assertIn("a<b>&c did not answer", shown["title"])  # the title is plain text, without markup
        self.assertNotIn("<", shown["text"])

    def test_a_click_opens_the_report(self):
        opener = self.folder / "bin/xdg-open"
        opener.parent.mkdir()
        opener.write_text(f"#!/bin/sh\necho \"$1\" > {self.folder}/opened\n")
        opener.chmod(0o755)
        self.desktop("report")
        self.start("--process", "argusloop1", PATH=f"{opener.parent}:{os.environ['PATH']}", **self.address)
        self.hang()
        opened = self.folder / "opened"
        self.assertTrue(eventually(lambda: opened.exists() and opened.read_text(), 60))
        page = self.folder / opened.read_text().strip()
        self.assertEqual(page.name, self.files()[0].name + ".html")
        self.assertIn("argusloop1", page.read_text())

    def test_quiet(self):
        desktop = self.desktop()
        self.start("--process", "argusloop1", "--quiet", **self.address)
        self.hang()
        argus("stop")
        desktop.kill()
        self.assertEqual(desktop.stdout.read(), "")

    def test_nobody_shows_it(self):
        """The file is kept anyway, and `argus status` reports once that no notification was shown."""
        self.start("--process", "argusloop1", **self.address)
        self.hang()
        self.assertTrue(eventually(self.note, 10))
        self.assertEqual(len(self.note()), 1)
        self.assertIn("the desktop shows none", self.note()[0])
        self.assertEqual(len(self.files()), 1)

    def test_no_session_bus(self):
        self.start("--process", "argusloop1", DBUS_SESSION_BUS_ADDRESS="", XDG_RUNTIME_DIR=str(self.folder / "none"))
        self.hang()
        self.assertTrue(eventually(self.note, 10))
        self.assertEqual(self.note(), ["no desktop notification: there is no session bus"])


if __name__ == "__main__":
    if not shutil.which("dbus-daemon"):
        print("skipped: dbus-daemon is not installed")
        sys.exit(77)
    main()
