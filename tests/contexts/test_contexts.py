"""argus contexts as a command, on traces made of text: runs the tests of contexts_*.py, and tests its input.

    test_contexts.py MKTRACE ARGUS FOLDER PROGRAM LINKED OPENED        the last three: files of different layers
"""
import pathlib
import sys
import traceback

import contexts_in_outputs
import contexts_of_base
import contexts_of_command
import contexts_of_stacks
import contexts_of_waits
from context_scene import Setup, equal, slow, usual

MODULES = [contexts_of_base, contexts_of_command, contexts_of_waits, contexts_of_stacks, contexts_in_outputs, sys.modules[__name__]]


def test_bad_input_is_a_sentence(setup):
    trace = setup.make(usual())
    silent = setup.make("thread 100 pid 100 name alpha\n0 cpu0 t100 syscall_start nr=read\n")
    assert "has no call stacks" in setup.run(silent, code=1).stderr
    assert "--base: " in setup.run(f"--base={silent}", trace, code=1).stderr
    assert "no process 'nobody'" in setup.run("--process=nobody", trace, code=1).stderr
    assert "'sometimes' is none of" in setup.run("--mode=sometimes", trace, code=2).stderr
    assert "no vertex v99" in setup.run("--vertex=v99", trace, code=1).stderr


def test_the_same_input_gives_the_same_bytes(setup):
    words = ["--json", "--tree", f"--base={setup.make(usual())}", setup.make(slow())]
    equal("second time", setup.run(*words).stdout, setup.run(*words).stdout)


def main():
    setup = Setup(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), *sys.argv[4:])
    setup.folder.mkdir(parents=True, exist_ok=True)
    tests = [(name, function) for module in MODULES for name, function in vars(module).items() if name.startswith("test_")]
    failed = 0
    for name, function in tests:
        try:
            function(setup)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}")
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
