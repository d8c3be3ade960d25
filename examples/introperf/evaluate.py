#!/usr/bin/env python3
"""Does `argus contexts` find what was made slow? Real programs, each recorded twice: as it is, and with a delay in one function.

    sudo examples/introperf/evaluate.py [--argus ARGUS] [--keep FOLDER] [--repeat N] [--call-stacks] [--set SET] [CASE ...]

The delay comes from a preloaded library (delay.c, delay_at.c, delay_ways.c), or the second recording does what is known to be slow: nothing else
differs, and the analysis knows nothing of it. A program that is not installed is left out ('scripts/deps introperf'). The table is
that of the paper (table 2): |I| files, |P| paths, |F| functions, l functions a path on average; p_min the rank of the
first context that has the root cause, f_min how many calls lie between that and the function that the ranking takes for the
bottleneck; the cost of that context; `kind` its file: internal, of the program, or external. With --repeat the figures are those of the worst run, and all p_min
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

import slow_ways
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
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-fno-builtin", "-o", self.library, *sorted(HERE.glob("delay*.c")), "-ldl"],
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
        if case.holder and outer["function"] == case.holder:
            return outer
        if case.file not in (outer["image"] or ""):
            continue
        if outer["function"].split("(")[0] == case.function:
            return outer
        if inner and "libdelay" in (inner["image"] or "") and not (case.function or case.holder):
            return outer
    return None


def is_named_as_waker(case, answer):
    """Whether a wait of the delayed function is said to have ended with the thread that held the lock."""
    wakers = [waker for program in answer["programs"] if program["process"] == case.process for waker in program["wakers"]]
    return any(waker["function"] == "delay_lock" and waker["waker_function"] in (case.holder, "holder") for waker in wakers)


def find(case, answer):
    """Its rank and distance, or None."""
    if case.holder and not is_named_as_waker(case, answer):
        return None
    for rank, path in enumerate(answer["contexts"], 1):
        cause = root_cause(case, path)
        if cause and path["cost_ns"] > case.least_ns:
            return rank, cause["distance"], cause, path["cost_ns"]
    return None


def ranks_of(case, answers):
    found = [find(case, answer) for answer in answers]
    return [one[0] if one else None for one in found]


HEAD = ("case", "|I|", "|P|", "|F|", "l", "p_min", "f_min", "cost", "kind", "root cause", "all p_min")
FORMAT = "{:24} {:>4} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8}  {:9} {} {}"


def row(case, answers):
    """Of the worst answer."""
    found = [find(case, answer) for answer in answers]
    ranks = ranks_of(case, answers)
    worst = max(range(len(ranks)), key=lambda i: ranks[i] or 1000)
    counts, (rank, distance, cause, cost_ns) = answers[worst]["counts"], found[worst] or ("-", "-", None, 0)
    name = f"{cause['function']} ({cause['layer']})" if cause else "not found"
    return (case.name, counts["images"], counts["paths"], counts["functions"], f"{counts['mean_length']:.1f}", rank, distance, f"{cost_ns / 1e6:.0f} ms",
            "external" if case.external else "internal", name + (f", {case.note}" if case.note else ""),
            " ".join(str(rank or "-") for rank in ranks) if len(ranks) > 1 else "")


def chosen_cases(options):
    """Those of the set, or the named ones of all sets."""
    sets = {"paper": CASES, "ways": slow_ways.some_cases(), "all": CASES + slow_ways.all_cases()}
    return [case for case in sets["all"] if case.name in options.cases] if options.cases else sets[options.set]


def print_sum(ranks):
    runs = [rank for of_case in ranks for rank in of_case]
    print(f"p_min is 1 in {runs.count(1)} of {len(runs)} runs, at most 3 in {sum(rank is not None and rank <= 3 for rank in runs)}")


def evaluate(options, folder):
    """How many cases have their root cause not among the first three."""
    evaluation = Evaluation(options.argus, folder, ["--call-stacks"] if options.call_stacks else [])
    all_ranks = []
    print(FORMAT.format(*HEAD).rstrip())
    for case in chosen_cases(options):
        if not all(map(shutil.which, case.programs)):
            print(f"{case.name:24} left out: {', '.join(case.programs)} not installed")
            continue
        answers = [evaluation.run(case) for _ in range(options.repeat)]
        all_ranks.append(ranks_of(case, answers))
        print(FORMAT.format(*row(case, answers)).rstrip(), flush=True)
    print_sum(all_ranks)
    return sum(any(rank is None or rank > 3 for rank in of_case) for of_case in all_ranks)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--argus", default="argus")
    parser.add_argument("--keep", type=pathlib.Path, help="where the traces stay")
    parser.add_argument("--repeat", type=int, default=1, help="record each case so often")
    parser.add_argument("--call-stacks", action="store_true", help="record with it; otherwise without any option")
    parser.add_argument("--set", choices=("paper", "ways", "all"), default="paper",
                        help="the paper's cases; eight programs, each slow in three ways (24 cases); or everything")
    parser.add_argument("cases", nargs="*", help="only these, of any set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, display() as name:
        os.environ["DISPLAY"] = name
        os.chmod(scratch, 0o755)
        folder = (options.keep or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return 1 if evaluate(options, folder) else 0


if __name__ == "__main__":
    sys.exit(main())
