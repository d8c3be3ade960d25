"""Answers are kept, reused, taken back, listed and forgotten; and going back at the prompt."""
import json
import os
import re
import shlex
import stat
import subprocess
import sys

from harness import Skip, Terminal, expect, expect_equal, expect_in, main

NOBODY = 65534
PROMPT = "or Enter for"
FOLLOW = re.compile(r"v(\d+) was made to run by something")
VERTEX = "v6"  # of dog, whose wait was ended by cat, whose wait was ended by bee, whose wait was ended by ant: each time by an unlock


def is_mapped(user):
    with open("/proc/self/uid_map", encoding="ascii") as file:
        rows = [[int(word) for word in line.split()] for line in file]
    return any(first <= user < first + count for first, _, count in rows)


def chain(setup, name):
    """Three weak edges in a row: a slice of VERTEX asks about v6, v4 and v2."""
    sys.path.insert(0, str(setup.source / "tests/diagnose"))
    from scene import Scene  # pylint: disable=import-outside-toplevel
    scene = Scene()
    names = {10: "ant", 11: "bee", 12: "cat", 13: "dog"}
    for tid, comm in names.items():
        scene.thread(tid, comm, pid=10)
    for tid in 11, 12, 13:
        scene.at(5 * tid)
        scene.wait(tid, "futex")
    for tid in 11, 12, 13:
        scene.at(100 + 10 * tid)
        scene.wake(tid - 1, tid, call="futex")
    scene.at(300)
    scene.wait(13, "futex")
    return setup.trace(name, scene.text())


def book(path):
    return path.with_name(path.name + ".answers")


def asked_about(text):
    return FOLLOW.findall(text)


def questions(setup, *words):
    return json.loads(setup.run(*words, "--json", code=0).stdout)["questions"]


def test_answer_goes_on_and_undo_takes_back(setup):
    path = chain(setup, "goes-on")
    expect_equal("first", asked_about(setup.run("slice", path, VERTEX, code=3).stdout)[-1], "6")
    done = setup.run("answer", path, "1", code=3)
    expect_equal("second", asked_about(done.stdout)[-1], "4")
    command = re.search(r"^  (argus answer .* )N$", done.stdout, re.M).group(1)
    done = setup.run(*shlex.split(command)[1:], "1", code=3)
    expect_equal("third", asked_about(done.stdout)[-1], "2")
    done = setup.run("undo", path, code=3)
    expect_equal("second again", asked_about(done.stdout)[-1], "4")
    done = setup.run("answer", path, "stop", code=0)
    expect_in("stop (you)", done.stdout)
    expect("\nv2 " not in done.stdout, f"the walk did not stop:\n{done.stdout}")
    setup.run("answer", path, "1", code=1)  # nothing is open


def test_several_answers_at_once(setup):
    path = chain(setup, "several")
    setup.run("slice", path, VERTEX, code=3)
    got = json.loads(setup.run("answer", "--json", path, "1,default,stop", code=0).stdout)["questions"]
    expect_equal("answers", [(q["answer"], q["by"]) for q in got], [(1, "user"), (1, "user"), ("stop", "user")])
    done = setup.run("undo", path, code=3)
    done = setup.run("answer", path, "2,1", code=0)
    expect_in("was not needed", done.stderr)
    setup.run("undo", path, code=3)
    done = setup.run("answer", path, "7", code=2)
    expect_in("is not 1 to 2, stop or default", done.stderr)


def test_kept_answers_count_the_next_time(setup):
    path = chain(setup, "kept")
    setup.run("slice", path, VERTEX, code=3)
    first = setup.run("answer", path, "1,1,1", code=0)
    again = setup.run("slice", path, VERTEX, code=0)
    expect_equal("walk", again.stdout.replace("(as answered before)", "(you)"), first.stdout)
    expect_equal("by", {q["by"] for q in questions(setup, "slice", path, VERTEX)}, {"file"})
    expect_in("3 answers kept in", again.stderr)
    expect_equal("--auto", {q["by"] for q in questions(setup, "slice", "--auto", path, VERTEX)}, {"auto"})
    got = questions(setup, "slice", "--answers=stop", path, VERTEX)
    expect_equal("--answers", [q["answer"] for q in got], ["stop"])
    expect_equal("another walk", asked_about(setup.run("slice", path, "v4", code=3).stdout)[-1], "4")
    expect_equal("repeated", setup.run("slice", path, VERTEX, code=0).stdout, again.stdout)


