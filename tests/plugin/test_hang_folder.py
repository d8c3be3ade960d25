"""argus hangs FOLDER, and which hang of a file of --on-hang is explained."""
import fcntl
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
from harness import exchange, expect, expect_equal, expect_in, freezes, main  # noqa: E402
from schema import misfits  # noqa: E402


def kept(process, tid, start_ms, hang_ms, over="over"):
    """The note of a file that was kept for the hang of `tid`."""
    return f'note "kept for a hang: pid {tid}, tid {tid}, from {int(start_ms * 1e6)} ns, for {int(hang_ms * 1e6)} ns, {over}, of {process}"\n'


def diagnosed(cause, signature="00000000000000ab"):
    return f'note "diagnosed: LongWait, signature {signature}, {cause}"\n'


def put(setup, folder, name, text):
    folder.mkdir(exist_ok=True)
    return setup.trace(name, text).rename(folder / f"{name}.argus")


def listed(setup, folder, *options, code=0):
    answer = json.loads(setup.run("hangs", "--json", *options, folder, code=code).stdout)
    expect_equal("misfits", misfits(answer), [])
    return answer


def test_the_hang_that_the_file_was_kept_for_is_explained(setup):
    """Three programs hang, editor1 not for the longest time: without the note argus would ask which one is meant."""
    text = freezes(4000, 2500, 3000)
    plain, noted = setup.trace("plain", text), setup.trace("noted", text + kept("editor1", 110, 350, 2500))
    expect_in("Which hang is to be explained?", setup.run("diagnose", plain, code=3).stdout)
    found = json.loads(setup.run("diagnose", "--json", noted, code=0).stdout)
    expect_equal("process", found["hang"]["process"], "editor1")
    expect_equal("questions", [q["kind"] for q in found["questions"] if q["kind"] == "hang"], [])
    named = json.loads(setup.run("diagnose", "--auto", "--json", "--process=editor2", noted, code=0).stdout)
    expect_equal("what is named goes first", named["hang"]["process"], "editor2")
    first = json.loads(setup.run("diagnose", "--auto", "--json", noted, "1", code=0).stdout)
    expect_equal("a number is that of the list", first["hang"]["process"], "editor0")


def test_times_are_those_of_the_analysis(setup):
    """The recorder had counted the idle time before the hang; a second note has corrected it, or the analysis of the list does."""
    folder = setup.folder / "early"
    own = json.loads(setup.run("hangs", "--json", setup.trace("own", freezes(3000)), code=0).stdout)["hangs"][0]
    start_ms, hang_ms = own["start_ns"] / 1e6, own["duration_ns"] / 1e6
    early = freezes(3000) + kept("editor0", 100, start_ms - 200, hang_ms + 200)
    put(setup, folder, "analysed", early)
    put(setup, folder, "noted", early + kept("editor0", 100, start_ms, hang_ms) + diagnosed("it slept"))
    for row in listed(setup, folder)["hangs"]:
        expect(abs(row["duration_ns"] - own["duration_ns"]) < 1000, row)
        expect_equal("time", row["time"], own["time"])


def test_a_note_that_does_not_fit_changes_nothing(setup):
    for start_ms, tid in (350, 999), (90000, 110), (18446744073709, 110):
        trace = setup.trace("other", freezes(4000, 2500) + kept("editor1", tid, start_ms, 2500))
        done = setup.run("diagnose", trace, code=3)
        expect_in("Which hang is to be explained?", done.stdout)
        is_possible = start_ms < 1e9  # the times of the last note overflow
        expect_equal(f"told at {start_ms}", "the records do not show the hang of editor1 [" in done.stderr, is_possible)


def test_a_hang_of_which_the_ring_lost_the_beginning(setup):
    """Its thread ran for the first time after it: another hang is explained, and the user is told."""
    text = "wall 1795446804000000000\n" + freezes(2500) + kept("editor1", 999, 0, 300)
    done = setup.run("diagnose", "--auto", setup.trace("lost", text), code=0)
    expect_in("of 300 ms, for which this file was kept", done.stderr)
    expect_in("editor0", done.stdout)


def test_a_short_hang_is_explained_too(setup):
    """--on-hang 500ms keeps hangs that are shorter than the 2 s from which `argus hangs` lists them."""
    trace = setup.trace("short", freezes(700) + kept("editor0", 100, 350, 700))
    found = json.loads(setup.run("diagnose", "--json", trace, code=0).stdout)
    expect(0.6e9 < found["hang"]["duration_ns"] < 0.8e9, found["hang"])


def standing(setup, path):
    return subprocess.run([setup.build / "tests/plugin/kept_listed", path], capture_output=True, text=True, check=True).stdout.strip()


