"""Which trace is used when the command line names none, or names it in an unusual position."""
import json
import os
import re

from harness import expect, expect_equal, expect_in, freezes, main


def folder_with(setup, name, **ages_s):
    """A folder with these traces of these ages in seconds; the hangs have different lengths."""
    folder = setup.folder / name
    folder.mkdir()
    for index, (stem, age_s) in enumerate(ages_s.items()):
        path = setup.trace(stem, freezes(2500 + 500 * index)).rename(folder / f"{stem}.argus")
        then = path.stat().st_mtime - age_s
        os.utime(path, (then, then))
    return folder


def test_the_newest_is_taken_and_said(setup):
    here = folder_with(setup, "three", old=90000, new=125, middle=4000)
    (here / "newer.argus").mkdir()
    (here / ".hidden.argus").write_text("")
    (here / "argus.argus.old").write_text("")
    done = setup.run("hangs", "--json", cwd=here, code=0)
    expect_equal("remark", done.stderr, "argus: using new.argus (newest of 3 traces here, 2 minutes ago)\n")
    expect_equal("hang", [round(h["duration_ns"] / 1e9, 1) for h in json.loads(done.stdout)["hangs"]], [3.0])
    done = setup.run("hangs", "old.argus", cwd=here, code=0)
    expect_equal("remark about a named trace", done.stderr, "")


def test_the_only_one(setup):
    here = folder_with(setup, "one", freeze=0)
    done = setup.run("info", cwd=here, code=0)
    expect(re.match(r"argus: using freeze.argus \(the only trace here, (just now|\d+ seconds? ago)\)\n$", done.stderr), done.stderr)


def test_every_command_without_file(setup):
    here = folder_with(setup, "all", freeze=7300)
    vertex = json.loads(setup.run("hangs", "--json", cwd=here, code=0).stdout)["hangs"][0]["vertex"]["id"]
    for words in (["info"], ["dump"], ["verify"], ["messages"], ["graph"], ["graph", "show", vertex], ["graph", "find"],
                  ["graph", "check"], ["graph", "stats"], ["graph", "export"], ["hangs"], ["slice", vertex, "--auto"],
                  ["similar", vertex], ["diagnose", "--auto"], ["diagnose", "1", "--auto"], ["diagnose", vertex, "--auto"],
                  ["report", "-o", "page.html"], ["answers"], ["answers", "export"]):
        done = setup.run(*words, cwd=here, code=0)
        expect_in("argus: using freeze.argus (the only trace here, 2 hours ago)\n", done.stderr)
    done = setup.run("step", vertex, "--script", cwd=here, code=1)
    expect_in("argus: using freeze.argus (the only trace here", done.stderr)
    expect_in(f"{vertex} has no call stack", done.stderr)


def test_the_next_command_names_it(setup):
    """By then another trace may be the newest."""
    here = folder_with(setup, "ask", freeze=60)
    setup.trace("two", freezes(3000, 2500)).rename(here / "two.argus")
    done = setup.run("diagnose", cwd=here, code=3)
    expect_in("two.argus", done.stdout)
    done = setup.run("answer", "1", cwd=here)
    expect_in("using two.argus", done.stderr)


def test_file_behind_the_vertex(setup):
    here = folder_with(setup, "swapped", freeze=60, other=0)
    right = setup.run("graph", "show", "freeze.argus", "v60", cwd=here, code=0)
    swapped = setup.run("graph", "show", "v60", "freeze.argus", cwd=here, code=0)
    expect_equal("output", swapped.stdout, right.stdout)
    expect_equal("remarks", swapped.stderr, "")


def test_a_file_with_the_name_of_a_vertex(setup):
    here = folder_with(setup, "odd", freeze=60)
    (here / "freeze.argus").rename(here / "v12")
    setup.run("info", "v12", cwd=here, code=0)


def test_none(setup):
    here = setup.folder / "none"
    here.mkdir()
    for words in ["hangs"], ["debug"], ["slice", "v1"], ["diagnose"]:
        done = setup.run(*words, cwd=here, code=2)
        expect_in("there is no trace (*.argus) in this folder: name one as FILE, or record one with", done.stderr)


main()
