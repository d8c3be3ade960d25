#!/usr/bin/env python3
"""Programs with windows that wait for the clipboard: test_windows.py ARGUS STUCK SCHEMA."""
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from asking import STUCK, Started, settled

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "toolkits"))
from display import Display  # noqa: E402

PROGRAMS = pathlib.Path(STUCK).parents[1] / "tests/toolkits"
FREEZE = PROGRAMS / "freeze-gtk3"


def kinds(path):
    return [step["wait"]["kind"] for step in path]


class Windows(unittest.TestCase):
    def setUp(self):
        self.display = self.entered(Display())

    def entered(self, context):
        """unittest has enterContext() since Python 3.11."""
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def start(self, *command):
        return self.entered(Started(*command, env=self.display.environment)).process

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *arguments], env=self.display.environment, capture_output=True,
                              timeout=20).returncode == 0

    def press_until(self, pid, is_there):
        """F5, again if the window did not have the focus yet or the wait is over (time-out)."""
        until = time.monotonic() + 60
        while True:
            focused = self.xdotool("search", "--onlyvisible", "--pid", str(pid), "windowfocus", "mousemove", "60", "60")
            end = time.monotonic() + 3
            pressed = focused and self.xdotool("key", "F5")
            while pressed and time.monotonic() < end:
                answer = settled(pid)
                if is_there(answer):
                    return answer
            if time.monotonic() > until:
                self.fail(settled(pid)["summary"])

    def test_owner_of_the_clipboard(self):
        """GTK waits for it in an event loop inside the event loop; an idle window does not wait for it."""
        owner = self.start(FREEZE, "own")
        bystander = self.start(FREEZE, "sleep")
        paste = self.start(FREEZE, "clipboard")
        owner.send_signal(signal.SIGSTOP)
        answer = self.press_until(paste.pid, lambda answer: kinds(answer["path"]) == ["selection", "stopped"])
        idle = settled(bystander.pid, lambda path: kinds(path) == ["events"])
        owner.send_signal(signal.SIGCONT)
        first, last = answer["path"]
        self.assertEqual((last["pid"], first["link"], first["guess"], first["wait"]["path"], answer["end"]),
                         (owner.pid, "owns", True, "CLIPBOARD", "stopped"), answer["summary"])
        self.assertEqual(first["nested_loop"]["function"], "gtk_clipboard_wait_for_text")
        self.assertIn(first["nested_loop"]["caller"], ("read_clipboard", "on_key"))  # the former may be inlined
        self.assertEqual((kinds(idle["path"]), idle["end"]), (["events"], "idle"), idle["summary"])
        self.assertIsNone(idle["path"][0]["nested_loop"])

    def test_paste_without_a_toolkit(self):
        """xclip waits in XNextEvent() for any event."""
        if not shutil.which("xclip"):
            self.skipTest("no xclip")
        owner = self.start(FREEZE, "own")
        owner.send_signal(signal.SIGSTOP)
        with subprocess.Popen(["xclip", "-o", "-selection", "clipboard"], env=self.display.environment,
                              stdout=subprocess.DEVNULL) as paste:
            answer = settled(paste.pid, lambda path: kinds(path) == ["selection", "stopped"])
            paste.kill()
        owner.send_signal(signal.SIGCONT)
        self.assertEqual((kinds(answer["path"]), answer["path"][-1]["pid"]), (["selection", "stopped"], owner.pid),
                         answer["summary"])


if __name__ == "__main__":
    if not FREEZE.exists() or not shutil.which("Xvfb") or not shutil.which("xdotool"):
        print("no Xvfb or xdotool, or built without GTK 3")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
