#!/usr/bin/env python3
"""A click, from the X server through the toolkit to the handler, by named edges.

    test_toolkits.py ARGUS NAME PROGRAM     NAME: a row of CASES; PROGRAM: "none" if the toolkit is not installed

Needs root and a kernel that records, Xvfb and xdotool; exits 77 (skipped) without.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
import decode  # noqa: E402
from display import Display, wait_for  # noqa: E402
from recording import Graph, enter_namespace, load_retry, skip  # noqa: E402

UI_EVENT, HIGHEST_KIND = 0x60030010, 13

# The program's last line of output, and what must be reached from the click: functions, and labels of probes.
CASES = {
    "gtk3": ("timeout", "GTK 3", ["on_clicked", "do_idle_work", "do_timeout_work"], ["GLib idle callback", "GLib timeout"]),
    "gtk4": ("timeout", "GTK 4", ["on_clicked", "do_idle_work", "do_timeout_work"], ["GLib idle callback", "GLib timeout"]),
    "qt5": ("timer", "Qt 5", ["Worker::customEvent", "on_clicked"], ["Qt event of the program", "Qt queued call", "Qt timer"]),
    "qt6": ("timer", "Qt 6", ["Worker::customEvent", "on_clicked"], ["Qt event of the program", "Qt queued call", "Qt timer"]),
}
DISPATCHED = ("dispatch.queued", "sequence.callback")


def record_click(argus, program, last, trace, folder):
    said = folder / "said"
    with Display() as display, open(said, "w") as output:
        process = subprocess.Popen([program], env=display.environment, stdout=output, stderr=subprocess.DEVNULL)
        try:
            wait_for(lambda: "ready" in said.read_text(), program)
            wait_for(display.has_window, "a window")
            time.sleep(1)  # time for its first frames; an earlier click would not be handled
            script = (f"xdotool mousemove 60 60 sleep 0.3 click 1 sleep 0.2 key Shift; "
                      f"for i in $(seq 300); do grep -q {last} {said} && exit; sleep 0.1; done; exit 1")
            done = subprocess.run([argus, "record", "-o", trace, "--", "sh", "-c", script], env=display.environment,
                                  capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"argus record: {done.returncode}, {done.stderr}; {program} said {said.read_text()}")
        finally:
            process.terminate()
            process.wait()


def check_no_codes(trace):
    """A UI event is recorded as kind, probe and stack pointer only."""
    kinds = []
    for line in decode.decode(trace.read_bytes()):
        if line.startswith("record "):
            _, _, _, debugid, _, kind, second, _, _ = line.split(" ")
            if int(debugid, 16) == UI_EVENT:
                assert int(kind) <= HIGHEST_KIND and second == "0", line
                kinds.append(int(kind))
    assert kinds, "no UI event was recorded"


def check_click(argus, name, process, trace):
    _, toolkit, functions, labels = CASES[name]
    graph = Graph(argus, trace)
    presses = graph.find("--process", process, "--event", "button_press")
    releases = graph.find("--process", process, "--event", "button_release")
    assert presses and releases, f"button press {presses}, release {releases}"
    for vertex in (presses[-1], releases[-1]):
        assert toolkit in graph.labels(vertex), graph.labels(vertex)
        rules = graph.caused_by(vertex, "Xvfb", ("dispatch.read", "dispatch.ready"))
        assert rules, f"{vertex}: no way back to the X server"
        print(f"{vertex} {graph.events(vertex)[0]}: X server -> {' -> '.join(reversed(rules))} -> {toolkit}")
    reached = graph.walk([presses[-1], releases[-1]], *DISPATCHED)
    names = [function for vertex in reached for function in graph.functions(vertex)]
    seen = [label for vertex in reached for label in graph.labels(vertex)]
    for function in functions:
        assert any(function in name for name in names), f"{function} is not reached from the click: {names}"
    for label in labels:
        assert label in seen, f"no {label} is reached from the click: {seen}"
    print(f"click -> {', '.join(functions)}; {', '.join(labels)}")


def check_uv(argus, program, trace):
    done = subprocess.run([argus, "record", "-o", trace, "--", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    graph = Graph(argus, trace)
    for vertex in graph.find("--process", pathlib.Path(program).name):
        if any("do_timer_work" in function for function in graph.functions(vertex)):
            causes = [edge["rule"] for edge in graph.show(vertex)["causes"] if edge["strong"]]
            assert causes == ["dispatch.queued"], causes
            return
    sys.exit("the timer's callback is in no vertex")


def check(argus, name, program):
    with tempfile.TemporaryDirectory(prefix="argus-toolkits-") as folder:
        trace = pathlib.Path(folder) / "click.argus"
        if name == "uv":
            check_uv(argus, program, str(trace))
            return
        record_click(argus, program, CASES[name][0], str(trace), pathlib.Path(folder))
        check_no_codes(trace)
        check_click(argus, name, pathlib.Path(program).name, str(trace))


def main():
    argus, name, program = sys.argv[1:]
    if program == "none":
        skip(f"{name} is not installed for building programs (scripts/deps toolkits)")
    missing = [tool for tool in ("Xvfb", "xdotool") if name != "uv" and not shutil.which(tool)]
    if missing:
        skip(f"there is no {missing[0]} (scripts/deps toolkits)")
    enter_namespace()
    load_retry.run_check(lambda: check(argus, name, program))


main()
