"""Records the event loops of loops.c and asks for their hangs: live_hangs.py ARGUS LOOPS FOLDER [WORD…].

The table below has the expected hangs, their nature, and the pending input. Exits 77 where this machine cannot record.
"""
import contextlib
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
import load_retry  # noqa: E402
import machine  # noqa: E402

TYPIST = ("message", "quilltypist")
WAIT, RUN = "LongWait", "LongRunning"

# word: the process, its hang (type, natures, what is pending, awaited, ongoing) or None, and what is expected under "idle"
CASES = {
    "weave": ("weaverloom", None, False),
    "jam": ("weaverjam", (RUN, (None, "waits for a cpu"), [TYPIST], True), False),
    "stop": ("statuegame", (WAIT, ("stopped",), [TYPIST], True), False),
    "thirst": ("thirstyvine", (RUN, ("waits for a cpu",), [TYPIST], True), False),
    "nap": ("napeditor", None, True),
    "owl": ("owlkeeper", (RUN, (None, "waits for a cpu"), [], False), False),
    "dive": ("divingbell", (WAIT, (None,), [TYPIST], True), False),
    "ask": ("askingowl", None, True),
    "lost": ("lostferry", (WAIT, (None,), [TYPIST], True), False),
    "atlas": ("atlasreader", (WAIT, ("page-in storm",), [TYPIST], True), False),
}
ATLAS_BYTES, READS_PER_S = 64 << 20, 150
BLKIO = pathlib.Path("/sys/fs/cgroup/blkio")


def remove(group, seconds=20):
    """Removes the group when its last process has ended."""
    until = time.monotonic() + seconds
    while group.exists():
        try:
            group.rmdir()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@contextlib.contextmanager
def slow_disk(path):
    """A control group (version 1) in which the disk of `path` reads only a few pages a second; None where that cannot be set."""
    group = BLKIO / f"argus-test-{os.getpid()}"
    device = os.stat(path).st_dev
    name = f"{os.major(device)}:{os.minor(device)}"
    disk = pathlib.Path(f"/sys/dev/block/{name}")
    if not BLKIO.is_dir() or not disk.exists() or (disk / "partition").exists():
        yield None
        return
    group.mkdir()
    try:
        (group / "blkio.throttle.read_iops_device").write_text(f"{name} {READS_PER_S}")
        yield group
    finally:
        remove(group)


def record(argus, loops, word, trace, folder):
    """False if this machine cannot make the case."""
    record = [argus, "record", "-o", trace, "--"]
    if word != "atlas":
        machine.run(*record, loops, word)
        return True
    atlas = folder / "atlas"
    atlas.write_bytes(os.urandom(ATLAS_BYTES))
    os.sync()
    with slow_disk(atlas) as group:
        if group:
            machine.run(*record, "sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh", loops, word, atlas)
    atlas.unlink()
    return group is not None


def hangs(argus, trace, *options):
    return json.loads(machine.run(argus, "hangs", "--json", *options, trace))


def problems(argus, trace, word):
    process, expected, idle = CASES[word]
    answer = hangs(argus, trace)
    found = [hang for hang in answer["hangs"] if hang["process"] == process]
    if len(found) != (expected is not None):
        yield f"{len(found)} hangs: {json.dumps(found)}"
    named = hangs(argus, trace, "--process", process, "--threshold=2s")
    if bool(named["idle"]) != idle:
        yield f"idle: {json.dumps(named['idle'])}"
    if idle:
        if named["hangs"] or "did not hang" not in machine.run(argus, "diagnose", "--auto", "--process", process, trace):
            yield "it is taken for a hang when it is named"
    if expected is None or not found:
        return
    kind, natures, pending, awaited = expected
    hang = found[0]
    have = [(item["kind"], item["process"]) for item in hang["pending"] if item["kind"] != "set off"]
    if hang["type"] != kind or hang["nature"] not in natures:
        yield f"{hang['type']}, {hang['nature']}"
    if have != pending or hang["awaited"] != awaited:
        yield f"pending {have}, awaited {hang['awaited']}"
    if not 2.5e9 < hang["duration_ns"] < 6e9:
        yield f"it takes {hang['duration_ns'] / 1e9} s"


def is_right(argus, loops, word, folder):
    trace = folder / f"{word}.argus"
    if not record(argus, loops, word, trace, folder):
        print(word, "left out: this machine's disk cannot be made slow")
        return True
    wrong = list(problems(argus, trace, word))
    print(word, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
    if not wrong:
        trace.unlink()
    return not wrong


def main():
    argus, loops, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    machine.enter_namespace_or_skip()
    folder.mkdir(parents=True, exist_ok=True)

    def failures(words):
        return [word for word in words or sys.argv[4:] or CASES if not is_right(argus, loops, word, folder)]

    return 0 if load_retry.passes(failures) else 1


if __name__ == "__main__":
    sys.exit(main())
