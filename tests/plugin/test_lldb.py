"""The plugin in LLDB's batch mode: loading, help, analysis, and all cases that must not end the debugger."""
import json
import os
import pathlib
import subprocess

from harness import Skip, expect, expect_equal, expect_in, freezes, main


def one_hang(setup):
    return setup.trace("one", freezes(3000))


def test_load_and_diagnose(setup):
    text = setup.run_lldb(f"argus load {one_hang(setup)}", "argus info", "argus hangs", "argus diagnose --auto")
    expect_in("vertices", text)
    expect_in("helper0", text)


def test_same_result_as_in_the_shell(setup):
    path = one_hang(setup)
    inside = setup.run_lldb(f"argus diagnose --auto --json {path}")
    outside = setup.run("diagnose", "--auto", "--json", path, code=0).stdout
    expect_equal("diagnosis", json.loads(inside[inside.index("{\n"):]), json.loads(outside))


def test_file_may_be_left_out_once_loaded(setup):
    path = one_hang(setup)
    expect_in("no trace is loaded", setup.run_lldb("argus hangs", code=1))
    expect_in("editor0", setup.run_lldb(f"argus load {path}", "argus hangs", "argus graph show v0", "argus gr find -n 2"))


def test_second_load_replaces(setup):
    first, second = one_hang(setup), setup.trace("other", freezes(2500, 3500))
    text = setup.run_lldb(f"argus load {first}", f"argus load {second}", "argus info")
    expect_in(f"file       {second}", text)
    expect_in("editor1", setup.run_lldb(f"argus load {first}", f"argus load {second}", "argus hangs"))


def test_failed_load_keeps_the_old_trace(setup):
    source = setup.folder / "commands"
    source.write_text(f"argus load {one_hang(setup)}\nargus load /nosuch.argus\nargus hangs\n")
    text = setup.run_lldb("settings set interpreter.stop-command-source-on-error false", f"command source {source}")
    expect_in("No such file", text)
    expect_in("editor0", text)


def test_plugin_loaded_twice(setup):
    text = setup.run_lldb(f"argus load {one_hang(setup)}", f'plugin load "{setup.plugin}"', "argus hangs", "argus version")
    expect_in("editor0", text)


def test_help(setup):
    text = setup.run_lldb("help argus", "help argus graph", "argus help graph", "argus help graph show", "argus help",
                          "argus diagnose --help")
    for needle in "diagnose --", "Syntax: argus graph", "usage: argus graph [OPTIONS] [FILE]", "graph find", \
            "usage: argus graph show [OPTIONS] [FILE] V", "Exit codes":
        expect_in(needle, text)


def test_failures_are_failures_and_nothing_more(setup):
    path = one_hang(setup)
    for command, message in [("argus diagnose --nosuch", "no option --nosuch"),
                             (f"argus graph show {path} v99999999", "no vertex"),
                             (f"argus graph show {path} nonsense", "is not a vertex"),
                             ("argus info /etc/passwd", "not an Argus trace"),
                             (f"argus info {setup.folder}", "directory"),
                             (f"argus diagnose --process=edtor0 {path}", "did you mean 'editor0'")]:
        try:
            expect_in(message, setup.run_lldb(command, code=1))
        except Exception as reason:
            raise type(reason)(f"{command}: {reason}")


def test_damaged_traces(setup):
    data = one_hang(setup).read_bytes()
    for length in range(0, len(data), max(1, len(data) // 40)):
        path = pathlib.Path(setup.folder, "piece.argus")
        path.write_bytes(data[:length])
        setup.run_lldb("settings set interpreter.stop-command-source-on-error false",
                       f"argus load {path}", code=0 if length > 4096 else 1)


def test_open_question_is_no_failure_but_with_no_ask(setup):
    path = setup.trace("two", freezes(3000, 4000))
    text = setup.run_lldb(f"argus load {path}", "argus diagnose", "argus version")
    expect_in("Which hang is to be explained?", text)
    expect_in("argus diagnose --answers=N", text)
    expect_in("trace format", text)
    setup.run_lldb(f"argus load {path}", "argus diagnose --no-ask", code=1)


def test_scripts_keep_their_lines(setup):
    """A question must not read the next command as its answer."""
    path = setup.trace("two", freezes(3000, 4000))
    source = setup.folder / "script"
    source.write_text(f"argus load {path}\nargus diagnose\nargus version\n")
    expect_in("trace format", setup.run_lldb(f"command source {source}"))


def test_no_trace_is_chosen_but_by_load(setup):
    here = setup.folder / "here"
    here.mkdir()
    setup.trace("freeze", freezes(3000)).rename(here / "freeze.argus")
    other = setup.trace("loaded", freezes(4000))
    before = os.getcwd()
    os.chdir(here)
    try:
        text = setup.run_lldb("argus info", code=1)
        expect_in("no trace is loaded: 'argus load FILE' first", text)
        expect("freeze.argus" not in text, "a trace was chosen in LLDB")
        expect_in("loaded.argus", setup.run_lldb(f'argus load "{other}"', "argus info"))
        text = setup.run_lldb("argus load", "argus info")
        expect_in("using freeze.argus (the only trace here", text)
    finally:
        os.chdir(before)


def test_output_is_bounded(setup):
    setup.lldb()
    program, path = setup.build / "bin/graph_bench", setup.folder / "large.argus"
    if not program.exists():
        raise Skip("graph_bench is not built")
    subprocess.run([str(program), "generate", str(path), "1500000"], check=True, timeout=120)
    text = setup.run_lldb(f"argus dump {path}", "version")
    expect(len(text) < 80 << 20, f"LLDB was given {len(text)} bytes")
    expect_in("the output ends here, after 64 MB", text)


main()
