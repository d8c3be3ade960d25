#!/usr/bin/env python3
"""How much of a program's calls the stacks of a recording have seen, compared with hooks in every function: table 3 of the
IntroPerf paper.

    bench_coverage.py --build DIR [--work DIR] [PROGRAM ...]      programs.py lists them

Each program is built from Debian's source with -finstrument-functions (truth_hooks.c) and recorded by Argus while the hooks
write down each entry and exit with its time; coverage_bench then compares both. A call is covered when a recorded stack was
taken in it and has it, a context (a function below the same callers) when one of its calls is. `top` is the slowest 1 %.

A program whose source cannot be downloaded or built is left out with a message. --work keeps sources and programs for the next
time.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from programs import FLAGS, PROGRAMS, Sources, Unavailable, run  # noqa: E402

# What is recorded: name, options of argus record ({} is the program), whether every cpu has a busy competitor. To add one: a row.
RECORDINGS = (
    ("plain", ["--call-stacks"], False),
    ("unwound", ["--call-stacks", "--unwind", "{}"], False),
    ("busy", ["--call-stacks", "--unwind", "{}"], True),
    ("sampled", ["--call-stacks", "--unwind", "{}", "--rate", "1999"], False),
)
# What is printed: title, recording, scheme of coverage_bench. To add one: a row.
ROWS = (
    ("as the paper: calls + 120 ms", "unwound", "paper_120_ms"),
    ("as the paper: calls +  20 ms", "unwound", "paper_20_ms"),
    ("frame pointers: system calls", "plain", "calls"),
    ("  + switches and wake-ups", "plain", "switches"),
    ("  + cpu samples, 99 Hz", "plain", "samples"),
    ("--unwind: system calls", "unwound", "calls"),
    ("  + switches and wake-ups", "unwound", "switches"),
    ("  the same, busy cpus", "busy", "switches"),
    ("  + cpu samples, 99 Hz", "unwound", "samples"),
    ("  + cpu samples, 1999 Hz", "sampled", "samples"),
)
SHARES = ("contexts_all", "contexts_top", "instances_all", "instances_top")


class Bench:
    def __init__(self, build, work):
        self.argus, self.tool = build / "bin/argus", build / "bin/coverage_bench"
        self.sources, self.work = Sources(work), work
        self.hooks = work / "truth_hooks.o"
        run("gcc", "-O2", "-fno-omit-frame-pointer", "-c", HERE / "truth_hooks.c", "-o", self.hooks, cwd=work)

    def program(self, name, package, build):
        """The instrumented program; made anew when the flags or the hooks have changed."""
        out, mark = self.work / f"cov_{name}", self.work / f"cov_{name}.made"
        recipe = " ".join(FLAGS) + (HERE / "truth_hooks.c").read_text() + (HERE / "truth_event.h").read_text()
        if not out.exists() or not mark.exists() or mark.read_text() != recipe:
            build(self.sources.get(package), self.hooks, out)
            mark.write_text(recipe)
        return out

    def record(self, folder, command, options, busy):
        truth, trace = folder / "truth", folder / "run.argus"
        truth.mkdir()
        idlers = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() if busy else 0)]
        try:
            done = subprocess.run([self.argus, "record", *options, "-o", trace, "--", *command], cwd=folder, timeout=300,
                                  env={**os.environ, "ARGUS_TRUTH": str(truth)}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        finally:
            for idler in idlers:
                idler.kill()
                idler.wait()
        if done.returncode or not trace.exists():
            raise Unavailable(f"argus record: {done.stderr.strip()}")
        return truth, trace

    def measure(self, program, load, options, busy):
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
            folder = pathlib.Path(name)
            truth, trace = self.record(folder, load(str(program), folder), [option.format(program.name) for option in options], busy)
            pids = {file.name.split("-")[0] for file in truth.iterdir()}
            if len(pids) != 1:
                raise Unavailable(f"{len(pids)} processes have hooks, not one")
            done = subprocess.run([self.tool, trace, truth, program, pids.pop()], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                raise Unavailable(done.stderr.strip())
            return json.loads(done.stdout)


def span(answer, share, scheme):
    """The share of the whole program, and from the worst to the best of its threads."""
    threads = [100 * thread[share][scheme] for thread in answer["by_thread"]]
    text = f"{100 * answer[share][scheme]:5.1f}"
    return text if len(threads) == 1 else f"{text} ({min(threads):.1f}-{max(threads):.1f})"


def print_coverage(name, kind, answers):
    first = answers["unwound"]
    stacks = first["stacks"]
    print(f"\n{name} ({kind}): {first['instances']} calls of {first['contexts']} contexts in {first['threads']} threads, "
          f"{first['syscalls']} system calls ({100 * first['syscalls'] / first['instances']:.2f} %);\n"
          f"the slowest 1 % of calls took {first['top_ns'] / 1000:.1f} us and more; of the stacks taken {right(stacks):.2f} % are right, "
          f"without --unwind {right(answers['plain']['stacks']):.2f} %")
    print(f"{'% covered of':<30} {'contexts':>20} {'top':>20} {'calls':>20} {'top':>20}")
    for title, recording, scheme in ROWS:
        print(f"{title:<30}", *(f"{span(answers[recording], share, scheme):>20}" for share in SHARES))


def right(stacks):
    """Per cent of the stacks within the program's functions that are the true ones; one taken in a hook may be a function ahead."""
    taken = sum(stacks[kind] for kind in ("equal", "in_hook", "outer", "wrong"))
    return 100 * (stacks["equal"] + stacks["in_hook"]) / taken if taken else 0