def test_answers_of_another_user_are_left_alone(setup):
    """They are neither used nor replaced; one's own are in the cache then."""
    if os.geteuid() != 0 or not is_mapped(NOBODY):
        raise Skip("only root can give a file away")
    path = chain(setup, "foreign")
    setup.run("slice", path, VERTEX, code=3)
    setup.run("answer", path, "1,1,1", code=0)
    os.chown(book(path), NOBODY, NOBODY)
    text = book(path).read_text()
    done = setup.run("slice", path, VERTEX, code=3)
    expect_in("belongs to another user: its answers are not used", done.stderr)
    setup.run("answer", path, "stop", code=0)
    expect_equal("their file", book(path).read_text(), text)
    expect_in("stop (as answered before)", setup.run("slice", path, VERTEX, code=0).stdout)
    setup.run("answers", "clear", path, code=0)  # in the cache
    expect_equal("their file", book(path).read_text(), text)


def test_answers_are_listed_exported_and_cleared(setup):
    path = chain(setup, "listed")
    expect_in("nothing was answered", setup.run("answers", path, code=0).stdout)
    setup.run("slice", "--max-steps=9", path, VERTEX, code=3)
    setup.run("answer", path, "1,stop", code=0)
    setup.run("slice", path, "v4", code=3)
    text = setup.run("answers", path, code=0).stdout
    for piece in f"argus slice --max-steps=9 {path} {VERTEX}", "    1: v4 of ant", "    stop", "    open":
        expect_in(piece, text)
    walks = json.loads(setup.run("answers", "--json", path, code=0).stdout)["walks"]
    expect_equal("walks", [(w["words"], len(w["answers"]), w["open"] is None) for w in walks],
                 [([VERTEX], 2, True), (["v4"], 0, False)])
    lines = setup.run("answers", "export", path, code=0).stdout.splitlines()
    expect_equal("exported", lines, [f"argus slice --max-steps=9 --answers=1,stop {path} {VERTEX}"])
    got = questions(setup, *shlex.split(lines[0])[1:])
    expect_equal("run as exported", [q["answer"] for q in got], [1, "stop"])
    setup.run("answers", "clear", path, code=0)
    expect(not book(path).exists(), "the file is still there")
    setup.run("slice", path, VERTEX, code=3)


def test_guesses_name_their_runner_up(setup):
    path = chain(setup, "guesses")
    guesses = questions(setup, "slice", "--auto", path, VERTEX)
    expect_equal("guesses", [(q["answer"], q["by"], q["runner_up"]) for q in guesses], [(1, "auto", 2)] * 3)
    expect_in("rather than 2: stop here", setup.run("slice", "--auto", path, VERTEX, code=0).stdout)


def test_the_file_is_for_its_owner(setup):
    path = chain(setup, "owner")
    setup.run("slice", path, VERTEX, code=3)
    expect_equal("mode", stat.S_IMODE(book(path).stat().st_mode), 0o600)
    setup.run("answers", "clear", path, code=0)
    setup.run("slice", "--no-ask", path, VERTEX, code=3)
    setup.run("slice", "--auto", path, VERTEX, code=0)
    expect(not book(path).exists(), "--no-ask or --auto has kept something")
    other = setup.folder / "other"
    other.write_text("mine")
    book(path).symlink_to(other)
    setup.run("slice", path, VERTEX, code=3)
    expect_equal("the file behind a link", other.read_text(), "mine")


def test_where_the_folder_cannot_be_written_the_cache_has_them(setup):
    path = chain(setup, "folder")
    cache, folder = setup.folder / "cache", setup.folder / "locked"
    for made in cache, folder:
        made.mkdir()
    path = path.rename(folder / path.name)
    cache.chmod(0o777)
    path.chmod(0o644)
    folder.chmod(0o555)
    setup.folder.chmod(0o755)
    nobody = {"user": NOBODY} if os.geteuid() == 0 else {}  # root can write everywhere
    if nobody and not is_mapped(NOBODY):
        raise Skip("this user namespace has only root")

    def run(*words):
        places = {"HOME": str(cache), "XDG_CACHE_HOME": str(cache)}
        return subprocess.run([str(setup.argus), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, **places}, **nobody)

    expect_equal("exit code", run("slice", path, VERTEX).returncode, 3)
    expect(list((cache / "argus").glob("folder.argus-*.answers")), "nothing is in the cache")
    expect_equal("exit code", run("answer", path, "stop").returncode, 0)
    expect_in("stop (as answered before)", run("slice", path, VERTEX).stdout)


