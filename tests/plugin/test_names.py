"""Names that a stranger chose: escapes, marks of writing direction, HTML and 64 KB length, through every command."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from harness import expect, expect_equal, expect_in, freezes, main

LONG = "L" * 65000
EVIL = "\x1b]0;owned\x07\x1b[2J\u202eexe.\u2066\x7f\r\x08\u0085"
HTML = "<script>alert(1)</script><img src=x onerror=y>&quot;]]>'`"
NAMES = {"editor0": EVIL + "editor", "helper0": HTML + EVIL, "input0": LONG + EVIL}

# What no terminal may get. Line breaks and tabs are output; colours are off, because this is no terminal.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffd]")

COMMANDS = (
    ["info"], ["info", "--json"], ["verify"], ["dump"], ["dump", "--json"], ["dump", "--raw"], ["hangs"], ["hangs", "--json"],
    ["diagnose", "--auto"], ["diagnose", "--auto", "--json"], ["contexts"], ["contexts", "--every", "--json"],
    ["contexts", "--format=folded"], ["contexts", "--format=speedscope"], ["graph"], ["graph", "--json"],
    ["graph", "show", "v3"], ["graph", "find"], ["graph", "check"], ["graph", "check", "--json"], ["graph", "stats"],
    ["graph", "export"], ["graph", "export", "--format=dot"], ["graph", "export", "--format=trace-events"], ["slice", "v9", "--auto"], ["slice", "v9", "--auto", "--json"],
    ["similar", "v9"], ["messages"], ["messages", "--json"], ["schema"], ["answers"],
    ["verify", "--json"], ["messages", "--pairs"], ["hangs", "--threshold=1ms"], ["diagnose", "1"], ["diagnose", "v9", "--auto"],
    ["graph", "show", "v3", "--json"], ["graph", "find", "--json"], ["graph", "stats", "--json"], ["slice", "v9"],
    ["similar", "v9", "--json"], ["schema", "--json"], ["contexts", "--rank=mean"], ["dump", "--thread=100"],
    ["answers", "--json"], ["answers", "export"], ["contexts", "--format=html"], ["graph", "export", "--format=firefox"],
    ["graph", "export", "--format=jsonl"], ["contexts", "--mode=aggressive", "--rank=total"], ["contexts", "--rank=blame", "--json", "--tree"],
    ["contexts", "--mode=conservative"], ["contexts", "--base=TRACE"], ["contexts", "--base=TRACE", "--json"], ["undo"], ["undo", "--json"],
    ["answer", "1"], ["answer", "--json", "1"], ["step", "--script", "v3"], ["step", "--script", "--json", "v3"],
)
STEP_COMMANDS = (["steps"], ["steps", "--calls"], ["steps", "--instructions", "--registers"], ["steps", "--json"], ["dump"], ["info"],
                 ["info", "--json"], ["diverge", "AGAIN"], ["diverge", "--json", "AGAIN"], ["diverge", "--spin"], ["diverge", "--spin", "--json"])
# Files for other programs, which show names as they like: they are data there (protobuf, SQLite), and compressed.
DATA_FORMATS = {"perfetto", "pprof", "jsonl-gz", "sqlite"}
# Commands that are not in COMMANDS: what tries them here (a function of this file), or why they show no name of a stranger.
ELSEWHERE = {
    "report": "test_files_escape_names", "why": "test_why_escapes_names", "steps": "test_steps_escape_names",
    "diverge": "test_steps_escape_names", "debug": "test_debug_takes_no_line_break", "load": "test_lldb_escapes_names",
    "import": "test_names_of_files", "schema add": "test_rules_escape_names", "schema remove": "test_rules_escape_names",
    "schema list": "test_rules_escape_names", "fleet": "test_the_fleet_escapes_names", "fleet add": "test_the_fleet_escapes_names",
    "fleet show": "test_the_fleet_escapes_names", "fleet report": "test_the_fleet_escapes_names",
    "fleet export": "test_the_fleet_escapes_names", "watchflag": "test_watched_variables_escape_names",
    "watchflag list": "test_watched_variables_escape_names", "watchflag remove": "test_watched_variables_escape_names",
    "step": "with --script in COMMANDS; with a process, the tests of step",
    "answers clear": "it says how many there were", "start": "the recorder's tests", "stop": "the recorder's tests",
    "status": "the recorder's tests", "snapshot": "the recorder's tests", "record": "the recorder's tests",
    "version": "no file, no process", "help": "no file, no process",
}


def trace(setup):
    lines = freezes(3000).splitlines()
    for old, new in NAMES.items():
        lines = [line.replace(f"name {old}", f'name "{new}"') for line in lines]
    # 32 bytes of a record: a line break, a tab, a byte that is no UTF-8 (little-endian numbers)
    record = [int.from_bytes(part, "little") for part in (b"a\nargus:", b"\x1b[31m\txx", b"\xff\xfe\xe2\x80", b"\xe2\x80\xaeend\x00")]
    numbers = " ".join(f"arg{i + 1}={number}" for i, number in enumerate(record))
    lines += [f"4000000000 cpu0 t100 name_thread {numbers}", f"4000001000 cpu0 t100 call_path {numbers}",
              f'image pid 100 start 0x400000 end 0x500000 path "/tmp/{EVIL}{HTML}"',
              f'name path "/tmp/{EVIL}" place 16 function "f{EVIL}{HTML}" source "{EVIL}{LONG}"',
              "stack 1 0x400010 0x400020", "4000002000 cpu0 t100 stack user=1 why=call",
              f'ksym 0xffffffff81000000 "{EVIL}" "{HTML}"', f'note "{EVIL}{HTML}"', f'note "{LONG}"', f'counter "{EVIL}" 7']
    source, path = setup.folder / "names.trace", setup.folder / "names.argus"
    source.write_bytes("\n".join(lines).encode() + b"\n")
    return setup.trace_of(source, path)


def test_notes_are_bounded(setup):
    """A stranger's notes are 20 warnings of a line, not megabytes. The recorder's few are whole."""
    notes = [f'note "recorded {i} {"é" * 20000}"' for i in range(30)] + ['note "recorded without signals"'] + \
        [f'note "recorded without x{i}"' for i in range(3000)]
    path = setup.trace("notes", "\n".join([*freezes(3000).splitlines(), *notes]) + "\n")
    for words in (["hangs"], ["diagnose", "--auto"], ["graph"], ["contexts"], ["schema"], ["graph", "check"], ["info"]):
        done = setup.run(*words, path)
        for text in done.stderr, done.stdout:
            expect(len(text) < 120000 and max(map(len, text.splitlines() or [""])) < 1500,
                   f"argus {' '.join(words)} prints {len(text)} bytes")
            check(f"argus {' '.join(words)}", text)
        expect_in("more", done.stderr + done.stdout)
    expect_equal("notes in JSON", len(json.loads(setup.run("info", "--json", path, code=0).stdout)["notes"]), len(notes))
    path = setup.trace("few", "\n".join([*freezes(3000).splitlines(), *notes[30:33]]) + "\n")
    expect_in("recorded without signals", setup.run("info", path, code=0).stdout)


def check(what, text):
    found = FORBIDDEN.search(text)
    expect(not found, f"{what}: {text[max(0, (found and found.start() or 0) - 60):][:120]!r}")


def test_every_command_escapes_names(setup):
    path = trace(setup)
    shown = 0
    for words in COMMANDS:
        done = setup.run(*(word.replace("TRACE", str(path)) for word in words), path)
        expect(done.returncode in (0, 1, 3, 4), f"argus {' '.join(words)} ended with {done.returncode}: {done.stderr[:300]}")
        check(f"argus {' '.join(words)}", done.stdout)
        check(f"errors of argus {' '.join(words)}", done.stderr)
        shown += "\\u001b" in done.stdout
        if any(word in words for word in ("--json", "--format=firefox", "--format=trace-events", "--format=speedscope")) and done.stdout:
            by_line = words[0] in ("dump", "step")
            for text in done.stdout.splitlines() if by_line else [done.stdout]:
                json.loads(text)
        for line in (done.stdout + done.stderr).splitlines():
            expect(not line.startswith("argus:\x1b") and line != "argus:[31m", f"a name began the line {line!r}")
    expect(shown > 5, f"only {shown} commands showed the names")


def test_files_escape_names(setup):
    path = trace(setup)
    for words in (["report"], ["graph", "export"], ["graph", "export", "--format=dot"]):
        out = setup.folder / "out"
        setup.run(*words, path, "-o", out, code=0)
        check(" ".join(words), out.read_bytes().decode())
    page = setup.folder / "page.html"
    setup.run("report", path, "-o", page, code=0)
    text = page.read_bytes().decode()
    expect("<script>alert" not in text and "<img src=x" not in text, "a name became HTML")
    expect_in("&lt;script&gt;alert", text)


def test_names_of_files(setup):
    name = setup.folder / "a\x1b[2J\u202e\nargus: all is well"
    done = setup.run("info", f"{name}.argus", code=1)
    check("the error", done.stderr)
    expect(done.stderr.count("\n") == 1, f"the error has lines of the name: {done.stderr!r}")


def test_lists_of_hangs_escape_names(setup):
    folder = setup.folder / "hangs"
    folder.mkdir(exist_ok=True)
    source = setup.folder / "kept.trace"
    lines = [*freezes(3000).splitlines(), f'note "kept for a hang: pid 100, tid 100, from 5 ns, for 3000000000 ns, over, of {EVIL}{HTML}"',
             f'note "diagnosed: LongWait, signature 12ab, it waited for {EVIL}{HTML}{LONG}"']
    source.write_bytes("\n".join(lines).encode() + b"\n")
    setup.trace_of(source, folder / "hang-x-1-20260101T000000.argus")
    for words in (["hangs"], ["hangs", "--json"]):
        done = setup.run(*words, folder, code=0)
        check(f"argus {' '.join(words)} FOLDER", done.stdout + done.stderr)
        expect_in("3.00 s" if words == ["hangs"] else "12ab", done.stdout)


def test_the_fleet_escapes_names(setup):
    data = {"XDG_DATA_HOME": str(setup.folder / "data")}
    path = trace(setup)
    setup.run("fleet", "add", "--machine", f"m{EVIL}{HTML}", path, code=0, **data)
    kind = json.loads(setup.run("fleet", "--json", code=0, **data).stdout)["rows"][0]["signature"]
    for words in (["fleet"], ["fleet", "--json"], ["fleet", "show", kind], ["fleet", "show", kind, "--json"],
                  ["fleet", "add", "--again", path], ["fleet", "add", "--again", "--json", path], ["fleet", "--by=machines"],
                  ["fleet", "--by=regressions", "--json"], ["fleet", "export", setup.folder / "exported"]):
        done = setup.run(*words, code=0, **data)
        check(f"argus {' '.join(map(str, words))}", done.stdout + done.stderr)
    for file in (setup.folder / "exported").rglob("*.jsonl"):
        check("argus fleet export", file.read_text())
        for line in file.read_text().splitlines():
            json.loads(line)
    page = setup.folder / "fleet.html"
    setup.run("fleet", "report", "-o", page, code=0, **data)
    text = page.read_bytes().decode()
    check("argus fleet report", text)
    expect("<script>alert" not in text and "<img src=x" not in text, "a name became HTML")


def test_why_escapes_names(setup):
    """A process that chose its name, its arguments and the path of what it waits for."""
    fifo = setup.folder / f"a{EVIL}{HTML}".replace("/", "")
    os.mkfifo(fifo)
    code = f"import sys\nopen('/proc/self/comm', 'w').write({EVIL!r})\nprint('named', flush=True)\nopen(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", code, fifo, EVIL], stdout=subprocess.PIPE, text=True) as program:
        try:
            expect_equal("its output", program.stdout.readline(), "named\n")
            expect(waits_in_open(program.pid), "the program does not wait for its FIFO")
            for words in (["why", program.pid], ["why", program.pid, "--json"]):
                done = setup.run(*words)
                expect(done.returncode in (0, 1), done.stderr)
                check("argus why", done.stdout + done.stderr)
                expect_in("\\u001b", done.stdout.lower())
        finally:
            program.kill()


def waits_in_open(pid):
    """Whether the program sleeps, after some time: /proc says so to any user of one's own processes."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if pathlib.Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0] == b"S":
            return True
        time.sleep(0.05)
    return False


