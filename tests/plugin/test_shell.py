"""`argus` in a shell: arguments, exit codes, damaged files, and the output of info, dump and verify."""
import json
import re
import subprocess
import sys

from harness import expect, expect_equal, expect_in, freezes, main

SMALL = """cpus 2
wall 1700000000000000000
thread 10 pid 10 ppid 1 name "my editor"
thread 20 pid 20 ppid 10 name helper
stack 0x11 0x401000 0x402000
1ms   cpu0 t10 syscall_start nr=read arg1=5
+0    cpu0 t10 switch state=S next=0
+30ms cpu1 t20 make_runnable thread=10 context=task
+5us  cpu0 t0  switch state=R next=10
+2us  cpu0 t10 syscall_end nr=read result=1 pid=10
note "a note for the reader"
"""


def damaged(setup):
    """SMALL with one byte of its record chunk flipped."""
    path = setup.trace("damaged", SMALL)
    data = bytearray(path.read_bytes())
    at = next(i for i in range(4096, len(data), 8) if data[i:i + 4] == b"CHNK" and data[i + 4] == 1)
    data[at + 70] ^= 0xff
    path.write_bytes(data)
    return path


def test_usage_errors(setup):
    path = setup.trace("small", SMALL)
    empty = setup.folder / "empty"
    empty.mkdir()
    for words, message in [
            (["inf"], "did you mean 'argus info'"),
            (["grpah"], "did you mean 'argus graph'"),
            (["quux"], "no command 'quux'"),
            (["info"], "there is no trace (*.argus) in this folder"),
            (["import", "-o", "x.argus"], "no trace is named: write FILE"),
            (["answers", "clear"], "no trace is named: write FILE"),
            (["info", "--jsn", path], "did you mean --json"),
            (["info", path, "more"], "one word too many: 'more'"),
            (["dump", "--limit"], "--limit needs an argument"),
            (["dump", "--limit=x", path], "'x' is not a number"),
            (["dump", "--raw=1", path], "--raw"),
            (["graph", "show", "v1"], "there is no trace (*.argus) in this folder"),
            (["graph", "shwo", "v1"], "did you mean 'argus graph show'"),
            (["info", ""], "info: the first word is empty"),
            (["graph", "check", "x", path], f"'x' is neither a file nor a vertex such as v1234, and the trace '{path}' comes first"),
            (["help", "graph", "quux"], "no command 'graph quux' ('argus help' lists them)"),
            (["slice", path], "slice: V is missing: a vertex such as v1234"),
            (["diverge"], "diverge: BAD is missing: a step file"),
            (["watchflag", "remove"], "N is missing: a number that argus watchflag list shows"),
            ([path], "is a file, not a command: write what to do with it, e.g. argus diagnose "),
            ([path, "graph", "show", "v1"], f"the command comes first: argus graph show {path} v1"),
            (["--json", "info", path], f"the command comes first: argus info --json {path}"),
            (["load", path], "only in LLDB"),
            (["help", "quux"], "no command 'quux'")]:
        done = setup.run(*words, code=2, cwd=empty)
        expect_in(message, done.stderr)
        expect_equal(f"output of argus {words}", done.stdout, "")


INLINED = """cpus 1
thread 100 pid 100 name alpha
image pid 100 start 0x5000 end 0x6000 path /opt/alpha
stack 1 0x5503 0x5602
name path /opt/alpha place 0x503 function work source /src/tree.h line 3
name path /opt/alpha place 0x503 level 1 function next source /src/list.h line 40
name path /opt/alpha place 0x503 level 2 function search source /src/main.c line 50
name path /opt/alpha place 0x601 function main source /src/main.c line 9
0 cpu0 t0 switch state=R next=100
1ms cpu0 t100 syscall_start nr=read arg1=5
1ms cpu0 t100 switch state=S next=0
1ms cpu0 t100 stack user=1 why=block
9ms cpu0 t0 make_runnable thread=100 context=hardirq
9ms cpu0 t0 switch state=R next=100
9ms cpu0 t100 syscall_end nr=read result=1 pid=100
10ms cpu0 t100 switch state=S next=0
"""


def test_inlined_functions_are_frames(setup):
    """Each has the line at which it was: for all but the innermost one, that of the call that was replaced."""
    trace = setup.trace("inlined", INLINED)
    frames = ["next (tree.h:3, inlined)", "search (list.h:40, inlined)", "work (main.c:50)", "main (main.c:9)"]
    expect_equal("JSON", json.loads(setup.run("graph", "show", "--json", trace, "v0").stdout)["wait_stack"], frames)
    text = setup.run("graph", "show", trace, "v0").stdout
    expect_in("\n  at " + "\n  by ".join(frames) + "\n", text)


