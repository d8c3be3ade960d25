#!/usr/bin/env python3
"""Freezes in a handler of a real toolkit, recorded without any option: are they listed first, and is the cause right?

    test_freezes.py ARGUS NAME PROGRAM     NAME: a row of CASES; PROGRAM: "none" if the toolkit is not installed

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
import typing

from display import Display, wait_for
from recording import enter_namespace, load_retry, skip

HERE = pathlib.Path(__file__).resolve().parent


class Case(typing.NamedTuple):
    helper: typing.Optional[str] = None  # the other program: a mode of the same program, or a script
    stops: bool = False  # the other program is stopped at F5
    types: bool = True  # keys are typed while the program is frozen
    culprit: typing.Optional[str] = None  # None: no freeze


CASES = {
    "gtk3.call": Case("serve", culprit="slowservice"),
    "gtk3.start": Case("serve", culprit="slowservice"),
    "gtk3.folder": Case("slow_folder.py", culprit="slowfolder"),
    "gtk3.clipboard": Case("own", stops=True, culprit="slowowner"),
    "gtk3.dialog": Case(),
    "qt5.clipboard": Case("own", stops=True, culprit="slowowner"),
    "qt5.excluded": Case(culprit="freeze-qt5"),
    "qt5.nested": Case(),
    "tk.clipboard": Case("own", stops=True, culprit="slowowner"),
    "xcb.reply": Case("grab", types=False, culprit="slowgrabber"),
}


@contextlib.contextmanager
def running(command, environment, said):
    """A process that has reported that it is ready."""
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
    """The environment with a private message bus."""
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
    return started(program, helper)


def started(program, *arguments):
    """A script for Tk needs the system's Python."""
    return ["/usr/bin/python3", "-B", program, *arguments] if program.endswith(".py") else [program, *arguments]


def focus(pid, environment):
    """Sets the focus, since there is no window manager. Not all programs tell the process of a window. Returns False if the window does not
    exist yet."""
    for which in (["--pid", str(pid)], ["--name", "^frozen$"]):
        done = subprocess.run(["xdotool", "search", "--onlyvisible", *which, "windowfocus", "mousemove", "60", "60"],
                              env=environment, capture_output=True, check=False, timeout=20)
        if done.returncode == 0:
            return True
    return False


def freeze(program, mode, case, environment, folder):
    """Starts the program, presses F5 and types while it is frozen. Returns the processes involved."""
    said = folder / "said"

    def press(*keys):
        subprocess.run(["xdotool", "key", "--delay", "60", *keys], env=environment, check=True)

    with contextlib.ExitStack() as stack:
        other = None
        slow = folder / "slow"
        slow.mkdir(exist_ok=True)
        if case.helper:
            other = stack.enter_context(running(helper_command(program, case.helper, slow), environment, folder / "helper"))
            wait_for(lambda: "serves" in (folder / "helper").read_text(), "the helper")
        frozen = stack.enter_context(running(started(program, mode, slow), environment, said))
        wait_for(lambda: "ready" in said.read_text(), program)
        wait_for(lambda: focus(frozen.pid, environment), "the focus")
        if mode == "start":
            time.sleep(0.5)
        else:
            time.sleep(1)
            press("a", "b", "c", "d", "e", "f")
        if case.stops:
            other.send_signal(signal.SIGSTOP)
        if mode != "start":
            press("F5")
        time.sleep(1 if mode != "call" else 1.5)
        if case.types:
            press("g", "h", "i")
        if case.stops:
            time.sleep(1.5)
            other.send_signal(signal.SIGCONT)
        wait_for(lambda: "done" in said.read_text(), "the end of the freeze")
        time.sleep(0.3)
        press("k", "l", "m")
        time.sleep(1)
        return {process.pid for process in (frozen, other) if process}


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.returncode}, {done.stderr}")
    return done.stdout


def record(argus, program, mode, case, trace, options):
    with tempfile.TemporaryDirectory(prefix="argus-freezes-") as folder, Display() as display, session(display) as environment:
        run(argus, "start", "--ring-size", "512M", *options)
        try:
            return freeze(program, mode, case, environment, pathlib.Path(folder)) | {display.server.pid}
        finally:
            run(argus, "stop", "-o", trace)
            subprocess.run(["umount", "-l", pathlib.Path(folder) / "slow"], stderr=subprocess.DEVNULL, check=False)


def check(argus, name, program, options=()):
    mode, case, process = name.split(".")[1], CASES[name], pathlib.Path(program).stem.replace("_", "-")[:15]
    with tempfile.TemporaryDirectory(prefix="argus-freezes-") as folder:
        trace = pathlib.Path(os.environ.get("ARGUS_FREEZES_KEEP", folder)) / f"{name}.argus"
        ours = record(argus, program, mode, case, trace, options)
        hangs = json.loads(run(argus, "hangs", "--json", trace))["hangs"]
        mine = [hang for hang in hangs if hang["process"] == process]
        told = [(h["process"], h["thread"], h["type"], round(h["duration_ns"] / 1e9, 2), h["awaited"]) for h in hangs]
        print(name, *told, sep="\n  ")
        if case.culprit is None:
            assert not mine, mine
            return
        assert len(mine) == 1 and 2.2e9 < mine[0]["duration_ns"] < 5e9, mine
        assert mine[0]["awaited"], mine
        longer = [hang for hang in hangs[:hangs.index(mine[0])] if hang["process"] != case.culprit and hang["pid"] in ours]
        assert not longer, f"others come first: {told}"
        answer = json.loads(run(argus, "diagnose", "--auto", "--json", "--process", process, trace))
        culprits = [cause["process"] for cause in answer["root_causes"]]
        print("  ", [(c["process"], c["thread"], c["type"], c["why"]) for c in answer["root_causes"]])
        assert culprits and culprits[0] == case.culprit, culprits


def main():
    argus, name, program, *options = sys.argv[1:]
    if program == "none":
        skip(f"{name} is not installed for building programs (scripts/deps toolkits)")
    missing = [tool for tool in ("Xvfb", "xdotool", "dbus-daemon") if not shutil.which(tool)]
    if missing:
        skip(f"there is no {missing[0]} (scripts/deps toolkits)")
    if name == "gtk3.folder" and not os.path.exists("/dev/fuse"):
        skip("there is no /dev/fuse")
    if name.startswith("tk.") and subprocess.run(["/usr/bin/python3", "-c", "import tkinter"], stderr=subprocess.DEVNULL,
                                                 check=False).returncode:
        skip("the system's Python has no tkinter")
    enter_namespace()
    load_retry.run_check(lambda: check(argus, name, program, options))


main()