def step_file(setup, name):
    """The steps of tests/steps, of a program and a library with a stranger's names."""
    program = next(setup.build.rglob("mksteps"), None)
    expect(program is not None, "mksteps is not built")
    evil = re.sub(r"\s", "", EVIL + HTML)
    text = (setup.source / "tests/steps/example.steps.txt").read_text()
    for old in ("wait_for_flag", "/usr/bin/spinner", "/usr/lib/libc.so.6", "freeze.argus", "main"):
        text = text.replace(old, old + evil)
    source, path = setup.folder / f"{name}.txt", setup.folder / f"{name}.steps"
    source.write_bytes(text.encode())
    subprocess.run([program, source, path], check=True)
    return path


def test_steps_escape_names(setup):
    path, again = step_file(setup, "one"), step_file(setup, "again")
    shown = 0
    for words in STEP_COMMANDS:
        done = setup.run(*(again if word == "AGAIN" else word for word in words), path)
        check(f"argus {' '.join(words)} STEPS", done.stdout + done.stderr)
        expect(done.returncode in (0, 1, 4), f"argus {' '.join(words)}: {done.stderr[:300]}")
        shown += "\\u001b" in done.stdout
        for line in done.stdout.splitlines() if "--json" in words and words[0] in ("steps", "dump") else []:
            json.loads(line)
    expect(shown > 3, f"only {shown} commands showed the names")


