"""The loads that are recorded. To add a load: a function that returns its command, and a row in LOADS."""
import dataclasses
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "libargus"


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    about: str
    command: tuple  # empty: this machine lacks what it needs
    needs: str  # the program, or what to say when it is not there
    records: int = 0  # exactly how many records of its own it causes with four tracepoints; 0: not known before
    clock: str = "wall_ns"  # what a slow-down is taken from; cpu_ns where a typist's pauses make up the time
    stacks: bool = False  # also for the recorders that differ only in call stacks
    rounds: int = 0  # at most so many; 0: as many as asked for


def if_there(program, *command):
    return tuple(command) if shutil.which(program) else ()


def messaging():
    """hackbench, which perf has as well."""
    return if_there("hackbench", "hackbench", "-g", "4", "-l", "1000") or \
        if_there("perf", "perf", "bench", "sched", "messaging", "-g", "4", "-l", "1000")


def compile_sources():
    """The C compiler over three folders of this repository, two at a time, into nothing."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    files = sorted(str(file) for folder in ("base", "trace", "event") for file in (SOURCES / folder).glob("*.c"))
    if not compiler or not files:
        return ()
    one = f"exec {compiler} -std=gnu17 -D_GNU_SOURCE -O2 -w -I{SOURCES / 'include'} -I{SOURCES} -c -o /dev/null \"$1\""
    return ("sh", "-c", 'one=$1; shift; printf "%s\\n" "$@" | xargs -P 2 -n 1 sh -c "$one" sh', "sh", one, *files)


def editor():
    programs = ("Xvfb", "xdotool", "mousepad")
    return (str(HERE / "editor_session.sh"),) if all(map(shutil.which, programs)) else ()


def loads(scale):
    """All rows; `scale` 1 gives loads of half a second to a few seconds."""
    calls, turns = int(3000000 * scale), int(150000 * scale)
    return [
        Load("syscall", f"perf bench syscall basic: getppid() {calls:,} times",
             if_there("perf", "perf", "bench", "syscall", "basic", "-l", str(calls)), "perf", records=2 * calls),
        Load("pipe", f"perf bench sched pipe on one cpu: {turns:,} bytes to and fro",
             if_there("perf", "taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l", str(turns)), "perf"),
        Load("messaging", "hackbench -g 4 -l 1000: 160 processes over sockets", messaging(), "hackbench or perf"),
        Load("compile", "gcc -O2 over libargus/base, trace and event, two at a time", compile_sources(), "gcc"),
        Load("editor", "a session with Mousepad under Xvfb, typed by xdotool", editor(), "Xvfb, xdotool and mousepad",
             clock="cpu_ns", stacks=True, rounds=4),
    ]
