"""argus steps, dump and info on a step file that mksteps makes of text."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "diagnose"))
from harness import expect, expect_equal, expect_in, main  # noqa: E402
from schema import misfits  # noqa: E402


def steps(setup):
    program = next(setup.build.rglob("mksteps"), None)
    expect(program is not None, "mksteps is not built")
    path = setup.folder / "example.steps"
    subprocess.run([program, setup.source / "tests/steps/example.steps.txt", path], check=True)
    return path


def lines(text):
    return text.split("\n\n", 1)[1].splitlines()


def test_calls_and_branches(setup):
    said = setup.run("steps", steps(setup), code=0).stdout
    expect_in("5, 0 calls, 1 calls stepped over", said)
    expect_equal("lines", [line.split()[1] for line in lines(said)], ["jne", "signal", "skip", "return"])
    expect_in("skip libc.so.6+0x1000 (0x3, 0x4, 0x5, 0x6, ...) = 0x11  [spinner+0x100a]", said)
    expect_in("jne 0x401000: not taken  [spinner+0x1008]", said)


def test_calls_only(setup):
    expect_equal("lines", [line.split()[1] for line in lines(setup.run("steps", "--calls", steps(setup), code=0).stdout)],
                 ["signal", "skip", "return"])


def test_instructions_with_registers(setup):
    said = lines(setup.run("steps", "--instructions", "--registers", "--from=1", "-n", "2", steps(setup), code=0).stdout)
    expect_equal("steps", [line.split()[0] for line in said if "=" not in line.split()[0]], ["1", "2"])
    expect_in("rax=0x5", said[1])
    expect(not any("rip=" in line for line in said), "the pc is printed twice")


def test_json(setup):
    items = [json.loads(line) for line in setup.run("steps", "--json", "--registers", steps(setup), code=0).stdout.splitlines()]
    expect_equal("misfits", [misfits(item) for item in items if misfits(item)], [])
    expect_equal("kinds", [item["kind"] for item in items], ["branch", "signal", "skip", "return"])
    expect_equal("way", items[0]["taken"], False)
    expect_equal("call", (items[2]["arguments"], items[2]["value"], items[2]["registers"]["rdi"]),
                 (["0x3", "0x4", "0x5", "0x6", "0x7", "0x8"], "0x11", "0x3"))


def test_dump_and_info(setup):
    path = steps(setup)
    expect_equal("instructions", len(lines(setup.run("dump", path, code=0).stdout)), 6)
    expect_equal("one", len(lines(setup.run("dump", "-n", "1", path, code=0).stdout)), 1)
    answer = json.loads(setup.run("info", "--json", path, code=0).stdout)
    expect_equal("info", (answer["trace_format"], answer["pid"], answer["steps"], answer["vertex"]), ("steps", 100, 5, 7))
    expect_equal("misfits", misfits(answer), [])
    expect_in("wait_for_flag returned", setup.run("info", path, code=0).stdout)


def test_fifo(setup):
    """Whether it is a file of steps is asked without waiting for its writer."""
    path = setup.folder / "fifo"
    os.mkfifo(path)
    for command in ("info", "dump"):
        expect_in("neither a file nor a folder", setup.run(command, path, code=1).stderr)


def test_mistakes(setup):
    expect_in("STEPS is missing", setup.run("steps", code=2).stderr)
    expect_in("/nowhere/x.steps", setup.run("steps", "/nowhere/x.steps", code=1).stderr)


if __name__ == "__main__":
    main()
