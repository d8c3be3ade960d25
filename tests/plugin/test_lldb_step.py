"""argus step inside LLDB: it steps the selected thread by LLDB's own single steps, and writes the same kind of file."""
import subprocess

from harness import Skip, expect, expect_equal, expect_in, main

PROGRAM = "tests/steps/step-odd-dynamic"


def steps_of(setup, path):
    return subprocess.run([setup.build / "tests/steps/show_steps", path], check=True, capture_output=True, text=True).stdout


def begin(setup, mode):
    """Commands that run the program up to main; LLDB ignores the signals of its timer."""
    if not (setup.build / PROGRAM).exists():
        raise Skip("the program is not built")
    return [f"target create {setup.build / PROGRAM}", f"settings set target.run-args {mode}", "breakpoint set --name main --one-shot true",
            "run", "process handle SIGALRM --stop false --notify false", "process handle SIGUSR1 --stop false --notify false"]


def test_a_function(setup):
    path = setup.folder / "function.steps"
    text = setup.run_lldb(*begin(setup, "rounds"), f"argus step --function factorial -o {path}", "thread list", "kill")
    expect_in("ended     the function returned", text)
    expect_in("by LLDB", text)
    shown = steps_of(setup, path)
    expect_in("engine=2", shown)
    calls = [line for line in shown.splitlines() if line.startswith("call ")]
    expect_equal("recursive calls", [line.split("arg1=")[1].split()[0] for line in calls], ["0x5", "0x4", "0x3", "0x2", "0x1"])
    expect_in("value=0x2d0", shown)


def test_both_ways(setup):
    """Steps by packets are those of LLDB, which makes them itself while it watches something; and a breakpoint changes nothing."""
    shown = []
    quiet = [f"process handle {name} --stop false --notify false --pass false" for name in ("SIGALRM", "SIGUSR1")]
    for way in ([], ["breakpoint set --name factorial"], ["watchpoint set expression --watch write -- $rsp-40960"]):
        path = setup.folder / f"way{len(shown)}.steps"
        text = setup.run_lldb(*begin(setup, "rounds"), *quiet, *way, f"argus step --function factorial -o {path}",
                              "register read rip rsp", "kill")
        expect_in("ended     the function returned", text)
        shown.append([line.split(" arg2=")[0] for line in steps_of(setup, path).splitlines()  # that argument is the process id
                      if line.startswith(("step ", "call ", "return ", "skip "))])
    expect_equal("steps past a breakpoint", shown[1], shown[0])
    expect_equal("steps by LLDB itself", shown[2], shown[0])


def test_where_it_is(setup):
    path = setup.folder / "here.steps"
    text = setup.run_lldb(*begin(setup, "nap"), f"argus step --max 120 -o {path}", "kill")
    expect_in("120 instructions", text)
    shown = steps_of(setup, path)
    expect_equal("steps", sum(line.startswith("step ") for line in shown.splitlines()), 120)
    expect(any(line.startswith("skip ") and "returned=1" in line for line in shown.splitlines()), "no library call was stepped over")


def test_it_is_left_whole(setup):
    """The program runs to its end as if it had not been stepped."""
    text = setup.run_lldb(*begin(setup, "quit"), f"argus step --max 40 -o {setup.folder / 'a.steps'}", "process continue")
    expect_in("exited with status = 5", text)


# Sends SIGSEGV to the process that is debugged: the child of the debug server, which is a child of LLDB.
SENDER = """#!/usr/bin/env python3
import glob, os
def name(pid):
    return open(f"/proc/{pid}/comm").read()
def children(pid):
    return [int(child) for path in glob.glob(f"/proc/{pid}/task/*/children") for child in open(path).read().split()]
lldb = os.getppid()
while not name(lldb).startswith("lldb"):
    lldb = int(open(f"/proc/{lldb}/stat").read().rsplit(")", 1)[1].split()[1])
for server in children(lldb):
    for process in children(server) if name(server).startswith("lldb-server") else []:
        os.kill(process, 11)
        print("sent")
"""


def test_a_sent_fault(setup):
    """A SIGSEGV that somebody sends is no fault of the next instruction, and is not lost."""
    sender = setup.folder / "sender"
    sender.write_text(SENDER)
    sender.chmod(0o755)
    text = setup.run_lldb(*begin(setup, "rounds"), "process handle SIGSEGV --stop false --notify false", f"platform shell {sender}",
                          f"argus step --max 40 -o {setup.folder / 'sent.steps'}")
    if "sent" not in text.splitlines():
        raise Skip("the process could not be found in /proc")
    expect_in("ended     the process ", text)


def test_refusals(setup):
    for commands, message in [(["argus step"], "stopped in the debugger"),
                              ([*begin(setup, "nap"), "argus step --max 10001"], "--max: 1 to 10000"),
                              ([*begin(setup, "nap"), "argus step --function nosuch_function"], "no code of nosuch_function"),
                              ([*begin(setup, "nap"), "argus step --process 1"], "leave out --process")]:
        expect_in(message, setup.run_lldb(*commands, code=1))


main()
