"""Rows of torture.py: kills in the middle of commands that look into a running program. After each the program goes on: nobody
traces it, it is not stopped, its code is that of its file (no breakpoint was left), and it counts further."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import recorder_harness as harness
from torture_round import PATIENCE_S, Failure, Skipped, row

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
        self.process = at.start(self.program, self.file)
        self.pid = self.process.pid
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

    def breakpoints(self, but):
        """Where a mapping of code differs from its file, but for these addresses."""
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
                places = (first + at for at, byte in enumerate(kept) if code[at] != byte)
                different += [f"{path}+{place - first + int(offset, 16):#x}" for place in places if place not in but]
        return different

    def ended_by_trap(self):
        return self.process.poll() == -signal.SIGTRAP

    def check(self, debuggers=None):
        """What has to hold after a tool that looked into the program was killed. `debuggers`: addresses at which the debugger that
        was killed, too, had breakpoints before Argus did anything; the program may end by SIGTRAP then."""
        if debuggers is not None:
            time.sleep(0.5)  # some accesses
            if self.ended_by_trap():
                return
        self.at.until(lambda: self.state("TracerPid") == "0", "the program is still traced")
        self.at.until(lambda: self.state("State") not in ("t", "T"), "the program is stopped")
        if not harness.eventually(lambda: not self.breakpoints(debuggers or ()), PATIENCE_S):
            raise Failure(f"there is a breakpoint in the program's code: {', '.join(self.breakpoints(debuggers or ()))}")
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
def step_to_blocking_disk(at):
    """The file system of the step file takes nothing: a signal ends argus step, with or without a word about it, and the program goes
    on. Then argus step is stopped (Ctrl-Z): the program is let go after ten seconds."""
    program = Counter(at)
    disk, switch = at.mount_fuse("write")
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGSTOP:
        words = [harness.ARGUS, "step", "--process", str(program.pid), "--thread", str(program.pid), "--for", "20s", "--max", "10000000"]
        stepping = at.start(*words, "-o", str(disk / f"{number}.steps"))
        at.until(lambda: program.state("TracerPid") != "0", "nothing is stepped")
        switch.touch()
        at.moment()
        at.kill(stepping.pid, number)
        if number != signal.SIGSTOP:
            at.until(lambda process=stepping: process.poll() is not None, "argus step is held", 15)
        program.check()
        switch.unlink()
        at.kill(stepping.pid)
    at.links = {0}
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


def tracer_of_lldb(at, program, *commands):
    """An LLDB that is attached to the program, the process that traces it (lldb-server), and the addresses of LLDB's own breakpoints,
    as it lists them before it runs the commands: one in the dynamic linker, where libraries are loaded. Nobody removes it when LLDB
    is killed, and a program that loads no more libraries never comes there."""
    debugger = next(filter(None, map(shutil.which, ["lldb", *(f"lldb-{version}" for version in range(22, 13, -1))])), None)
    plugin = pathlib.Path(harness.ARGUS).parents[1] / "lib/libargus.so"
    if not debugger or not plugin.exists():
        raise Skipped("no LLDB, or no plugin")
    words = [f"plugin load {plugin}", f"process attach -p {program.pid}", "breakpoint list --internal", *commands]
    lldb = at.start(debugger, "--no-lldbinit", *(word for command in words for word in ("-o", command)))
    at.until(lambda: program.state("TracerPid") not in ("0", ""), "LLDB does not attach")
    def own():
        said = os.pread(lldb.output.fileno(), 1 << 16, 0).decode(errors="replace")  # LLDB shares the position of reads
        return {int(place, 16) for place in re.findall(r"-\d+\.\d+: .*address = (0x[0-9a-f]+)", said)}

    at.until(own, "LLDB does not list its breakpoints")
    return lldb, int(program.state("TracerPid")), own()


def kill_debugger(at, lldb, server):
    for pid in at.random.choice([[lldb.pid], [server], [lldb.pid, server], [server, lldb.pid]]):
        at.kill(pid)
    kill_session(lldb)
    at.kill(server)


@row
def killed_lldb_stepping(at):
    """LLDB or its server, killed while `argus step` steps there: the program goes on. If that hit a breakpoint of LLDB, which LLDB's
    server alone could have removed, it ends by SIGTRAP, as after any debugger (argus-step(1))."""
    program = Counter(at)
    steps = at.folder / "t.steps"
    lldb, server, own = tracer_of_lldb(at, program, f"argus step --max 10000 --until max -o {steps}")
    at.until(lambda: steps.exists() or list(at.folder.glob("t.steps*")) or lldb.poll() is not None, "nothing is stepped")
    at.moment()
    kill_debugger(at, lldb, server)
    program.check(own)
    at.links = {0}
    return "", None


@row
def killed_lldb_watching(at):
    """LLDB or its server, killed while it watches a variable: the program goes on, or ends at the next access by SIGTRAP, as
    argus-watchflag(1) says. What it had hit until then can be read."""
    program = Counter(at)
    hits = at.folder / "t.argus"
    lldb, server, own = tracer_of_lldb(at, program, f"argus watchflag turns -o {hits}", "continue")
    at.until(lambda: hits.exists() and hits.stat().st_size > 0, "nothing is watched")
    at.moment()
    kill_debugger(at, lldb, server)
    program.check(own)
    at.links = {0}
    return "", hits


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
