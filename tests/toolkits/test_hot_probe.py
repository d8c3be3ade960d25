#!/usr/bin/env python3
"""A probe that is hit too often is removed, and that is reported: a thread attaches and destroys sources of GLib's main loop.

    test_hot_probe.py ARGUS

Needs root and a kernel that records, and GLib; exits 77 (skipped) without.
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile
import time

from recording import enter_namespace, skip

SECONDS = 6
HOT = ("g_source_attach", "g_source_destroy")


def churn():
    """Records some thousand sources a second, and then a pause, which shows whether the other probes still work."""
    glib = ctypes.CDLL("libglib-2.0.so.0")
    glib.g_idle_source_new.restype = ctypes.c_void_p
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        source = ctypes.c_void_p(glib.g_idle_source_new())
        glib.g_source_attach(source, None)
        glib.g_source_destroy(source)
        glib.g_source_unref(source)
        time.sleep(0.0001)


def main():
    if sys.argv[1] == "--churn":
        return churn()
    enter_namespace()
    try:
        ctypes.CDLL("libglib-2.0.so.0")
    except OSError:
        skip("there is no GLib")
    argus = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="argus-hot-probe-") as folder:
        trace = str(pathlib.Path(folder) / "t.argus")
        done = subprocess.run([argus, "record", "-o", trace, "--", sys.executable, "-B", __file__, "--churn"],
                              capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        info = subprocess.run([argus, "info", trace], capture_output=True, text=True, timeout=60, check=True).stdout
        said = [line for line in info.splitlines() if "times a second" in line]
        print("\n".join(said))
        for symbol in HOT:
            if not any(f"probes: {symbol} in" in line for line in said):
                sys.exit(f"{symbol} was not taken out:\n{info}")
        if any("g_main_context_prepare" in line for line in said):
            sys.exit("turns of the loop were taken out: callbacks have no end without them")
        dump = subprocess.run([argus, "dump", trace], capture_output=True, text=True, timeout=120, check=True).stdout
    queued = [line.split()[0] for line in dump.splitlines() if " callback_queued " in line]
    print(f"{len(queued)} callback_queued, from {queued[0]} to {queued[-1]}" if queued else "no callback_queued")
    if not queued:
        sys.exit("nothing was recorded before")
    return 0


if __name__ == "__main__":
    sys.exit(main())
