"""Handlers that repeatedly poll for one thing, at a smaller stack depth than the loop's own wait; and loops similar to them."""
from hang_scene import Loop, hang, scene

START = [0x401000, 0x402000]  # main and its caller
HOME = [0x700000, 0x510000, 0x511000, 0x512000, 0x513000] + START
SEARCH = [0x710000, 0x520000, 0x521000] + START
DEEP_SEARCH = tuple(SEARCH[:2] + [0x522000, 0x523000] + SEARCH[2:])


def searches(s, times, ms=10, call="select", fd=9, frames=tuple(SEARCH)):
    """The editor polls that often, with a short time-out in which nothing arrives."""
    for _ in range(times):
        s.wait(s.editor, call, fd=fd, timeout=True, frames=frames)
        s.for_ms(ms)
        s.timer(s.editor)


@scene
def command_is_polled_for():
    """The polls are between two visits of the loop."""
    s = Loop(frames=HOME)
    s.key()
    searches(s, 300)
    s.home()
    s.key()
    s.home()
    s.end()
    return s, [([], [hang(type="RepeatedYield")])]


@scene
def command_speaks_meanwhile():
    """In one of twelve turns the command says something, and twice in all there is a key, which the editor keeps. If keys come in one of
    twelve turns, the place is not a search: it takes what the loop takes."""
    scenes = []
    for speaker in "command", "keyboard":
        s = Loop(frames=HOME)
        s.thread(30, "command")
        s.wait(30, "clock_nanosleep", timeout=True)
        s.key()
        for turn in range(300):
            searches(s, 1)
            if turn % 12 == 0:
                s.wait(s.editor, "select", fd=9, timeout=True, frames=SEARCH)
                s.key() if turn in (96, 192) or speaker == "keyboard" else speaks(s, 30)
        s.home()
        s.key()
        s.home()
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield")]), ([], [])]


def answered_key(s, position):
    """A key to which the editor responds: it draws."""
    s.key()
    s.message(s.editor, 77, position=position)
    s.wake(s.editor, 30)
    s.message(30, 77, received=True, position=position)
    s.wait(30, "read", fd=7)


def editor_that_draws():
    """Its loop draws what is typed. Then a key sets a handler off."""
    s = Loop(frames=HOME)
    s.thread(30, "server")
    s.wait(30, "read", fd=7)
    for position in range(1, 6):
        answered_key(s, position)
        s.home()
    s.key()
    return s


@scene
def keys_are_kept():
    """The editor draws what is typed. In one of twelve turns of the search there is a key, too, which the editor keeps, or draws as well."""
    scenes = []
    for draws in False, True:
        s = editor_that_draws()
        for turn in range(300):
            searches(s, 1)
            if turn % 12 == 0:
                s.wait(s.editor, "select", fd=9, timeout=True, frames=SEARCH)
                answered_key(s, 10 + turn) if draws else s.key()
        s.home()
        s.key()
        s.home()
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield")]), ([], [])]


def speaks(s, tid):
    s.timer(tid)
    s.wake(tid, s.editor)
    s.wait(tid, "clock_nanosleep", timeout=True)


WORKER = 2


def writes(s, tid):
    """A program writes to its terminal, and the kernel's worker brings that to the editor, which polls for it."""
    s.timer(tid)
    s.raw(tid, "work_queued work=1 function=1 context=0")
    s.interrupt(WORKER)
    s.raw(WORKER, "work_start work=1 function=1")
    s.raw(WORKER, f"make_runnable thread={s.editor} context=task")
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.raw(s.editor, "ready arg1=8 arg2=3 arg4=0x2000")
    s.raw(s.editor, f"syscall_end nr={s.calls.pop(s.editor)} result=1")
    s.raw(WORKER, "work_end work=1")
    s.wait(WORKER, "read")
    s.wait(tid, "clock_nanosleep", timeout=True)


@scene
def own_command_writes_meanwhile():
    """What the editor's command writes in one of six turns comes to the editor's loop, too, if the editor is there. So it is not what the
    search is for. If the editor did not start the program, the search takes what the loop takes."""
    scenes = []
    for parent in Loop.editor, 1:
        s = Loop(frames=HOME)
        s.thread(WORKER, "worker")
        s.tables[-1] = s.tables[-1].replace(" name", " kernel name")
        s.wait(WORKER, "read")
        s.thread(30, "command", parent=parent)
        s.wait(30, "clock_nanosleep", timeout=True)
        writes(s, 30)
        s.home()
        s.key()
        for turn in range(300):
            searches(s, 1)
            if turn % 6 == 0:
                s.wait(s.editor, "select", fd=9, timeout=True, frames=SEARCH)
                writes(s, 30)
        s.home()
        s.key()
        s.home()
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield")]), ([], [])]


