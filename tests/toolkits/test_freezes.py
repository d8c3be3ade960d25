#!/usr/bin/env python3
"""Freezes in a handler of a real toolkit, recorded without any option: are they listed first, and is the cause right?

    test_freezes.py ARGUS NAME PROGRAM     NAME: a row of CASES; PROGRAM: "none" when the toolkit is not there

Needs root and a kernel that records, Xvfb, xdotool and dbus-daemon; exits 77 (skipped) without.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from display import Display, wait_for
from recording import crowd, enter_namespace, skip

HERE = pathlib.Path(__file__).resolve().parent

# what runs beside it (a mode of the program, or a script), whether that is stopped at F5, and the culprit; None: no freeze
CASES = {
    "gtk3.call": ("serve", False, "slowservice"),
    "gtk3.start": ("serve", False, "slowservice"),
    "gtk3.folder": ("slow_folder.py", False, "slowfolder"),
    "qt5.clipboard": ("own", True, "slowowner"),
    "qt5.nested": (None, False, None),
}


@contextlib.contextmanager
def running(command, environment, said):
    """A process, once it says that it is there."""
    with open(said, "w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


@contextlib.contextmanager
def session(display):
    """The environment with a message bus of our own."""
    bus = subprocess.Popen(["dbus-daemon", "--session", "--print-address", "--nofork"], stdout=subprocess.PIPE, text=True,
                           env=display.environment)
    try:
        yield dict(display.environment, DBUS_SESSION_BUS_ADDRESS=bus.stdout.readline().strip())
    finally:
        bus.stdout.close()
        bus.terminate()
        bus.wait()


def helper_command(program, helper, folder):
    if helper and helper.endswith(".py"):
        return [sys.executable, "-B", str(HERE / helper), str(folder)]
    return [program, helper]


def focus(pid, environment):
    """There is no window manager, so nobody else does that. False: the window is not there yet."""
    done = subprocess.run(["xdotool", "search", "--onlyvisible", "--pid", str(pid), "windowfocus", "mousemove", "60", "60"],
                          env=environment, capture_output=True, check=False, timeout=20)
    return done.returncode == 0


def freeze(program, mode, case, environment, folder):
    """Starts the program, presses F5 and types while it is frozen."""
    helper, stops, _ = case
    said = folder / "said"

    def press(*keys):
        subprocess.run(["xdotool", "key", "--delay", "60", *keys], env=environment, check=True)

    with contextlib.ExitStack() as stack:
        other = None
        slow = folder / "slow"
        slow.mkdir(exist_ok=True)
        if helper:
            other = stack.enter_context(running(helper_command(program, helper, slow), environment, folder / "helper"))
            wait_for(lambda: "serves" in (folder / "helper").read_text(), "the helper")
        frozen = stack.enter_context(running([program, mode, slow], environment, said))
        wait_for(lambda: "ready" in said.read_text(), program)
        wait_for(lambda: focus(frozen.pid, environment), "the focus")
        if mode == "start":
            time.sleep(0.5)
        else:
            time.sleep(1)
            press("a", "b", "c", "d", "e", "f")
        if stops:
            other.send_signal(signal.SIGSTOP)
        if mode != "start":
            press("F5")
        time.sleep(1 if mode != "call" else 1.5)
        if not stops:  # each key ends one of the waits for the clipboard, and the culprit is guessed from the longest
            press("g", "h", "i")
        else:
            time.sleep(1.5)
            other.send_signal(signal.SIGCONT)
        wait_for(lambda: "done" in said.read_text(), "the end of the freeze")
        time.sleep(0.3)
        press("k", "l", "m")
        time.sleep(1)


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}, {done.stderr}")
    return done.stdout


def record(argus, program, mode, case, trace, options):
    with tempfile.TemporaryDirectory(prefix="argus-freezes-") as folder, Display() as display, session(display) as environment:
        run(argus, "start", "--ring-size", "512M", *options)
        try:
            freeze(program, mode, case, environment, pathlib.Path(folder))
        finally:
            run(argus, "stop", "-o", trace)
            subprocess.run(["umount", "-l", pathlib.Path(folder) / "slow"], stderr=subprocess.DEVNULL, check=False)


def check(argus, name, program, options=()):
    mode, case, process = name.split(".")[1], CASES[name], pathlib.Path(program).name[:15]
    with tempfile.TemporaryDirectory(prefix="argus-freezes-") as folder:
        trace = pathlib.Path(os.environ.get("ARGUS_FREEZES_KEEP", folder)) / f"{name}.argus"
        record(argus, program, mode, case, trace, options)
        hangs = json.loads(run(argus, "hangs", "--json", trace))["hangs"]
        mine = [hang for hang in hangs if hang["process"] == process]
        told = [(h["process"], h["thread"], h["type"], round(h["duration_ns"] / 1e9, 2), h["awaited"]) for h in hangs]
        print(name, *told, sep="\n  ")
        if case[2] is None:
            assert not mine, mine
            return
        assert len(mine) == 1 and 2.2e9 < mine[0]["duration_ns"] < 5e9, mine
        assert mine[0]["awaited"], mine
        longer = [hang for hang in hangs[:hangs.index(mine[0])] if hang["process"] != case[2]]
        assert not longer, f"others come first: {told}"
        answer = json.loads(run(argus, "diagnose", "--auto", "--json", "--process", process, trace))
        culprits = [cause["process"] for cause in answer["root_causes"]]
        print("  ", [(c["process"], c["thread"], c["type"], c["why"]) for c in answer["root_causes"]])
        assert culprits and culprits[0] == case[2], culprits


def main():
    argus, name, program, *options = sys.argv[1:]
    if program == "none":
        skip(f"{name} is not installed for building programs (scripts/deps toolkits)")
    missing = [tool for tool in ("Xvfb", "xdotool", "dbus-daemon") if not shutil.which(tool)]
    if missing:
        skip(f"there is no {missing[0]} (scripts/deps toolkits)")
    if name == "gtk3.folder" and not os.path.exists("/dev/fuse"):
        skip("there is no /dev/fuse")
    enter_namespace()
    crowd.run_check(lambda: check(argus, name, program, options))


main()
