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


VALUES = r'''
import copy, dataclasses, gc, math, pickle, sys, threading
import argus

with argus.open(sys.argv[1]) as trace:
    hang = next(trace.hangs())
    assert dataclasses.asdict(hang)["process"] == "editor0" and hang.vertex in dataclasses.astuple(hang)
    assert copy.deepcopy(hang) == hang and copy.copy([hang])[0].diagnose() == copy.deepcopy(hang).diagnose() == hang.diagnose()
    kept = pickle.loads(pickle.dumps(hang))
    assert kept == hang and hash(kept) == hash(hang) and "_source" not in repr(hang), kept
    try:
        kept.diagnose()
        raise AssertionError("a pickled hang is diagnosed")
    except ValueError as error:
        assert "pickled" in str(error), error
    assert pickle.loads(pickle.dumps(hang.diagnose())) == hang.diagnose()
    for wrong in (lambda: trace.hangs(pid=-1), lambda: trace.hangs("edi\0tor"), lambda: trace.hangs(threshold=math.nan),
                  lambda: trace.hangs(threshold=-1), lambda: trace.hangs(pid=2**64), lambda: trace.contexts(most=-1),
                  lambda: trace.contexts("edi\0tor"), lambda: argus.open("a\0b")):
        try:
            wrong()
            raise AssertionError("a wrong argument is taken")
        except ValueError as error:
            assert not isinstance(error, argus.Error), error
    assert not list(trace.hangs(threshold=1e300)) and not list(trace.hangs(threshold=math.inf))

    def make_lists():  # and end them, while another thread calls
        for _ in range(200):
            trace.hangs()
            gc.collect(0)

    threads = [threading.Thread(target=make_lists) for _ in range(3)]
    for thread in threads: thread.start()
    answers = {hang.diagnose() for _ in range(20)}
    for thread in threads: thread.join()
    assert answers == {hang.diagnose()}
'''

BOTH = r'''
import sys, threading
import argus

good, slow = argus.open(sys.argv[1]), argus.open(sys.argv[2])

def compare(one, other):
    for _ in range(40):
        one.contexts(base=other)

threads = [threading.Thread(target=compare, args=pair, daemon=True) for pair in ((good, slow), (slow, good), (good, good))]
for thread in threads: thread.start()
for thread in threads: thread.join(60)
assert not any(thread.is_alive() for thread in threads), "two threads wait for each other"
slow._failed = KeyError("of the base")  # as its go_on leaves it
try:
    good.contexts(base=slow)
    raise AssertionError("what go_on of the base raised is lost")
except KeyError as error:
    assert "of the base" in str(error), error
assert good.contexts(base=slow)
'''

STOPPED = r'''
import os, pathlib, sys, time
import argus

class Enough(Exception):
    pass

def raises(what, share):
    assert what == "importing" and share is None, (what, share)
    raise Enough(what)

def started(what, share):  # the importer is a script, which says that it runs
    return not pathlib.Path(sys.argv[2]).exists()

for function, wanted in (started, argus.Interrupted), (raises, Enough):
    try:
        argus.open(sys.argv[1], go_on=function)
        raise AssertionError("the import went on")
    except wanted as error:
        assert "Ctrl-C" not in str(error), error
    assert not os.path.exists("/proc/" + pathlib.Path(sys.argv[2]).read_text().strip()), "the importer goes on"
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
    run(python, VALUES, trace)
    good, bad = setup.trace("good", usual().text()), setup.trace("slow", slow().text())
    run(python, CONTEXTS, good, bad)
    run(python, BOTH, good, bad)
    importer, foreign, runs = setup.folder / "importer", setup.folder / "foreign.txt", setup.folder / "runs"
    importer.write_text(f"#!/bin/sh\necho $$ >{runs}.new && mv {runs}.new {runs}\nexec sleep 90\n")
    importer.chmod(0o755)
    foreign.write_text("# tracer: nop\n")
    run((python[0], {**python[1], "ARGUS_IMPORT": str(importer)}), STOPPED, foreign, runs)
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
