"""Every command on files that a stranger made (make_hostile.c): each ends with an answer or a clear error.

hostile.py BUILD FOLDER [--bytes N] [--megabytes N] [--seconds N] [--all] [SHAPE…]

Prints one line for each command that took longer, or more memory, than allowed, or that crashed. Without --all, each shape runs
through the commands that build all there is. The bounds: CPU time, and the largest resident memory.
"""
import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

QUICK = (
    ["verify"], ["graph", "--no-cache"], ["diagnose", "--auto", "--no-cache"], ["contexts", "--no-cache"],
    ["report", "--no-cache", "-o", "PAGE"],
)
ALL = (
    *QUICK, ["info"], ["info", "--json"], ["dump"], ["dump", "--json"], ["dump", "--raw"], ["messages"], ["messages", "--pairs", "--json"],
    ["graph", "--json"], ["graph", "show", "v1"], ["graph", "find", "--json"], ["graph", "check"], ["graph", "check", "--json"],
    ["graph", "stats"], ["graph", "export"], ["graph", "export", "--format=dot", "--limit=200000"], ["hangs"],
    ["hangs", "--threshold=1ms", "--json"], ["slice", "v99", "--auto"], ["slice", "v1", "--auto", "--json"], ["similar", "v9"],
    ["similar", "v9", "--context=16"], ["diagnose", "1", "--auto", "--json"], ["diagnose", "v9", "--auto"],
    ["diagnose", "--auto", "--threshold=1ms", "--context=50", "1"], ["contexts", "--json", "--every"], ["contexts", "--format=folded"],
    ["contexts", "--format=speedscope"], ["contexts", "--format=pprof", "-o", "EXPORTED"], ["contexts", "--rank=mean"], ["schema"], ["answers"],
    ["graph", "export", "--format=perfetto", "-o", "EXPORTED"], ["graph", "export", "--format=pprof", "-o", "EXPORTED"],
    ["graph", "export", "--format=firefox"], ["graph", "export", "--format=jsonl"],
    ["graph", "export", "--format=jsonl-gz", "-o", "EXPORTED"], ["graph", "export", "--format=sqlite", "-o", "EXPORTED"],
    ["import", "-o", "IMPORTED"], ["diagnose", "--process=tries", "--auto", "--no-cache"], ["fleet", "add", "--again", "--database=DATABASE"], ["steps"],
)
# Words that stand for a new file next to the trace.
NEW_FILES = {"PAGE": ".html", "EXPORTED": ".exported", "IMPORTED": ".imported.argus", "DATABASE": ".db"}
# What an error must not be: nothing that a user could act on.
CRASH = re.compile(r"AddressSanitizer|runtime error|terminate called|\(null\)")


class Run:
    """One command on one file, and what it needed."""

    def __init__(self, argus, words, path, seconds):
        self.name = " ".join(words)
        places = [i for i, word in enumerate(words) if re.fullmatch(r"v\d+|1", word)]
        at = places[0] if places else len(words)
        words = [argus, *(self.fill(word, path) for word in words[:at]), path, *words[at:]]
        began = time.monotonic()
        with open(os.devnull, "wb") as nowhere:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=nowhere, stderr=subprocess.PIPE,
                                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds + 5, seconds + 10)))
            self.errors = child.stderr.read().decode(errors="replace")
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = status
        self.wall = time.monotonic() - began
        self.code = os.waitstatus_to_exitcode(status)
        self.seconds = usage.ru_utime + usage.ru_stime
        self.megabytes = usage.ru_maxrss / 1024

    @staticmethod
    def fill(word, path):
        option, _, name = word.rpartition("=")
        return f"{option}{'=' if option else ''}{path}{NEW_FILES[name]}" if name in NEW_FILES else word

    def fault(self, seconds, megabytes):
        if self.code not in (0, 1, 3, 4) or CRASH.search(self.errors):
            return f"ended with {self.code}: {self.errors[:300]}"
        if self.seconds > seconds:
            return f"took {self.seconds:.1f} s"
        if self.megabytes > megabytes:
            return f"took {self.megabytes:.0f} MB"
        return ""


def shapes_of():
    """All shapes, and those without any sense also under a header of macOS."""
    text = (pathlib.Path(__file__).parent / "shapes.def").read_text()
    names = re.findall(r'^SHAPE\("(\w+)"', text, re.M)
    return [name for name in names if "darwin" not in name] + [f"{name}.darwin" for name in names if re.search("random|darwin", name)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("shapes", nargs="*")
    parser.add_argument("--bytes", type=int, default=1000000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--megabytes", type=float, default=512)
    parser.add_argument("--all", action="store_true", help="every command, not only those that build most")
    parser.add_argument("--verbose", action="store_true", help="print every run")
    arguments = parser.parse_intermixed_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = str(arguments.folder)
    maker, argus = arguments.build / "bin/make_hostile", str(arguments.build / "bin/argus")
    faults = runs = 0
    for shape in arguments.shapes or shapes_of():
        subprocess.run([maker, arguments.folder, str(arguments.bytes), shape], check=True)
        path = arguments.folder / f"{shape}.argus"
        worst = [0, 0]
        for words in ALL if arguments.all else QUICK:
            run = Run(argus, words, str(path), int(arguments.seconds))
            runs += 1
            worst = [max(worst[0], run.seconds), max(worst[1], run.megabytes)]
            fault = run.fault(arguments.seconds, arguments.megabytes)
            if fault or arguments.verbose:
                faults += bool(fault)
                print(f"{'FAULT ' if fault else ''}{shape}: {run.name}: {run.seconds:.1f} s, {run.megabytes:.0f} MB, code {run.code} "
                      f"{fault} {run.errors[:150] if run.code == 1 else ''}", flush=True)
        print(f"{shape}: {path.stat().st_size} bytes, at most {worst[0]:.1f} s and {worst[1]:.0f} MB", flush=True)
        for left in arguments.folder.glob(f"{shape}.argus*"):
            left.unlink()
    print(f"{runs} runs, {faults} faults")
    sys.exit(1 if faults else 0)


main()
