"""The Python module: pip installs it without a network into an environment of its own, where it reads traces."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "contexts"))
from context_scene import slow, usual  # noqa: E402
from harness import Skip, expect, expect_equal, freezes, main  # noqa: E402

PROGRAM = r'''
import datetime, sys, threading
import argus

with argus.open(sys.argv[1]) as trace:
    assert trace.info.os == "linux" and trace.info.complete and trace.warnings == (), trace.info
    assert isinstance(trace.info.start, datetime.datetime)
    hangs = list(trace.hangs())
    assert [hang.process for hang in hangs] == ["editor0", "editor1"], hangs
    assert 2.99 < hangs[0].seconds < 3.01 and hangs[0].type == "LongWait", hangs[0]
    answer = hangs[1].diagnose()
    assert "because it waited for helper1, which was busy" in answer.summary, answer
    assert [step.process for step in answer.path] == ["editor1", "helper1"] and answer.path[1].expected
    assert answer.culprits[0].process == "helper1" and answer.culprits[0].share > 0.9 and answer.doubts
    assert answer.json()["summary"] == answer.summary and answer.summary in " ".join(answer.text.split())
    assert not list(trace.hangs("helper0", threshold=10)) and not list(trace.hangs(threshold=10))
    try:
        trace.hangs("nobody")
        raise AssertionError("hangs of a process that is not there")
    except argus.NotFound:
        pass
    assert len(list(trace.hangs(pid=100, threshold=1))) == 1
    try:
        trace.contexts()
        raise AssertionError("contexts without stacks")
    except argus.NotFound as error:
        assert isinstance(error, LookupError) and "no call stacks" in str(error), error
    found = []
    threads = [threading.Thread(target=lambda: found.append(hangs[0].diagnose())) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert len(found) == 4 and all(one == found[0] for one in found)
assert hangs[0].process == "editor0"  # a value is valid longer than its trace
for wrong in lambda: hangs[0].diagnose(), lambda: list(trace.hangs()):
    try:
        wrong()
        raise AssertionError("a closed trace answers")
    except ValueError as error:
        assert "closed" in str(error), error
for path, kind in ("/etc/passwd", argus.FormatError), ("/nonexistent", OSError):
    try:
        argus.open(path)
        raise AssertionError(path)
    except kind as error:
        assert isinstance(error, argus.Error) and path in str(error), error
'''

CONTEXTS = r'''
import sys
import argus

good, slow = argus.open(sys.argv[1]), argus.open(sys.argv[2])
own = list(slow.contexts())
assert own and all(context.culprit in context.frames and context.frames[0].function == "alpha" for context in own), own
worse = [context for context in slow.contexts(base=good) if not context.by_chance]
assert 85e6 < worse[0].cost_ns < 95e6 and 0 < worse[1].cost_ns < 2e6 and worse[0].calls == 1, worse
assert len(list(slow.contexts(most=1))) == 1
'''


def environment(setup):
    """A virtual environment with the module, and how to run its Python."""
    library = setup.build / "lib/api/libargus.so.1"
    if b"__asan_init" in library.read_bytes():
        raise Skip("a sanitizer's runtime cannot be loaded into Python")
    place = setup.folder / "venv"
    # without pip of its own, that takes a tenth of the time
    has_pip = not subprocess.run([sys.executable, "-m", "pip", "--python", sys.executable, "--version"], capture_output=True).returncode
    made = subprocess.run([sys.executable, "-m", "venv", *(["--without-pip"] if has_pip else []), str(place)], capture_output=True)
    if made.returncode:
        raise Skip("python3-venv is not installed")
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin/python")] if has_pip else [str(place / "bin/pip")]
    done = subprocess.run([*pip, "install", "--no-index", "--no-compile", "--disable-pip-version-check", str(setup.source / "python")],
                          capture_output=True, text=True, timeout=200)
    expect(done.returncode == 0, done.stdout + done.stderr)
    return [str(place / "bin/python")], {"ARGUS_LIBRARY": str(library), "HOME": str(setup.folder), "PATH": "/usr/bin:/bin"}


def run(python, program, *words):
    done = subprocess.run([*python[0], "-c", program, *map(str, words)], capture_output=True, text=True, timeout=100, env=python[1])
    expect(done.returncode == 0, done.stdout + done.stderr)


def test_module(setup):
    trace = setup.trace("freeze", freezes(3000, 2500))
    python = environment(setup)
    run(python, PROGRAM, trace)
    run(python, CONTEXTS, setup.trace("good", usual().text()), setup.trace("slow", slow().text()))
    expect(list((setup.folder / "venv").rglob("argus/py.typed")), "type hints are not installed")


def test_structures(setup):
    """ctypes' structures are those of argus.h, whose offsets tests/api/abi.txt has."""
    sys.path.insert(0, str(setup.source / "python"))
    from argus import _library
    wanted = {}
    for line in (setup.source / "tests/api/abi.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("member "):
            name, offset, size = line.split()[1:]
            structure, member = name.split(".")
            wanted.setdefault(structure, []).append((member, int(offset), int(size)))
    for structure, rows in wanted.items():
        made = getattr(_library, "".join(part.capitalize() for part in structure.split("_")[1:]))
        got = [(name, getattr(made, name).offset, getattr(made, name).size) for name, _ in made._fields_]
        expect_equal(structure, got, rows)


if __name__ == "__main__":
    main()