def test_files_that_are_no_answers(setup):
    path = chain(setup, "broken")
    walk = {"command": "slice", "options": [], "words": [VERTEX], "answers": [], "open": "What?"}
    broken = ["", "no JSON", "[]", "{}", '{"version": 1}', '{"version": 1, "walks": {}}', '{"version": 2, "walks": []}',
              '{"version": 1, "walks": [7]}']
    for change in ({"command": "start"}, {"command": "record"}, {"words": ["\x1b[2J"]}, {"options": [7]}, {"open": 7},
                   {"answers": [{"question": "?", "option": "x", "number": -1}]}, {"answers": [7]}):
        broken.append(json.dumps({"version": 1, "walks": [walk | change]}))
    for text in broken:
        book(path).write_text(text)
        for command in ["answers", path], ["answer", path, "1"], ["undo", path]:
            expect_in("is not a file of answers", setup.run(*command, code=1).stderr)
        done = setup.run("slice", path, VERTEX, code=3)
        expect_in("argus answers clear", done.stderr)
        expect_equal("the file", book(path).read_text(), text)
    setup.run("answers", "clear", path, code=0)
    expect(not book(path).exists(), "the broken file is still there")


def test_answers_to_other_questions_are_not_used(setup):
    path = chain(setup, "others")
    setup.run("slice", path, VERTEX, code=3)
    setup.run("answer", path, "1,1,stop", code=0)
    kept = json.loads(book(path).read_text())
    kept["walks"][0]["answers"][1]["option"] = "\x1b[31mv4 of somebody else"
    book(path).write_text(json.dumps(kept))
    done = setup.run("slice", path, VERTEX, code=3)
    expect_equal("open", asked_about(done.stdout)[-1], "4")
    expect_in("not used from question 2 on", done.stderr)
    book(path).write_text(json.dumps(kept))
    expect("\x1b" not in setup.run("answers", path, code=0).stdout, "an escape sequence of the file is printed")


def test_back_at_the_prompt(setup):
    path = chain(setup, "back")
    terminal = Terminal([setup.argus, "slice", path, VERTEX])
    try:
        terminal.wait_for(PROMPT)
        terminal.send("b\r")
        terminal.wait_for("This is the first question")
        terminal.wait_for(PROMPT, count=2)
        terminal.send("1\r")
        terminal.wait_for("v4 was made")
        terminal.wait_for(PROMPT, count=3)
        terminal.send("1\r")
        terminal.wait_for("v2 was made")
        terminal.wait_for(PROMPT, count=4)
        terminal.send("b\r")
        terminal.wait_for("v4 was made", count=2)
        terminal.wait_for(PROMPT, count=5)
        terminal.send("b\r")
        terminal.wait_for("v6 was made", count=2)
        terminal.wait_for(PROMPT, count=6)
        terminal.send("1\r")
        terminal.wait_for(PROMPT, count=7)
        terminal.send("s\r")
        expect_equal("exit code", terminal.end(), 0)
        expect_in("stop (you)", terminal.text)
    finally:
        terminal.close()
    got = questions(setup, "slice", path, VERTEX)
    expect_equal("kept", [(q["answer"], q["by"]) for q in got], [(1, "file"), ("stop", "file")])


def test_more_about_an_option(setup):
    path = chain(setup, "more")
    for term in "vt100", "dumb":
        terminal = Terminal([setup.argus, "slice", path, VERTEX], TERM=term)
        try:
            terminal.wait_for(PROMPT)
            terminal.send("?\r")
            terminal.wait_for("show more of option N")
            terminal.wait_for(PROMPT, count=2)
            shown = setup.run("graph", "show", path, "v4", code=0).stdout.splitlines()[0]
            terminal.send("? 1\r")
            terminal.wait_for(shown[:40])
            terminal.wait_for(PROMPT, count=3)
            terminal.send("?2\r")
            terminal.wait_for("This option has no vertex")
            terminal.wait_for(PROMPT, count=4)
            terminal.send("? 9\r")
            terminal.wait_for("There is no option 9")
            terminal.wait_for(PROMPT, count=5)
            terminal.send("2\r")
            expect_equal("exit code", terminal.end(), 0)
        finally:
            terminal.close()
        os.unlink(book(path))


def test_undo_at_a_terminal_asks_again(setup):
    path = chain(setup, "asks-again")
    setup.run("slice", path, VERTEX, code=3)
    setup.run("answer", path, "1,stop", code=0)
    terminal = Terminal([setup.argus, "undo", path])
    try:
        terminal.wait_for("v4 was made")
        terminal.wait_for(PROMPT)
        terminal.send("1\r")
        terminal.wait_for(PROMPT, count=2)
        terminal.send("b\r")  # also after an earlier answer
        terminal.wait_for(PROMPT, count=3)
        terminal.send("b\r")
        terminal.wait_for("v6 was made")
        terminal.wait_for(PROMPT, count=4)
        terminal.send("2\r")
        expect_equal("exit code", terminal.end(), 0)
    finally:
        terminal.close()
    expect_equal("kept", [q["answer"] for q in questions(setup, "slice", path, VERTEX)], [2])


main()