def print_errors(answers):
    print(f"{'error of time per context, %':<30} {'all, conservative':>20} {'aggressive':>20} {'top, conservative':>20} {'aggressive':>20}")
    for title, recording, scheme in ROWS:
        errors = answers[recording]["errors"].get(scheme)
        if errors:
            cells = [errors[part]["total"][mode] for part in ("all", "top") for mode in ("conservative", "aggressive")]
            print(f"{title:<30}", *(f"{100 * cell['median']:>8.1f} / {100 * cell['p90']:>9.1f}" for cell in cells))


def measure_all(bench, chosen):
    for name, package, kind, build, load in PROGRAMS:
        if chosen and name not in chosen:
            continue
        try:
            program = bench.program(name, package, build)
            answers = {run_name: bench.measure(program, load, options, busy) for run_name, options, busy in RECORDINGS}
        except (Unavailable, subprocess.TimeoutExpired) as why:
            print(f"\n{name}: left out: {why}")
            continue
        print_coverage(name, kind, answers)
        print_errors(answers)
        sys.stdout.flush()


def own_namespace():
    """A mount namespace of our own: a recorder that runs already keeps its control socket."""
    if "ARGUS_BENCH_NAMESPACE" not in os.environ and os.geteuid() == 0:
        os.makedirs("/run/argus", exist_ok=True)
        script = 'mount -t tmpfs -o mode=755 none /run/argus; ARGUS_BENCH_NAMESPACE=1 exec "$@"'
        os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-B", *sys.argv])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--work", type=pathlib.Path, help="folder for sources and programs, kept")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    unknown = set(options.programs) - {row[0] for row in PROGRAMS}
    if unknown:
        parser.error(f"no program {', '.join(sorted(unknown))}")
    own_namespace()
    print("the paper (its 7-Zip row; Pin, Windows): contexts 13.6-49.4 %, top 38.5-100 %; calls 0.6-31.2 %, top 16.6-100 %")
    with tempfile.TemporaryDirectory() as folder:
        work = (options.work or pathlib.Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        measure_all(Bench(options.build.resolve(), work), options.programs)


if __name__ == "__main__":
    main()
