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

    def __init__(self, turns=5, frames=None):
        super().__init__()
        self.frames = frames
        self.thread(self.editor, "editor")
        self.thread(self.keyboard, "keyboard")
        self.wait(self.keyboard, "read")
        self.home()
        for _ in range(turns):
            self.key()
            self.home()

    def home(self):
        """The editor waits in its loop."""
        self.wait(self.editor, "poll", frames=self.frames)

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

    def sends(self, position):
        """The keyboard sends a message, and wakes nobody."""
        self.type()
        self.raw(self.keyboard, "syscall_start nr=write arg1=6")
        self.message(self.keyboard, "sent", position)
        self.raw(self.keyboard, "syscall_end nr=write result=8")
        self.rest()

    def takes(self, position):
        self.raw(self.editor, "syscall_start nr=read arg1=5")
        self.message(self.editor, "received", position)
        self.raw(self.editor, "syscall_end nr=read result=8")

    def end(self):
        self.home()
        self.key(500)
        self.home()


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


# Frames of a loop, innermost first: the system call, the toolkit's poll, its turn, its loop, main().
MAIN, RUN, TURN, POLL, CALL = 0x401000, 0x402000, 0x403000, 0x404000, 0x405000
AT_HOME = (CALL, POLL, TURN, RUN, MAIN)


def inside(*handler):
    return (CALL, POLL, *handler, TURN, RUN, MAIN)


def handler_that_polls(s, fd, sends):
    """For 3 s, 30 times, in a handler, with a stack of its own."""
    s.key()
    for turn in range(30):
        s.wait(s.editor, "poll", fd=fd, timeout=True, frames=inside(0x40a000, 0x409000))
        if turn == 3 and sends:
            s.sends(1)
        s.busy(100)
        s.timer(s.editor)
    if sends:
        s.takes(1)
    s.end()


@scene
def handler_polls_by_itself():
    s = Loop(frames=AT_HOME)
    handler_that_polls(s, 0x7000, True)
    return s, [([], [hang(type="LongWait")])]


@scene
def dialog_polls_the_same():
    """The same with the array of the loop: a nested loop that does its work."""
    s = Loop(frames=AT_HOME)
    handler_that_polls(s, 5, False)
    return s, [([], [])]