def test_rules_escape_names(setup):
    """A file of rules with such a name, and with such words in it."""
    home = {"XDG_CONFIG_HOME": str(setup.folder / "config"), "HOME": str(setup.folder)}
    good, bad = setup.folder / f"good{EVIL}.rules", setup.folder / "bad.rules"
    good.write_bytes(b"begin a_function\n")
    bad.write_bytes(f"begin {EVIL} key={HTML}\n{EVIL}{LONG}\n".encode())
    for words in (["add", good], ["list"], ["list", "--json"], ["add", bad], ["remove", good], ["remove", bad]):
        done = setup.run("schema", *words, **home)
        check(f"argus schema {words[0]}", done.stdout + done.stderr)


def test_watched_variables_escape_names(setup):
    """Names of variables that no program has, and files of them."""
    table = setup.folder / "table.flags"
    table.write_bytes(f"{EVIL} {HTML}\n{LONG}{EVIL}\n".encode())
    for words in (["watchflag", "--file", table, os.getpid()], ["watchflag", os.getpid(), EVIL], ["watchflag", os.getpid(), HTML + LONG],
                  ["watchflag", "list"], ["watchflag", "remove", EVIL]):
        done = setup.run(*words)
        check("argus watchflag", done.stdout + done.stderr)


def choices(option):
    """The words of an argument that is one of several: trace-events|perfetto."""
    words = (option["argument"] or "").split("|")
    return [word for word in words if word.islower()] if len(words) > 1 else []  # PID|NAME is any word


