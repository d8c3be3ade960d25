"""An X server for a test, and waiting for things."""
import os
import subprocess
import sys
import time


def wait_for(condition, what, seconds=30):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            sys.exit(f"{what}: nothing in {seconds} s")
        time.sleep(0.05)


class Display:
    """A private X server."""

    def __enter__(self):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"], pass_fds=[write],
            stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as number:
            display = ":" + number.readline().strip()
        self.environment = dict(
            os.environ, DISPLAY=display, GDK_BACKEND="x11", QT_QPA_PLATFORM="xcb", GSK_RENDERER="cairo",
            LIBGL_ALWAYS_SOFTWARE="1", NO_AT_BRIDGE="1", GTK_A11Y="none", XDG_RUNTIME_DIR="/run/argus")
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def has_window(self):
        found = subprocess.run(["xdotool", "search", "--onlyvisible", "--class", "."], env=self.environment,
                               capture_output=True, text=True)
        return found.stdout.strip() != ""
