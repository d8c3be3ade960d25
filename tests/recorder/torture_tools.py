"""Rows of torture.py: kills in the middle of commands that look into a running program. After each the program goes on: nobody
traces it, it is not stopped, its code is that of its file (no breakpoint was left), and it counts further."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

import recorder_harness as harness
from torture_round import Failure, Skipped, row

COUNTER = """
#include <stdio.h>
#include <unistd.h>
volatile unsigned long long turns;
volatile int need_stop;
int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i ^ n;
    return sum;
}
int main(int argc, char **argv)
{
    FILE *file = fopen(argv[1], "w");
    (void)argc;
    while (!need_stop) {
        turns += 1 + (work(200) == -1);
        if (turns % 16 == 0) {
            rewind(file);
            fprintf(file, "%020llu", turns);
            fflush(file);
            usleep(1000);
        }
    }
    return 0;
}
"""


class Counter:
    """A program that counts, and writes its count into a file."""

    def __init__(self, at):
        if not shutil.which("cc"):
            raise Skipped("no C compiler")
        self.at, self.program, self.file = at, at.folder / "counter", at.folder / "count"
        subprocess.run(["cc", "-g", "-O1", "-x", "c", "-", "-o", self.program], input=COUNTER, text=True, check=True)
        self.pid = at.start(self.program, self.file).pid
        at.until(lambda: self.count() > 0, "the program does not begin")

    def count(self):
        with contextlib.suppress(OSError, ValueError):
            return int(self.file.read_text())
        return 0

    def state(self, name):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(name + ":"):
                return line.split()[1]
        return ""

    def breakpoints(self):
        """Places where a mapping of code differs from its file."""
        different = []
        for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text(encoding="utf-8").splitlines():
            span, rights, offset, *_, path = (line + " ?").split()[:6]
            if "x" not in rights or not path.startswith("/"):
                continue
            first, end = (int(number, 16) for number in span.split("-"))
            with open(f"/proc/{self.pid}/mem", "rb") as memory, open(path, "rb") as file:
                memory.seek(first)
                code = memory.read(end - first)
                file.seek(int(offset, 16))
                kept = file.read(end - first)
            if code[:len(kept)] != kept:
                different.append(path)
        return different

    def check(self):
        self.at.until(lambda: self.state("TracerPid") == "0", "the program is still traced")
        self.at.until(lambda: self.state("State") not in ("t", "T"), "the program is stopped")
        self.at.until(lambda: not self.breakpoints(), "there is a breakpoint in the program's code")
        before = self.count()
        self.at.until(lambda: self.count() > before, f"the program does not go on after {before} turns")


def kill_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@row
def killed_step(at):
    """argus, killed while it steps: the stepped thread goes on, without the trap flag."""
    program = Counter(at)
    stepping = at.start(harness.ARGUS, "step", "--process", str(program.pid), "--thread", str(program.pid), "--for", "20s",
                        "-o", str(at.folder / "t.steps"))
    at.until(lambda: program.state("TracerPid") != "0", "nothing is stepped")
    at.moment()
    stepping.kill()
    stepping.wait()
    program.check()
    at.links = {0}  # stepping attaches nothing of BPF
    return "", None


@row
def killed_why(at):
    """argus why, killed with all that it started."""
    program = Counter(at)
    for _ in range(10):
        asking = at.start(harness.ARGUS, "why", str(program.pid))
        time.sleep(at.random.uniform(0, 0.25))
        kill_session(asking)
        program.check()
    at.links = {0}
    return "", None


@row
def killed_watchflag(at):
    """The recorder, killed while a variable is watched: no breakpoint of the hardware or of the kernel stays."""
    program = Counter(at)
    for words in (["start", "--backend", "bpf", "--ring-size", "8M"], ["watchflag", str(program.pid), "counter", "turns"]):
        done = harness.argus(*words)
        if done.returncode != 0:
            raise Failure(f"argus {words[0]}: {done.stderr}")
    at.until(lambda: at.links and watches(at.recorder), "nothing is watched")
    at.moment()
    at.kill(at.recorder)
    program.check()
    return "", None


def watches(pid):
    """Whether a process has perf events open, which is how a variable is watched."""
    with contextlib.suppress(OSError):
        return any("perf_event" in os.readlink(file) for file in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    return False
