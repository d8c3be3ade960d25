"""What `argus hangs` finds in small scenes: test_hangs.py MKTRACE ARGUS MARKS FOLDER [SCENE…].

MARKS is a shared library with the functions and flags by which macOS tells of a hang. A scene is a function that makes a trace;
it returns the Scene and a list of questions: options of `argus hangs`, and what the list has to be.
"""
import functools
import json
import pathlib
import subprocess
import sys

from scene import Scene

SCENES = {}
MARKS = None
KEYS = ("process", "type", "nature", "awaited")


def scene(function):
    SCENES[function.__name__] = function
    return function


class Loop(Scene):
    """A scene with an editor that has come back to its poll() several times, each time for the keyboard."""

    editor, keyboard = 10, 20

    def __init__(self, turns=5):
        super().__init__()
        self.thread(self.editor, "editor")
        self.thread(self.keyboard, "keyboard")
        self.wait(self.keyboard, "read")
        self.wait(self.editor, "poll")
        for _ in range(turns):
            self.key()
            self.wait(self.editor, "poll")

    def device(self, tid):
        """An interrupt makes a thread run."""
        self._record(self.cpus[tid], 0, "interrupt_start irq=1")
        self._record(self.cpus[tid], 0, f"make_runnable thread={tid} context=hardirq")
        self._record(self.cpus[tid], 0, "interrupt_end irq=1")

    def type(self):
        """The keyboard runs, until rest()."""
        self.device(self.keyboard)
        self._comes_back(self.keyboard, 1)

    def rest(self):
        """It waits for the next key."""
        self.wait(self.keyboard, "read")

    def key(self, after_ms=20):
        self.at(self.now / 1e6 + after_ms)
        self.type()
        self.wake(self.keyboard, self.editor)
        self.rest()

    def busy(self, ms):
        self.at(self.now / 1e6 + ms)

    def raw(self, tid, text):
        self._record(self.cpus[tid], tid, text)

    def visit(self):
        """A poll() of the editor that returns at once."""
        self.raw(self.editor, "syscall_start nr=poll arg1=5 arg2=1")
        self.raw(self.editor, "syscall_end nr=poll result=1")

    def message(self, tid, flags, position):
        self.raw(tid, f"message channel=99 bytes=8 kind=pipe flags={flags} position={position}")

    def end(self):
        self.wait(self.editor, "poll")
        self.key(500)
        self.wait(self.editor, "poll")


def hang(process="editor", type="LongRunning", nature=None, awaited=True, **more):
    return {"process": process, "type": type, "nature": nature, "awaited": awaited, **more}


@scene
def busy_handler():
    s = Loop()
    s.key()
    start = s.now
    s.busy(3000)
    s.end()
    found = hang(indicators=["event loop did not come back"], fault_count=0, stopped_ns=0, ongoing=False)
    return s, [([], [found]), (["--threshold=2s"], [found]), (["--threshold=250ms"], [found]),
               (["--threshold=3100ms"], []), (["--process=editor"], [found]), (["--pid=10"], [found]),
               (["--thread=editor"], [found]), (["--thread=10"], [found]), (["--tid=10"], [found]),
               (["--thread=keyboard"], [hang("keyboard", "LongWait", indicators=["longest stretch"])]),
               ([f"--time=+{start // 1000000 + 1500}ms"], [found]),
               (["--time=00:00:02"], [found])]


@scene
def idle():
    """Ten seconds in its own poll with nothing to do."""
    s = Loop()
    s.key(10000)
    s.end()
    return s, [([], []), (["--process=editor"], []), (["--tid=10", "--idle"], [hang(type="LongWait", nature="idle", awaited=True)])]


