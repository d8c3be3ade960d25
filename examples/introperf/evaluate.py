#!/usr/bin/env python3
"""Does `argus contexts` find what was made slow? Real programs, each recorded twice: as it is, and with a delay in one function.

    sudo examples/introperf/evaluate.py [--argus ARGUS] [--keep FOLDER] [--repeat N] [--call-stacks] [CASE ...]

The delay comes from a preloaded library (delay.c, delay_at.c), or the second recording does what is known to be slow: nothing else
differs, and the analysis knows nothing of it. A program that is not installed is left out ('scripts/deps introperf'). The table is
that of the paper (table 2): |I| files, |P| paths, |F| functions, l functions a path on average; p_min the rank of the
first context that has the root cause, f_min how many calls lie between that and the function that the ranking takes for the
bottleneck; `kind` its file: internal, of the program, or external. With --repeat the figures are those of the worst run, and all p_min
follow. Exit code 1: a root cause is not among the first three.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from slow_programs import CASES

HERE = pathlib.Path(__file__).resolve().parent

@contextlib.contextmanager
def display():
    """An X server for what has windows; its name."""
    if not shutil.which("Xvfb"):
        yield ""
        return
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-noreset", "-screen", "0", "1280x1024x24"], pass_fds=(write,),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    try:
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class Evaluation:
    def __init__(self, argus, folder, recording):
        self.argus, self.folder, self.library = argus, folder, folder / "libdelay.so"
        self.recording = recording
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-fno-builtin", "-o", self.library, HERE / "delay.c", HERE / "delay_at.c", "-ldl"],
                       check=True)

    def record(self, case, command, name, environment):
        trace = self.folder / f"{case.name}-{name}.argus"
        environment = {**os.environ, "PRELOAD": str(self.library), "PLACE": str(self.folder / case.name),
                       "DBUS_SESSION_BUS_ADDRESS": "disabled:", **environment}
        words = [self.argus, "record", "-o", str(trace), *self.recording, "--", "sh", "-c", command]
        script = f"mount -t tmpfs -o mode=755 none /run/argus && exec {shlex.join(words)}"  # beside another recorder
        os.makedirs("/run/argus", exist_ok=True)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=environment, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise SystemExit(f"{case.name}: {command}\n{done.stdout}")
        return trace

    def contexts(self, case, base, slow):
        command = [self.argus, "contexts", "--json", "--top=100", f"--process={case.process}", f"--base={base}", str(slow)]
        return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout)

    def run(self, case):
        place = self.folder / case.name
        place.mkdir(exist_ok=True)
        place.chmod(0o755)
        command = case.prepare(place)
        base = self.record(case, command, "base", case.base)
        return self.contexts(case, base, self.record(case, command, "slow", case.environment()))


def root_cause(case, path):
    """The function of `path` that is one: that of the case, or the one that calls the delayed one. None: it is not in it."""
    functions = path["functions"]
    for outer, inner in zip(functions, functions[1:] + [None]):
        if case.file not in (outer["image"] or ""):
            continue
        if outer["function"].split("(")[0] == case.function:
            return outer
        if inner and "libdelay" in (inner["image"] or "") and not case.function:
            return outer
    return None


def find(case, answer):
    """Its rank and distance, or None."""
    for rank, path in enumerate(answer["contexts"], 1):
        cause = root_cause(case, path)
        if cause and path["cost_ns"] > 0:
            return rank, cause["distance"], cause
    return None


HEAD = ("case", "|I|", "|P|", "|F|", "l", "p_min", "f_min", "kind", "root cause", "all p_min")
FORMAT = "{:19} {:>4} {:>6} {:>6} {:>6} {:>6} {:>6}  {:9} {} {}"


def row(case, answers):
    """Of the worst answer."""
    found = [find(case, answer) for answer in answers]
    ranks = [one[0] if one else None for one in found]
    worst = max(range(len(ranks)), key=lambda i: ranks[i] or 1000)
    counts, (rank, distance, cause) = answers[worst]["counts"], found[worst] or ("-", "-", None)
    name = f"{cause['function']} ({cause['layer']})" if cause else "not found"
    return (case.name, counts["images"], counts["paths"], counts["functions"], f"{counts['mean_length']:.1f}", rank, distance,
            "external" if case.external else "internal", name + (f", {case.note}" if case.note else ""),
            " ".join(str(rank or "-") for rank in ranks) if len(ranks) > 1 else "")


def evaluate(options, folder):
    """How many cases have their root cause not among the first three."""
    evaluation = Evaluation(options.argus, folder, ["--call-stacks"] if options.call_stacks else [])
    failed = 0
    print(FORMAT.format(*HEAD).rstrip())
    for case in CASES:
        if options.cases and case.name not in options.cases:
            continue
        if not all(map(shutil.which, case.programs)):
            print(f"{case.name:19} left out: {', '.join(case.programs)} not installed")
            continue
        figures = row(case, [evaluation.run(case) for _ in range(options.repeat)])
        print(FORMAT.format(*figures).rstrip(), flush=True)
        failed += figures[5] == "-" or figures[5] > 3
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--argus", default="argus")
    parser.add_argument("--keep", type=pathlib.Path, help="where the traces stay")
    parser.add_argument("--repeat", type=int, default=1, help="record each case so often")
    parser.add_argument("--call-stacks", action="store_true", help="record with it; otherwise without any option")
    parser.add_argument("cases", nargs="*", help="; ".join(case.name for case in CASES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, display() as name:
        os.environ["DISPLAY"] = name
        os.chmod(scratch, 0o755)
        folder = (options.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return 1 if evaluate(options, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