def test_the_part_of_a_hang_that_the_ring_holds_is_explained(setup):
    """A hang of 3 s, with a moment after 2.6 s, in a trace that begins just before that moment. What it holds is less than a quarter of the hang."""
    tables = [line for line in freezes(1).splitlines() if not line[0].isdigit()]
    lines, at_ms = [], 1
    for busy_ms in [1] * 30 + [2590, 400] + [1] * 5:
        at_ms = exchange(lines, 100, 101, 102, 0, at_ms, busy_ms)
    whole = "\n".join([*tables, *lines]) + "\n"
    late = [line for line in lines if int(line.split()[0]) >= 2.9e9]
    part = "\n".join([*tables, "2900000000 cpu1 t0 switch state=R next=101", *late]) + "\n"
    for name, text in ("whole", whole), ("part", part):
        trace = setup.trace(name, text + kept("editor0", 100, 350, 3000))
        expect_equal(f"{name}: its standing", standing(setup, trace), "listed")  # else its file would be removed if it were doubtful
        found = json.loads(setup.run("diagnose", "--json", trace, code=0).stdout)
        expect_equal(f"{name}: process", found["hang"]["process"], "editor0")
    other = setup.trace("other", part + kept("editor0", 101, 350, 3000))
    expect_equal("a hang of another thread", standing(setup, other), "unclear")
    before = setup.trace("before", part + kept("editor0", 100, 350, 2000))
    expect_equal("a hang before the trace", standing(setup, before), "unrecorded")


def test_a_loop_that_was_in_its_wait_was_not_frozen(setup):
    """The recorder saw the thread away for 4 s, as in a prompt. In the records it was in the wait of its loop, or was busy for most of that time."""
    tables = [line for line in freezes(1).splitlines() if not line[0].isdigit()]
    for busy_ms, wanted in (100, "refuted"), (1900, "unclear"):
        lines, at_ms = [], 1
        for _ in range(30):
            at_ms = exchange(lines, 100, 101, 102, 0, at_ms, 1)
        begin_ms = at_ms
        for _ in range(2):
            at_ms = exchange(lines, 100, 101, 102, 0, max(at_ms, begin_ms + 1000), busy_ms)
        exchange(lines, 100, 101, 102, 0, begin_ms + 5000, 1)
        text = "\n".join([*tables, *lines]) + "\n"
        trace = setup.trace("prompt", text + kept("editor0", 100, begin_ms, 4000))
        expect_equal(f"busy for {busy_ms} ms, twice", standing(setup, trace), wanted)


def test_a_program_that_ended_had_left_its_loop(setup):
    """It sleeps for 3 s and ends, as a program whose display is gone. One that is killed in its sleep may have been ended by its user."""
    tables = [line for line in freezes(1).splitlines() if not line[0].isdigit()]
    lines, at_ms = [], 1
    at_ms = int(exchange(lines, 100, 101, 102, 0, at_ms, 1))  # once: in these records it is no event loop
    sleep = [f"{at_ms}ms cpu1 t102 make_runnable thread=100 priority=120", f"{at_ms}ms cpu0 t0 switch state=R next=100",
             f"{at_ms}ms cpu0 t100 syscall_end nr=poll result=1", f"{at_ms + 1}ms cpu0 t100 syscall_start nr=nanosleep arg1=3",
             f"{at_ms + 1}ms cpu0 t100 switch state=S next=0"]
    wakes = [f"{at_ms + 3001}ms cpu0 t0 make_runnable thread=100 context=timer", f"{at_ms + 3001}ms cpu0 t0 switch state=R next=100"]
    returns = [f"{at_ms + 3001}ms cpu0 t100 syscall_end nr=nanosleep result=0 pid=100"]
    ends = [f"{at_ms + 3002}ms cpu0 t100 thread_exit thread=100", f"{at_ms + 3003}ms cpu0 t100 switch state=X next=0"]
    for name, end, wanted in ("ended", [*wakes, *returns, *ends], "refuted"), ("killed", [*wakes, *ends], "unclear"), (
            "went on", [*wakes, *returns], "unclear"):
        text = "\n".join([*tables, *lines, *sleep, *end]) + "\n"
        expect_equal(name, standing(setup, setup.trace("left", text + kept("editor0", 100, at_ms, 3002))), wanted)


