"""The plugin in a Python program that imports lldb: several debuggers in one process, each with a session of its own."""
import glob
import subprocess

from harness import Skip, expect, expect_equal, freezes, main

SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import ctypes, lldb
ctypes.CDLL(lldb._lldb.__file__, ctypes.RTLD_GLOBAL)  # as argus(1) says

def run(debugger, command):
    result = lldb.SBCommandReturnObject()
    debugger.GetCommandInterpreter().HandleCommand(command, result)
    return result

def debugger():
    made = lldb.SBDebugger.Create(False)
    assert run(made, f'plugin load "{sys.argv[2]}"').Succeeded()
    return made

first, second = debugger(), debugger()
assert run(first, f"argus load {sys.argv[3]}").Succeeded()
assert not run(second, "argus hangs").Succeeded(), "the second debugger sees the trace of the first"
assert run(second, f"argus load {sys.argv[4]}").Succeeded()
lldb.SBDebugger.Destroy(second)
result = run(first, "argus hangs")
assert result.Succeeded() and result.GetOutput().count("editor") == 1, result.GetOutput()
result = run(first, "argus info /etc/passwd")
assert not result.Succeeded() and "not an Argus trace" in result.GetError(), result.GetError()
result = run(first, "argus diagnose --auto --json")
import json
assert json.loads(result.GetOutput())["hang"]["process"] == "editor0", result.GetOutput()
both = debugger()
assert run(both, f"argus load {sys.argv[4]}").Succeeded()
result = run(both, "argus diagnose")
assert result.Succeeded() and "Which hang is to be explained?" in result.GetOutput(), result.GetOutput()
assert not run(both, "argus diagnose --no-ask").Succeeded(), "--no-ask takes an open question for a success"
result = run(both, "argus answer --json 2")
assert json.loads(result.GetOutput())["hang"]["process"] == "editor0", result.GetOutput()
lldb.SBDebugger.Destroy(both)
lldb.SBDebugger.Destroy(first)
print("end")
"""


def python_with_lldb():
    """A Python and the folder of its lldb module."""
    for folder in sorted(glob.glob("/usr/lib/llvm-*/lib/python3*/*-packages"), reverse=True):
        works = subprocess.run(["/usr/bin/python3", "-c", f"import sys; sys.path.insert(0, {folder!r}); import lldb; lldb._lldb"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if works.returncode == 0:
            return "/usr/bin/python3", folder
    raise Skip("no Python module lldb is installed")


def test_sessions_are_per_debugger(setup):
    python, folder = python_with_lldb()
    one, two = setup.trace("one", freezes(3000)), setup.trace("two", freezes(3000, 4000))
    done = subprocess.run([python, "-c", SCRIPT, folder, str(setup.plugin), str(one), str(two)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120)
    expect_equal("exit code", (done.returncode, done.stdout[-4:]), (0, "end\n"))
    expect("Traceback" not in done.stdout, done.stdout)


main()
