"""The frozen editor, diagnosed inside LLDB: plugin load, argus load, argus diagnose.

    run_lldb.py --build DIR

Exits 0 (LLDB ended well, and the answer names culprit and function), 1, or 77 (this machine cannot record, or has no
LLDB).
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

import load_retry
import machine
from run_case import record

DEBUGGERS = ["lldb"] + [f"lldb-{version}" for version in range(22, 13, -1)]
EXPECTED = ["LongRunning", "dict-server", "rebuild_index", "spell-server"]


def diagnose(lldb, build, trace):
    """What LLDB prints for the three commands, and its exit code."""
    commands = [f"plugin load {build / 'lib/libargus.so'}", f"argus load {trace}",
                "argus diagnose --process editor --auto"]
    argv = [lldb, "--batch", "--no-lldbinit"] + [word for command in commands for word in ("-o", command)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          timeout=120)
    return done.stdout, done.returncode


def check(lldb, build):
    trace = build / "tests/e2e/out/lldb.argus"
    trace.parent.mkdir(parents=True, exist_ok=True)
    record(build / "bin/argus", trace, "bpf", [build / "examples/frozen-editor/frozen-editor"])
    text, code = diagnose(lldb, build, trace)
    missing = [word for word in EXPECTED if word not in text]
    if code or missing or "bystander" in text:
        sys.exit(f"WRONG: {lldb} ended with {code}; not in its answer: {missing}\n{text}")
    trace.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build
    lldb = next(filter(None, map(shutil.which, DEBUGGERS)), None)
    reason = machine.reason_to_skip() or ("" if lldb else "there is no LLDB")
    if reason:
        print(f"skipped: {reason}")
        return 77
    machine.enter_namespace_if_root()
    load_retry.run_check(lambda: check(lldb, build))


if __name__ == "__main__":
    sys.exit(main())