def test_what_the_files_say_is_listed(setup):
    folder = setup.folder / "said"
    late = "wall 1795446804000000000\n"
    put(setup, folder, "hang-a", late + freezes(700) + kept("editor0", 100, 350, 700) + diagnosed("it waited for b"))
    put(setup, folder, "hang-b", freezes(900) + kept("editor0", 100, 350, 900, "lasting") + diagnosed("it waited for c", "cd"))
    found = listed(setup, folder)
    expect_equal("files, the newest first", [row["file"] for row in found["hangs"]], ["hang-a.argus", "hang-b.argus"])
    row = found["hangs"][0]
    expect_equal("cause", (row["process"], row["pid"], row["type"], row["cause"]), ("editor0", 100, "LongWait", "it waited for b"))
    expect_equal("length", row["duration_ns"], 700000000)
    expect_equal("over", [row["ongoing"] for row in found["hangs"]], [False, True])
    expect_equal("signature", found["hangs"][1]["signature"], "00000000000000cd")
    expect_equal("only the long ones", len(listed(setup, folder, "--threshold=800ms")["hangs"]), 1)
    expect_equal("only this process", len(listed(setup, folder, "--process=nobody")["hangs"]), 0)
    text = setup.run("hangs", folder, code=0, TZ="UTC").stdout
    expect_in("it waited for b", text)
    expect_in("2026-11-23", text)
    expect("Not listed" not in text, text)


def test_what_the_files_do_not_say_is_found_out(setup):
    folder = setup.folder / "unsaid"
    put(setup, folder, "freeze", freezes(4000, 2500))
    put(setup, folder, "hang-x", freezes(700) + kept("editor0", 100, 350, 700))
    rows = {row["file"]: row for row in listed(setup, folder)["hangs"]}
    expect_equal("of several the first", (rows["freeze.argus"]["process"], rows["freeze.argus"]["hangs"]), ("editor0", 2))
    expect_in("helper0", rows["freeze.argus"]["cause"])
    expect_in("helper0", rows["hang-x.argus"]["cause"])
    expect(rows["hang-x.argus"]["signature"] != "0" * 16, rows)
    expect_in("(and 1 more in this trace)", setup.run("hangs", folder, code=0).stdout)


def test_the_signature_is_that_of_program_and_place(setup):
    folder = setup.folder / "signatures"
    for name, hang_ms in ("one", 2500), ("two", 4000):
        put(setup, folder, name, freezes(hang_ms))
    put(setup, folder, "other", freezes(2500).replace("editor0", "viewer0"))
    rows = {row["file"]: row["signature"] for row in listed(setup, folder)["hangs"]}
    expect(rows["one.argus"] == rows["two.argus"] != rows["other.argus"], rows)
    expect_in("(in 2 of these files)", setup.run("hangs", folder, code=0).stdout)


def test_broken_and_foreign_files_are_said(setup):
    folder = setup.folder / "mixed"
    whole = put(setup, folder, "whole", freezes(2500) + kept("editor0", 100, 350, 2500) + diagnosed("it waited for b"))
    put(setup, folder, "idle", freezes(100))
    (folder / "foreign.argus").write_text("no trace")
    (folder / "empty.argus").write_text("")
    (folder / "cut.argus").write_bytes(whole.read_bytes()[:100])
    (folder / "dir.argus").mkdir()
    (folder / "letter.txt").write_text("")
    (folder / "whole.argus.graph").write_text("")
    os.symlink("nowhere", folder / "link.argus")
    found = listed(setup, folder)
    expect_equal("listed", [row["file"] for row in found["hangs"]], ["whole.argus"])
    rest = {row["file"]: row["why"] for row in found["not_listed"]}
    expect_equal("the rest", sorted(rest), ["cut.argus", "dir.argus", "empty.argus", "foreign.argus", "idle.argus", "link.argus"])
    expect_equal("idle", rest["idle.argus"], "it contains no hang")
    expect_equal("others", found["other_files"], 1)
    expect_in("Not listed:", setup.run("hangs", folder, code=0).stdout)


def test_a_file_in_progress_is_not_read(setup):
    """The watcher locks a file until it is complete: before that its cause, or even its process, is not known."""
    folder = setup.folder / "progress"
    files = [put(setup, folder, name, freezes(2500)) for name in ("done", "written")]
    with open(files[1], "rb+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        found = listed(setup, folder)
        expect_equal("listed", [row["file"] for row in found["hangs"]], ["done.argus"])
        expect_in("still being written", found["not_listed"][0]["why"])
    expect_equal("later", len(listed(setup, folder)["hangs"]), 2)


def test_an_empty_folder(setup):
    folder = setup.folder / "empty"
    folder.mkdir()
    expect_in("No hang in the traces of", setup.run("hangs", folder, code=0).stdout)


def test_wrong_use(setup):
    folder = setup.folder / "use"
    folder.mkdir()
    for option in "--tid=1", "--thread=x", "--time=+1s":
        expect_in("goes with FILE", setup.run("hangs", option, folder, code=2).stderr)
    setup.run("hangs", folder, "2", code=2)


main()
