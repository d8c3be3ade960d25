"""The quality of the diagnosis: each case of tests/e2e (programs with a known cause) is recorded and diagnosed.

    bench_diagnose.py --build DIR [--seed N] [--keep] [CASE ...]

For each case: is the culprit right; questions that a person is asked, and how many of them --auto had to guess;
vertices on the path, beside those of the automatic walk along the most recent edges (the paper's Table 2: 3 to 67
against up to 303); and seconds for the diagnosis, with and without building the graph. A case takes some 6 s to record.

Exits 0 when every culprit is right and nobody is asked more than two questions, 1 when not, 77 when this machine cannot record.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

E2E = pathlib.Path(__file__).resolve().parents[2] / "tests/e2e"
sys.path.insert(0, str(E2E))
import machine  # noqa: E402
import run_case  # noqa: E402
from cases import CASES  # noqa: E402

MOST_QUESTIONS = 2


def verdict(answer, case):
    """What is wrong with the answer; empty: nothing."""
    try:
        run_case.check_causes(answer, case)
        run_case.check_path(answer, case)
    except run_case.Wrong as wrong:
        return str(wrong)
    return ""


def record(build, case, seed, trace):
    """Records the case, and keeps the victim's pid beside it: somebody else may be testing, too, with a victim of the same name."""
    pid = trace.with_suffix(".pid")
    command = ["sh", "-c", 'echo $$ >"$0"; exec "$@"', pid, run_case.find_program(build, case), *case.argv(seed, 2800)]
    run_case.record(build / "bin/argus", trace, "bpf", command)


def measure(build, case, trace):
    pid = trace.with_suffix(".pid").read_text().strip()
    whose = ["--process", case.victim] if "/" in case.program else ["--pid", pid]  # of examples it is a child
    argv = [build / "bin/argus", "diagnose", trace, *whose, "--auto", "--json"]
    began = time.monotonic()
    answer = json.loads(run_case.run(argv))
    whole_s = time.monotonic() - began
    vertex = answer["spinning"]["vertex"]["id"].lstrip("v")
    tool = build / "bin/diagnose_bench"
    return answer, whole_s, int(run_case.run([tool, trace, "walk", vertex])), float(run_case.run([tool, trace, "time", vertex]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="keep the traces here, and use those that are there")
    parser.add_argument("case", nargs="*", help="only these")
    options = parser.parse_args()
    reason = machine.reason_to_skip()
    if reason:
        print(f"skipped: {reason}")
        return 77
    wrong, asked_too_much, cases, paths, walks = [], [], 0, [], []
    print(f"{'case':<28} {'culprit':<8} {'asked':>5} {'path':>5} {'walk':>6} {'diagnose':>9} {'in all':>7}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for case in CASES:
            if options.case and case.name not in options.case:
                continue
            trace = folder / f"{case.name}.argus"
            if not trace.exists():
                record(options.build, case, options.seed, trace)
            answer, whole_s, walk, seconds = measure(options.build, case, trace)
            problem = verdict(answer, case)
            questions, path = len(answer["questions"]), len(answer["path"])
            print(f"{case.name:<28} {'WRONG' if problem else 'right':<8} {questions:>5} {path:>5} {walk:>6} "
                  f"{seconds * 1e3:>6.1f} ms {whole_s:>5.2f} s{'  ' + problem[:160] if problem else ''}", flush=True)
            cases += 1
            wrong += [case.name] if problem else []
            asked_too_much += [case.name] if questions > MOST_QUESTIONS else []
            paths.append(path)
            walks.append(walk)
            if not options.keep:
                trace.unlink()
    print(f"\n{cases - len(wrong)} of {cases} culprits right; more than {MOST_QUESTIONS} questions in {len(asked_too_much)}; "
          f"paths of {min(paths)} to {max(paths)} vertices, the most recent edges lead over {min(walks)} to {max(walks)}")
    return 1 if wrong or asked_too_much else 0


if __name__ == "__main__":
    sys.exit(main())
