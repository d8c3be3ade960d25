"""Records one program with a known cause, diagnoses the trace, and checks the answer.

    run_case.py --build DIR [--backend bpf|perf] [--seed N|random] [--hang-ms N] [--keep] CASE

Exits 0 (the answer is right), 1 (it is wrong: prints the expected answer, and keeps the trace), 77 (this machine cannot record;
prints why).
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import time

import load_retry
import machine
from cases import CASES, YIELD

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = SOURCE / "docs/schema/diagnose.json"
sys.path.insert(0, str(SOURCE / "tests/diagnose"))
from schema import mismatches  # noqa: E402  pylint: disable=wrong-import-position

INPUT = {"user", "typist"}  # may be at the end of a path, and never are culprits
BYSTANDERS = {"bystander", "argus", "argus-recorder"}


class Wrong(Exception):
    """The answer is not the expected one."""


def expect(condition, message):
    if not condition:
        raise Wrong(message)


def run(argv):
    done = subprocess.run([str(word) for word in argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120)
    command = " ".join(str(word) for word in argv)
    expect(done.returncode == 0, f"exit code {done.returncode} from: {command}\n{done.stdout}{done.stderr}")
    return done.stdout


def record(argus, trace, backend, command):
    """Records `command`; waits at most a minute and a half for another user's recording to end."""
    argv = [str(word) for word in [argus, "record", "--backend", backend, "-o", trace, "--", *command]]
    give_up = time.monotonic() + 90
    while True:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        if done.returncode == 0:
            return
        busy = "already recording" in done.stderr
        expect(busy and time.monotonic() < give_up,
               f"exit code {done.returncode} from: {' '.join(argv)}\n{done.stdout}{done.stderr}")
        time.sleep(1)


def find_program(build, case):
    if "/" in case.program:
        return build / case.program
    return build / "tests/e2e/bin" / case.program


def who(vertex):
    return f"{vertex['process']}/{vertex['thread']}"


def check_hang(answer, case, hang_ms):
    hang = answer["hang"]
    expect(hang["process"] == case.victim, f"the hang is one of {hang['process']}, not of {case.victim}")
    expect(hang["tid"] == hang["pid"], "the hang is not one of the main thread")
    duration_ms = hang["duration_ns"] / 1e6
    expect(0.7 * hang_ms <= duration_ms <= 2 * hang_ms + 500, f"the hang takes {duration_ms:.0f} ms, not about {hang_ms}")
    spinning = answer["spinning"]
    expect(spinning["type"] == case.type, f"type {spinning['type']}, not {case.type}")


def check_causes(answer, case):
    causes = answer["root_causes"]
    names = [who(cause) for cause in causes]
    # A polling loop without a data flag has no cause in the graph, so an answer without a culprit is right, too.
    if not causes and case.type == YIELD:
        return
    expect(causes, "no root cause is named")
    expect(any(allowed.matches(causes[0]) for allowed in case.culprits),
           f"the first root cause is {names[0]}, not one of {case.culprits}")
    for cause, name in zip(causes, names):
        expect(cause["process"] not in BYSTANDERS | INPUT, f"{name} is blamed, and has nothing to do with it")
        expect(any(allowed.matches(cause) for allowed in case.culprits + case.also), f"{name} is blamed as well")
        expect(cause["why"], f"{name} is blamed without a reason")
    if case.function:
        text = json.dumps([causes[0]["stack"], causes[0]["costly_functions"]])
        expect(case.function in text, f"{case.function} is neither in the stack nor a costly function: {text}")


def check_path(answer, case):
    path = answer["path"]
    expect(path and path[0]["process"] == case.victim, "the path does not begin at the victim")
    for vertex in path:
        expect(vertex["process"] not in BYSTANDERS, f"the path leads through {who(vertex)}")
    for process in case.through:
        expect(process in {vertex["process"] for vertex in path}, f"the path does not lead through {process}")
    if case.cycle:
        expect(answer["cycle"], "no circular wait is reported")
        members = {vertex["process"] for vertex in answer["cycle"]}
        expect(members == set(case.cycle), f"the circular wait is one of {members}, not of {case.cycle}")
    else:
        expect(not answer["cycle"], "a circular wait is reported, and there is none")


def check_rest(answer):
    expect(answer["trace"]["lost"] == 0, f"{answer['trace']['lost']} records were lost")
    total = 100 * sum(stretch["share"] for stretch in answer["accounting"])
    expect(abs(total - 100) < 0.5, f"the shares of the accounting add up to {total}, not to 100")
    for question in answer["questions"]:
        expect(question["by"] == "auto", f"a question was answered by {question['by']} under --auto")


def check_case(case, build, backend, seed, hang_ms, trace):
    argus = build / "bin/argus"
    record(argus, trace, backend, [find_program(build, case), *case.argv(seed, hang_ms)])
    diagnose = [argus, "diagnose", trace, "--process", case.victim, "--auto", "--json"]
    text = run(diagnose)
    answer = json.loads(text)
    check_hang(answer, case, int(case.args[0]) if case.args else hang_ms)
    check_causes(answer, case)
    check_path(answer, case)
    check_rest(answer)
    wrong = mismatches(answer, json.loads(SCHEMA.read_text()))
    expect(not wrong, f"the JSON is not as docs/schema/diagnose.json says: {wrong}")
    expect(run(diagnose) == text, "the same trace gave another answer the second time")


def explain(build, case, trace):
    """Prints Argus's own answer, for the person who reads the failure."""
    command = [build / "bin/argus", "diagnose", trace, "--process", case.victim, "--auto"]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)
    print(f"--- {' '.join(str(word) for word in command)}\n{done.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--backend", choices=["bpf", "perf"], default="bpf")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--hang-ms", type=int, default=2800)
    parser.add_argument("--keep", action="store_true", help="keep the trace of a right answer, too")
    parser.add_argument("case", choices=[case.name for case in CASES])
    options = parser.parse_args()

    reason = machine.reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        return 77
    machine.enter_namespace_if_root()
    case = next(case for case in CASES if case.name == options.case)
    seed = random.randrange(60000) if options.seed == "random" else int(options.seed)
    folder = options.build / "tests/e2e/out"
    folder.mkdir(parents=True, exist_ok=True)
    trace = folder / f"{case.name}.{options.backend}.argus"
    print(f"{case.name}, seed {seed}")

    def failures(_):
        try:
            check_case(case, options.build, options.backend, seed, options.hang_ms, trace)
        except Wrong as wrong:
            print(f"WRONG: {wrong}")
            if trace.exists():
                explain(options.build, case, trace)
            return [case.name]
        return []

    if not load_retry.passes(failures):
        return 1
    if not options.keep:
        trace.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