def test_files_that_are_no_traces(setup):
    empty = setup.folder / "empty.argus"
    empty.write_bytes(b"")
    perf = setup.folder / "perf.data"
    perf.write_bytes(b"PERFFILE" + bytes(200))
    done = setup.run("import", "/etc/passwd", "-o", setup.folder / "x.argus", code=1)
    expect_in("/etc/passwd is not an Argus trace: it is plain text", done.stderr)
    done = setup.run("diverge", setup.trace("small", SMALL), code=1)
    expect_in("the file is not a step file of argus step: it is an Argus trace", done.stderr)
    expect_in("cannot open nosuch.argus: No such file", setup.run("answers", "nosuch.argus", code=1).stderr)
    small = setup.folder / "small.json"
    small.write_text("{}\n")
    expect_in('it is JSON text (offset 0: "{}")', setup.run("info", small, code=1).stderr)
    for word, message in [("nosuch.argus", "No such file"), ("/etc/passwd", "not an Argus trace: it is plain text"),
                          (perf, "perf.data is not an Argus trace: it is an old perf.data file (offset 0: PERFFILE)"),
                          (setup.folder, "directory"), (empty, "not an Argus trace")]:
        for command in "info", "dump", "verify", "graph":
            done = setup.run(command, word, code=1)
            expect_in(message, done.stderr)
            expect_equal("lines on standard error", done.stderr.count("\n"), 1)


def test_info(setup):
    path = setup.trace("small", SMALL)
    answer = json.loads(setup.run("info", "--json", path, code=0).stdout)
    for key, value in {"trace_format": "1.4", "os": "linux", "arch": "x86_64", "records": 5, "lost": 0, "threads": 2,
                       "processes": 2, "start_ns": 1000000, "end_ns": 31007000}.items():
        expect_equal(key, answer[key], value)
    sys.path.insert(0, str(setup.source / "tests/diagnose"))
    from schema import mismatches
    expect_equal("against docs/schema", mismatches(answer, json.loads((setup.source / "docs/schema/info.json").read_text())), [])
    text = setup.run("info", path, code=0).stdout
    expect_in("a note for the reader", text)


def test_dump(setup):
    path = setup.trace("small", SMALL)
    lines = setup.run("dump", path, code=0).stdout.splitlines()
    expect_equal("number of records", len(lines), 5)
    expect_equal("first", lines[0], "22:13:20.001000000 cpu0 10 syscall start read arg1=0x5 arg2=0x0 arg3=0x0 arg4=0x0")
    expect_equal("third", lines[2], "22:13:20.031000000 cpu1 20 make_runnable thread=10 priority=0 new=0 context=0")
    raw = setup.run("dump", "--raw", path, code=0).stdout.splitlines()
    expect_equal("raw: as many", len(raw), 5)
    expect(raw != lines, "--raw changes nothing, though the cpus are apart in the file")
    objects = [json.loads(line) for line in setup.run("dump", "--json", path, code=0).stdout.splitlines()]
    expect_equal("times", [o["ns"] for o in objects], [1000000, 1000000, 31000000, 31005000, 31007000])
    expect_equal("arguments", objects[2]["args"], [10, 0, 0, 0])
    expect_equal("limit", len(setup.run("dump", "-n2", path, code=0).stdout.splitlines()), 2)
    expect_equal("thread", len(setup.run("dump", "--thread=20", path, code=0).stdout.splitlines()), 1)


def test_verify(setup):
    path = setup.trace("small", SMALL)
    expect_in("sound", setup.run("verify", path, code=0).stdout)
    answer = json.loads(setup.run("verify", "--json", path, code=0).stdout)
    expect_equal("sound", (answer["sound"], answer["findings"]), (True, []))
    answer = json.loads(setup.run("verify", "--json", damaged(setup), code=4).stdout)
    expect_equal("sound", answer["sound"], False)
    expect(answer["findings"][0]["offset"] >= 4096, "the finding has no offset")


def test_damaged_and_cut_off_traces_are_used_and_said(setup):
    whole = setup.trace("whole", freezes(50))
    cut = setup.folder / "cut.argus"
    cut.write_bytes(whole.read_bytes()[:-200])
    for path, message, commands in [(damaged(setup), "damaged", ["dump", "graph", "hangs"]),
                                    (cut, "cut off", ["info", "dump", "graph", "hangs"])]:
        for command in commands:
            done = setup.run(command, path, code=4)
            expect_in(message, done.stderr)
            expect_in("warning", done.stderr)
    json.loads(setup.run("info", "--json", cut, code=4).stdout)


def test_full_disk(setup):
    path = setup.trace("small", SMALL)
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(setup.argus), "dump", str(path)], stdout=full, stderr=subprocess.PIPE, text=True)
    expect_equal("exit code", done.returncode, 1)
    expect(re.search("cannot write|No space", done.stderr), f"no reason: {done.stderr}")


def test_odd_file_names(setup):
    path = setup.trace("small", SMALL)
    odd = setup.folder / "a 'quoted' $HOME;name"
    odd.write_bytes(path.read_bytes())
    setup.run("info", odd, code=0)


main()