def untried(command):
    """What no test here runs of a command: itself, its JSON, a format."""
    name = command["name"]
    length = len(name.split())
    tried = [words for words in COMMANDS if " ".join(words[:length]) == name and (len(words) == length or " ".join(words[:length + 1]) != name)]
    if name in ELSEWHERE:
        return []
    wanted = [f"--{option['name']}={choice}" for option in command["options"] for choice in choices(option)]
    wanted += ["--json" for option in command["options"] if option["name"] == "json"]
    said = [word for words in tried for word in words]
    return ([name] if not tried else []) + [f"{name} {word}" for word in wanted
                                            if word not in said and word.partition("=")[2] not in DATA_FORMATS]


def test_no_command_is_left_out(setup):
    """Each command of the table, its JSON and each of its formats is tried here. A new one fails this test until it is."""
    table = json.loads(setup.run("help", "--json", code=0).stdout)["commands"]
    expect_equal("untried", [what for command in table for what in untried(command)], [])
    names = {command["name"] for command in table}
    expect_equal("in ELSEWHERE, but no command", sorted(set(ELSEWHERE) - names), [])
    expect_equal("named in ELSEWHERE, but no test",
                 [test for test in ELSEWHERE.values() if test.startswith("test_") and test not in globals()], [])


def test_lldb_escapes_names(setup):
    path = trace(setup)
    text = setup.run_lldb(f"argus load {path}", "argus info", "argus hangs", "argus diagnose --auto", "argus dump", "argus graph show v3",
                          "argus contexts", code=0)
    check("LLDB", text.replace("\r", ""))
    expect_in("\\u001b", text)


def test_debug_takes_no_line_break(setup):
    path = setup.folder / "x\nscript print(1).argus"
    path.write_bytes(trace(setup).read_bytes())
    done = setup.run("debug", "--batch", path, code=2)
    expect_in("which has a control character in it", done.stderr)


main()
