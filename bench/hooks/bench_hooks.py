"""What a hit costs: a hook with nobody recording, a hook and a uprobe while argus records, at the same instruction.

    bench_hooks.py --build DIR --work DIR      (root)

Each way in turn, several rounds; the smallest figure of each counts, less that of a call without anything. Prints how many records
of the hook are in the trace, too: all of them, or they were counted as lost.
"""
import argparse
import json
import os
import pathlib
import subprocess
import tempfile

ROUNDS = 3
CALLS = 400000


def run(argv, env=None):
    result = subprocess.run([str(word) for word in argv], capture_output=True, text=True, env=env, check=False)
    if result.returncode:
        raise SystemExit(f"{argv[0]} failed: {result.stderr.strip()}")
    return result.stdout


class Bench:
    def __init__(self, build, work, folder):
        self.bin, self.folder = build / "bin", folder
        self.calls = [work / "bench_calls", str(CALLS)]
        self.library = work / "libbench-victim.so"
        self.hooks = folder / "hooks.so"
        (folder / "hooks.conf").write_text(f"{self.library} note bench_victim key=arg1\n", encoding="utf-8")
        (folder / "probes.conf").write_text(f"{self.library} note bench_victim key=arg1\n", encoding="utf-8")
        run([self.bin / "argus-hook", "make", folder / "hooks.conf", "-o", self.hooks])
        self.trace = folder / "t.argus"

    def bare(self):
        return float(run(self.calls))

    def hook(self):
        return float(run(self.calls, {**os.environ, "LD_PRELOAD": str(self.hooks)}))

    def record(self, *options):
        return float(run([self.bin / "argus", "record", "-o", self.trace, "--no-stacks", "--rate", "0", *options, "--",
                          *self.calls]))

    def recorded_nothing(self):
        return self.record("--without=probes")

    def recorded_hook(self):
        return self.record("--hooks", self.hooks)

    def recorded_uprobe(self):
        return self.record("--probes", self.folder / "probes.conf")

    def kept(self):
        """Records of the victim in the last trace, and what was lost."""
        info = json.loads(run([self.bin / "argus", "info", "--json", self.trace]))
        dump = run([self.bin / "argus", "dump", self.trace])
        return sum(" hook key=" in line for line in dump.splitlines()), info["lost"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options.build, options.work, pathlib.Path(folder))
        ways = [bench.bare, bench.hook, bench.recorded_nothing, bench.recorded_uprobe, bench.recorded_hook]
        best = {}
        for _ in range(ROUNDS):
            for way in ways:
                best[way.__name__] = min(best.get(way.__name__, float("inf")), way())
        kept, lost = bench.kept()
    hit = best["recorded_hook"] - best["recorded_nothing"]
    uprobe = best["recorded_uprobe"] - best["recorded_nothing"]
    print(f"a call without anything          {best['bare']:8.1f} ns")
    print(f"hit of a hook, nobody records    {best['hook'] - best['bare']:8.1f} ns")
    print(f"hit of a uprobe, argus records   {uprobe:8.1f} ns")
    print(f"hit of a hook, argus records     {hit:8.1f} ns = {hit / uprobe:.3f} x a uprobe at the same instruction")
    print(f"records of {CALLS} hits in the last trace: {kept}, {lost} lost")


if __name__ == "__main__":
    main()