class SelectLoop(Loop):
    """The loop's call does not say which descriptors it polls."""

    def home(self):
        self.wait(self.editor, "select", fd=9, frames=self.frames)

    def visit(self):
        self.raw(self.editor, "syscall_start nr=select arg1=9 arg2=1")
        self.raw(self.editor, "syscall_end nr=select result=1")


@scene
def search_finds_something_at_once():
    """One poll of the search returns at once. A handler that lets its toolkit do what is pending polls in this way in each turn."""
    scenes = []
    for seldom in True, False:
        s = SelectLoop(frames=HOME)
        s.key()
        for turn in range(120):
            searches(s, 1, ms=25)
            if turn == 60 or not seldom:
                s.visit()
        s.home()
        s.key()
        s.home()
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield")]), ([], [])]


@scene
def keys_are_kept_to_the_end():
    """The trace shows less of the loop than of the search, which is its last part. The editor had drawn what was typed and keeps it now; it
    responds only to what it looks for. Without keys, or if it draws them, nothing tells the search from another loop."""
    scenes = []
    for keys, draws in (3, False), (0, False), (3, True):
        s = editor_that_draws()
        for turn in range(300):
            searches(s, 1, frames=DEEP_SEARCH)
            if turn % 50 == 0 and turn < 50 * keys:
                s.wait(s.editor, "select", fd=9, timeout=True, frames=DEEP_SEARCH)
                answered_key(s, 10 + turn) if draws else s.key()
        s.wait(s.editor, "select", fd=9, timeout=True, frames=DEEP_SEARCH)
        s.thread(31, "command")
        s.wake(31, s.editor)
        s.message(s.editor, 77, position=99)
        searches(s, 1, frames=DEEP_SEARCH)
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield", ongoing=True)]), ([], []), ([], [])]


@scene
def command_is_polled_for_to_the_end():
    """The trace ends before the loop is visited again. It had been the thread's loop for a long time, and the search is as deep as the
    loop."""
    s = Loop(frames=HOME)
    for _ in range(5):
        s.key(900)
        s.home()
    s.key()
    searches(s, 300, frames=DEEP_SEARCH)
    return s, [([], [hang(type="RepeatedYield", ongoing=True)])]


@scene
def command_is_asked_for_to_the_end():
    """The same without the long time before and at a smaller depth; but after each time-out the editor asks whether its command has ended.
    Meanwhile it polls as in its loop and finds keys, which it keeps."""
    scenes = []
    for asks in False, True:
        s = Loop(frames=HOME)
        s.key()
        for turn in range(300):
            searches(s, 1, frames=tuple(SEARCH[:2] + START))
            if asks:
                s.asks_for_a_child(s.editor)
            if turn == 150:
                s.visit()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="RepeatedYield", ongoing=True)])]


@scene
def progress_is_drawn():
    """The search polls the loop's own set of descriptors, so any input would be handled."""
    s = Loop(frames=HOME)
    s.key()
    searches(s, 200, ms=16, call="poll", fd=5)
    s.home()
    s.key()
    s.home()
    s.end()
    return s, [([], [])]


@scene
def loop_after_another():
    """A program that had a loop of its own while it started. Its later loop draws, at a smaller stack depth, and gets no input until the
    end."""
    s = Loop(frames=HOME)
    for _ in range(5):
        s.key(900)
        s.home()
    s.key()
    searches(s, 200, ms=16, frames=tuple(SEARCH[:2] + START))
    return s, [([], [])]


@scene
def trace_begins_with_the_search():
    """Before, the trace shows only some of the typing. After the search, the editor is in its loop. Without the questions for a child, it
    may have been another loop."""
    scenes = []
    for asks in True, False:
        s = Loop(frames=HOME, begun=False)
        s.thread(s.editor, "editor")
        s.thread(s.keyboard, "keyboard")
        s.wait(s.keyboard, "read")
        s.home()
        for _ in range(5):
            s.key(10)
            s.home()
        s.key(10)
        for _ in range(300):
            searches(s, 1)
            if asks:
                s.asks_for_a_child(s.editor)
        s.frames = [0x700000, 0x530000, 0x531000, *START]
        s.home()
        for _ in range(4):
            s.key(500)
            s.home()
        scenes.append(s)
    return scenes, [([], [hang(type="RepeatedYield")]), ([], [])]