@scene
def prompt_beside_replies():
    """A prompt inside a handler waits for the keyboard, which the loop waits for, too; the handlers also wait for what a server sends,
    less deep than the prompt. That says nothing about the prompt."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    for turn in range(12):
        for _ in range(2 if turn in (0, 6) else 0):
            s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x406000))
            s.busy(1)
            s.device(30)
            s._comes_back(30, 1)
            s.wake(30, s.editor)
            s.wait(30, "read")
        s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
        s.key(300)
    s.end()
    return s, [([], [])]


@scene
def reply_inside_a_prompt():
    """The same, and a handler of the prompt waits for the server, while the keyboard has sent something."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    for _ in range(12):
        s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
        s.key(300)
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x40c000, 0x40b000, 0x40a000, 0x409000, 0x408000))
    s.busy(1000)
    s.sends(1)
    s.busy(2000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.takes(1)
    s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
    s.key(300)
    s.end()
    return s, [([], [hang(type="LongWait")])]


def loop_that_is_told(s):
    """The trace tells of messages, so that one that is not there is not pending."""
    s.sends(100)
    s.key()
    s.takes(100)
    s.home()


@scene
def shell_runs_a_command():
    """For 3 s; who types meanwhile types for the command. What another process sends is for the shell."""
    scenes = []
    for sends in False, True:
        s = Loop()
        loop_that_is_told(s)
        s.thread(30, "command", parent=s.editor)
        s.key()
        s.wait(s.editor, "wait4", fd=30)
        if sends:
            s.sends(1)
        s.busy(3000)
        s.wake(30, s.editor, call="exit_group")
        if sends:
            s.takes(1)
        s.raw(s.editor, "syscall_start nr=poll arg1=5 arg2=1")
        s.raw(s.editor, "ready arg1=0 arg2=5 arg4=0x2190")
        s.raw(s.editor, "syscall_end nr=poll result=1")
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


@scene
def worker_that_nobody_wants():
    s = Loop()
    loop_that_is_told(s)
    s.thread(11, "worker", pid=s.editor)
    for _ in range(5):
        s.wait(11, "poll", fd=8)
        s.key()
        s.wake(s.editor, 11)
        s.home()
    s.busy(3000)
    s.wait(11, "poll", fd=8)
    s.key()
    s.end()
    return s, [([], [])]


@scene
def polled_for_by_another():
    """Its polls are for replies, and it rests at a condition: another thread polls. Only what is pending makes it a hang."""
    scenes = []
    for sends in False, True:
        s = Loop(turns=0)
        s.thread(30, "server")
        s.wait(30, "read")
        for position in 1, 2:
            s.key()
            s.sends(position)
            s.takes(position)
            for _ in range(3):
                s.wake(s.editor, 30)
                s.wait(s.editor, "poll")
                s.busy(1)
                s.key()
                s.wait(30, "read") if 30 not in s.calls else None
            s.home()
        s.key()
        s.wait(s.editor, "futex", fd=0x7000)
        if sends:
            s.sends(3)
        s.busy(5000)
        s.wake(s.keyboard, s.editor) if s.keyboard not in s.calls else None
        s.type()
        s.wake(s.keyboard, s.editor)
        s.rest()
        s.takes(3) if sends else None
        s.home()
        s.key()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


@scene
def sleeps_by_its_own_clock():
    """A script: it is listed where it is named."""
    s = Loop()
    loop_that_is_told(s)
    s.thread(30, "script")
    for _ in range(5):
        s.wait(30, "poll", timeout=True)
        s.busy(50)
        s.timer(30)
    s.sleep(30, 3000)
    for _ in range(3):
        s.wait(30, "poll", timeout=True)
        s.busy(50)
        s.timer(30)
    return s, [([], []), (["--process=script"], [hang("script", type="LongWait", awaited=False)])]


def loop_that_never_waits(sends, start_ms=1900, visits=8):
    """All keys are there already: its polls return at once. After four it waits for 2.7 s for a server."""
    s = Scene()
    loop = Loop.__new__(Loop)
    loop.__dict__.update(s.__dict__)
    s = loop
    s.frames = None
    s.thread(s.keyboard, "keyboard")
    s.wait(s.keyboard, "read")
    s.thread(30, "server")
    s.wait(30, "read")
    s.thread(s.editor, "editor")
    if sends:
        for position in range(1, 9):
            s.sends(position)
    s.busy(start_ms)
    for position in range(1, 9):
        if position <= visits:
            s.visit()
        if sends:
            s.takes(position)
        s.busy(30)
        if position == 4:
            s.wake(s.editor, 30)
            s.wait(s.editor, "read", fd=9)
            s.busy(2700)
            s.wake(30, s.editor)
            s.wait(30, "read")
    return s


@scene
def start_and_freeze():
    """The start, while keys lay there, is not the freeze; not even if it took longer, and it cannot be known that there is a loop."""
    scenes = [loop_that_never_waits(True), loop_that_never_waits(True, 3500, 2)]
    return scenes, [([], [hang(type="LongWait")]),
                    (["--process=editor"], [hang(type="LongWait", indicators=["longest stretch"])])]


@scene
def visits_without_messages():
    return loop_that_never_waits(False), [([], [])]


@scene
def slow_start():
    """A program that is started, and comes to its loop 3 s later, while somebody sent something already."""
    scenes = []
    for sends in False, True:
        s = Loop()
        loop_that_is_told(s)
        s.raw(s.keyboard, "read") if False else None
        s.cpus[40] = len(s.cpus)
        s.type()
        s.raw(s.keyboard, "new_thread thread=40 pid=40 new_process=1 parent=20")
        s.raw(s.keyboard, 'name_new name="viewer"')
        s.rest()
        s._record(s.cpus[40], 0, "switch state=R next=40")
        s._record(s.cpus[40], 40, "exec pid=40")
        s._record(s.cpus[40], 40, 'name_exec name="viewer"')
        if sends:
            s.sends(200)
        s.busy(3000)
        for turn in range(5):
            s.wait(40, "poll", fd=7)
            s.busy(50)
            s.type()
            s.wake(s.keyboard, 40)
            s.rest()
            if turn == 0 and sends:
                s.raw(40, "syscall_start nr=read arg1=7")
                s.message(40, "received", 200)
                s.raw(40, "syscall_end nr=read result=8")
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang("viewer")])]


@scene
def what_lay_there_longest():
    """Nothing hung. Named, not the idle 10 s are explained but the 3 s for which a message lay there."""
    s = Loop()
    s.sends(1)
    for _ in range(6):
        s.key(500)
        s.home()
    s.key(10000)
    s.takes(1)
    s.home()
    s.key()
    s.sends(2)
    for _ in range(6):
        s.home()
        s.key(500)
    s.takes(2)
    s.end()
    return s, [([], []), (["--process=editor"], [hang(type="LongWait", indicators=["longest stretch"])])]


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
        # several scenes: each has a question of its own
        parts = zip(made, ([question] for question in questions)) if isinstance(made, list) else [(made, questions)]
        wrong = []
        for number, (part, asked) in enumerate(parts):
            text, trace = folder / f"{name}{number or ''}.trace", folder / f"{name}{number or ''}.argus"
            text.write_text(part.text())
            subprocess.run([mktrace, text, trace], check=True)
            wrong += [text for options, expected in asked for text in problems(argus, trace, options, expected)]
        print(name, "ok" if not wrong else "WRONG: " + "; ".join(wrong))
        failed |= bool(wrong)
    return failed


if __name__ == "__main__":
    sys.exit(main())