@scene
def idle_until_an_answer():
    """The same, but what ends it is the answer of somebody whom it had asked: it would have looked at anything else."""
    s = Loop()
    s.thread(30, "helper")
    s.wait(30, "read")
    s.key()
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll")
    s.at(s.now / 1e6 + 10000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.end()
    return s, [([], [])]


@scene
def asked_and_did_not_look():
    """The same, but the keyboard had sent something meanwhile, which was not taken: the poll was for the answer only."""
    s = Loop()
    s.thread(30, "helper")
    s.wait(30, "read")
    s.key()
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll")
    s.busy(1000)
    s.type()
    s.raw(s.keyboard, "syscall_start nr=write arg1=6")
    s.message(s.keyboard, "sent", 1)
    s.raw(s.keyboard, "syscall_end nr=write result=8")
    s.rest()
    s.busy(2000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.raw(s.editor, "syscall_start nr=read arg1=5")
    s.message(s.editor, "received", 1)
    s.raw(s.editor, "syscall_end nr=read result=8")
    s.end()
    pending = [("set off", "keyboard", False), ("message", "keyboard", False)]
    return s, [([], [hang(type="LongWait", pending=pending)])]


@scene
def never_taken():
    s = Loop()
    for position in 1, 2:
        s.key()
        s.type()
        s.raw(s.keyboard, "syscall_start nr=write arg1=6")
        s.message(s.keyboard, "sent", position)
        s.raw(s.keyboard, "syscall_end nr=write result=8")
        s.rest()
        if position == 1:
            s.raw(s.editor, "syscall_start nr=read arg1=5")
            s.message(s.editor, "received", position)
            s.raw(s.editor, "syscall_end nr=read result=8")
            s.wait(s.editor, "poll")
    s.wait(s.editor, "futex", fd=0x7000)
    s.at(s.now / 1e6 + 4000)
    s.type()
    pending = [("set off", "keyboard", False), ("message", "keyboard", True)]
    return s, [([], [hang(type="LongWait", ongoing=True, pending=pending)])]


@scene
def always_something_to_do():
    """Its polls return at once for 6 s: it comes back all the time."""
    s = Loop()
    s.key()
    for _ in range(60):
        s.busy(100)
        s.visit()
    s.end()
    return s, [([], []), (["--threshold=90ms"], [hang()] * 2)]


@scene
def away_between_visits():
    """The same, but once it stays away for 3 s, and then finds a timer and a socket ready."""
    s = Loop()
    s.key()
    for turn in range(40):
        s.busy(3000 if turn == 20 else 100)
        s.raw(s.editor, "syscall_start nr=poll arg1=5 arg2=1")
        if turn == 20:
            s.raw(s.editor, "ready arg1=7 arg2=99 arg4=0x6672656d69740000")
        s.raw(s.editor, "syscall_end nr=poll result=1")
    s.end()
    return s, [([], [hang(pending=[("ready", None, False)])])]


@scene
def own_timer():
    """What a thread does by its own timer, while nobody wants it, comes behind what somebody waited for."""
    s = Loop()
    s.thread(30, "housekeeper")
    for _ in range(5):
        s.wait(30, "poll", timeout=True)
        s.at(s.now / 1e6 + 50)
        s.timer(30)
    s.busy(5000)
    s.wait(30, "poll", timeout=True)
    s.key()
    s.busy(3000)
    s.end()
    return s, [([], [hang(), hang("housekeeper", awaited=False)])]


@scene
def stopped():
    s = Loop()
    s.key()
    s.raw(s.editor, "switch state=T next=0")
    s.at(s.now / 1e6 + 3000)
    s.type()
    s.raw(s.keyboard, "syscall_start nr=kill arg1=10")
    s.raw(s.keyboard, f"make_runnable thread={s.editor} context=task")
    s.raw(s.keyboard, "syscall_end nr=kill result=0")
    s.rest()
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.end()
    return s, [([], [hang(type="LongWait", nature="stopped")])]


@scene
def no_cpu():
    """Preempted for 2.5 s of 3."""
    s = Loop()
    s.thread(30, "hog")
    s.key()
    s.busy(500)
    s.raw(s.editor, "switch state=R next=0")
    s.busy(2500)
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.end()
    return s, [([], [hang(nature="waits for a cpu")])]


@scene
def page_in_storm():
    """30 page faults of 100 ms each; outside of any system call."""
    s = Loop()
    s.key()
    fault(s, 30, 100)
    s.end()
    return s, [([], [hang(type="LongWait", nature="page-in storm", fault_count=30)])]


def fault(s, times, ms):
    for _ in range(times):
        s.raw(s.editor, "switch state=D next=0")
        s.at(s.now / 1e6 + ms)
        s.device(s.editor)
        s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")


@scene
def few_page_faults():
    """Decoy: many faults, but most of the time it computes."""
    s = Loop()
    s.key()
    fault(s, 30, 20)
    s.busy(3000)
    s.end()
    return s, [([], [hang(nature=None, fault_count=30)])]


@scene
def one_slow_page():
    s = Loop()
    s.key()
    fault(s, 1, 3000)
    s.end()
    return s, [([], [hang(type="LongWait", nature="waits for a disk", fault_count=1)])]


def suspended(before_ms, frozen_ms):
    s = Loop()
    s.key()
    s.busy(before_ms)
    s.raw(s.editor, "switch state=D next=0")
    s.at(s.now / 1e6 + frozen_ms)
    s.device(s.editor)
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s._record(s.cpus[s.keyboard], 0, f"record id=0x60040004 arg1=3600000000000 arg2={s.now}")
    s.busy(50)
    s.end()
    return s


@scene
def machine_asleep():
    """Two seconds and a half, of which the machine was frozen for two: no hang."""
    return suspended(450, 2000), [([], [])]


@scene
def asleep_in_a_hang():
    return suspended(2500, 1500), [([], [hang(suspended_ns=3600000000000)])]


@scene
def report_begun():
    """spindump is started while the editor has not answered for a second; nothing is long enough for the threshold."""
    s = Loop()
    s.key()
    s.busy(1000)
    spindump(s)
    s.busy(500)
    s.end()
    found = hang(indicators=["hang report begun"])
    return s, [([], [found]), (["--threshold=1s"], [hang(indicators=["event loop did not come back", "hang report begun"])])]


def spindump(s):
    s.type()
    s.raw(s.keyboard, "new_thread thread=77 pid=77 new_process=1 parent=20")
    s.raw(s.keyboard, "name_new name=spindump")
    s.cpus[77] = len(s.cpus)
    s._record(s.cpus[77], 0, "switch state=R next=77")
    s._record(s.cpus[77], 77, "switch state=S next=0")
    s.rest()


@scene
def spinning_cursor_requested():
    """Another thread of the editor calls CGSConnectionSetSpinning()."""
    s = Loop()
    address = symbol("CGSConnectionSetSpinning")
    s.thread(11, "events", pid=10)
    s.tables += marks_image(), f"stack 5 {address + 4:#x}"
    s.key()
    s.busy(900)
    s.raw(11, "sample user=5 pc=0x7f0000000000")
    s.busy(600)
    s.end()
    return s, [([], [hang(indicators=["spinning cursor requested"])])]


@scene
def other_function_of_that_library():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += marks_image(), f"stack 5 {symbol('CGSGetWindowCount') + 4:#x}"
    s.key()
    s.busy(900)
    s.raw(11, "sample user=5 pc=0x7f0000000000")
    s.busy(600)
    s.end()
    return s, [([], [])]


@scene
def flagged_as_spinning():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += marks_image(),
    s.key()
    s.busy(900)
    s.raw(11, f"flag_write flag={symbol('is_mainthread_spinning'):#x} value=1 bytes=4")
    s.busy(600)
    s.raw(11, f"flag_write flag={symbol('is_mainthread_spinning'):#x} value=0 bytes=4")
    s.end()
    return s, [([], [hang(indicators=["main thread flagged as spinning"])])]


@scene
def another_flag():
    s = Loop()
    s.thread(11, "events", pid=10)
    s.tables += marks_image(),
    s.key()
    s.busy(900)
    s.raw(11, f"flag_write flag={symbol('need_display'):#x} value=1 bytes=4")
    s.busy(600)
    s.end()
    return s, [([], [])]


def pinged(answers, window=0x400001):
    """A viewer that only reads, no event loop; a window manager pings it, and it answers but for the last 3 s."""
    s = Scene()
    s.tables.append('probe 3 0 "X11 ping"')
    viewer, manager = 10, 20
    s.thread(viewer, "viewer")
    s.thread(manager, "manager")
    s.wait(viewer, "read")
    for _ in range(4):
        s.at(s.now / 1e6 + 50)
        s._record(s.cpus[manager], manager, f"callback_queued key={window} function={window} probe=3")
        s.wake(manager, viewer)
        if answers:
            s._record(s.cpus[viewer], viewer, f"callback_queued key={window} function=77 probe=3")
        s.wait(viewer, "read")
    s.wake(manager, viewer)
    s.at(s.now / 1e6 + 300)
    s._record(s.cpus[manager], manager, f"callback_queued key={window} function={window} probe=3")
    s.at(s.now / 1e6 + 2500)
    s.wait(viewer, "read")
    s.at(s.now / 1e6 + 500)
    s._record(s.cpus[manager], manager, "syscall_start nr=getpid")
    return s


@scene
def ping_not_answered():
    found = hang("viewer", indicators=["ping not answered"])
    return pinged(True), [([], [found]), (["--process=viewer"], [found]), (["--threshold=4s"], [])]


@scene
def window_that_never_answers():
    return pinged(False), [([], [])]


BASE = 0x7F0000000000


@functools.lru_cache
def symbols():
    lines = subprocess.run(["nm", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return {words[2]: int(words[0], 16) for words in map(str.split, lines) if len(words) == 3}


def symbol(name):
    return BASE + symbols()[name]


@functools.lru_cache
def marks_image():
    """Where the library's code is mapped; where its data are, the trace does not say."""
    notes = subprocess.run(["readelf", "-n", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout
    build_id = notes.split("Build ID:")[1].split()[0]
    headers = subprocess.run(["readelf", "-lW", MARKS], stdout=subprocess.PIPE, text=True, check=True).stdout
    loads = [line.split() for line in headers.splitlines() if line.split()[:1] == ["LOAD"] and " E " in line]
    parts = [(int(words[1], 16) & -4096, int(words[2], 16) & -4096, int(words[2], 16) + int(words[5], 16)) for words in loads]
    return "\n".join(f"image pid 10 start {BASE + start:#x} end {BASE + (end + 4095 & -4096):#x} offset {offset:#x} "
                     f"build_id {build_id} path {MARKS}" for offset, start, end in parts)


# --- checking ---

def differs(found, expected):
    for key, value in expected.items():
        have = found[key]
        if key == "pending":
            have = [(item["kind"], item["process"], item["unread"]) for item in have]
        if have != value:
            yield f"{key} is {have}, not {value}"


def problems(argus, trace, options, expected):
    words = [option for option in options if option != "--idle"]
    argv = [argus, "hangs", "--json", *words, trace]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr}"]
    answer = json.loads(done.stdout)
    found = answer["idle" if "--idle" in options else "hangs"]
    if len(found) != len(expected):
        return [f"{options}: {len(found)} instead of {len(expected)}: {done.stdout}"]
    wrong = [f"{options}: {text}" for have, want in zip(found, expected) for text in differs(have, want)]
    text = [subprocess.run([argus, "hangs", *words, trace], stdout=subprocess.PIPE, text=True).stdout for _ in range(2)]
    if text[0] != text[1]:
        wrong.append("the second list differs from the first")
    for have in expected if "--idle" not in options else []:
        if have["process"] not in text[0]:
            wrong.append(f"{have['process']} is not in the text")
    return wrong


def main():
    global MARKS
    mktrace, argus, MARKS, folder = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in sys.argv[5:] or SCENES:
        made, questions = SCENES[name]()
        text, trace = folder / f"{name}.trace", folder / f"{name}.argus"
        text.write_text(made.text())
        subprocess.run([mktrace, text, trace], check=True)
        wrong = [text for options, expected in questions for text in problems(argus, trace, options, expected)]
        print(name, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
