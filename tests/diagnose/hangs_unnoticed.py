"""Delays that no user noticed, and the input pending meanwhile."""
from hang_scene import Loop, hang, scene
from hangs_in_handlers import AT_HOME, inside
from scene import Scene


def loop_that_is_told(s):
    """The trace records messages, so a message that is not recorded is not pending."""
    s.sends(100)
    s.key()
    s.takes(100)
    s.home()


@scene
def shell_runs_a_command():
    """For 3 s. Keys that the user types meanwhile are for the command; messages of another process are for the shell. A program with
    windows keeps the user waiting: one that hands UI events to the program, or one to which a display server sends."""
    scenes = []
    for sends, windows, served in (False, False, False), (True, False, False), (False, True, False), (False, False, True):
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui')
        loop_that_is_told(s)
        s.thread(30, "command", parent=s.editor)
        s.key()
        if windows:
            s.raw(s.editor, "ui_event kind=11 probe=1 sp=0x7000")
        s.wait(s.editor, "wait4", fd=30)
        if sends:
            s.sends(1)
        s.for_ms(3000)
        s.wake(30, s.editor, call="exit_group")
        if sends:
            s.takes(1)
        s.raw(s.editor, "syscall_start nr=poll arg1=5 arg2=1")
        s.raw(s.editor, "ready arg1=0 arg2=5 arg4=0x2190")
        s.raw(s.editor, "syscall_end nr=poll result=1")
        s.end()
        if served:
            s.raw(s.keyboard, "open_end inode=900 access=7 fd=4 mode=socket")
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")]), ([], [hang(type="LongWait")]), ([], [hang(type="LongWait")])]


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
    s.for_ms(3000)
    s.wait(11, "poll", fd=8)
    s.key()
    s.end()
    return s, [([], [])]


@scene
def worker_hangs_with_its_window():
    """The editor waits for its own worker, which leaves a request of the editor, in the second scene one of the keyboard, too,
    and in the third only one of another thread of its process."""
    scenes = []
    for other in "none", "keyboard", "helper":
        s = Loop()
        loop_that_is_told(s)
        s.thread(11, "worker", pid=s.editor)
        s.thread(12, "helper", pid=s.editor)
        for turn in range(6):
            s.wait(11, "poll", fd=8)
            s.type()
            s.wake(s.keyboard, s.editor)
            for tid in (s.keyboard, s.editor, 12) if turn < 5 else ():
                s.pipe_message(tid, "sent", 8 * turn, 80 + tid)
            s.rest()
            s.wake(s.editor, 11)
            for tid in (s.keyboard, s.editor, 12) if turn < 5 else ():
                s.pipe_message(11, "received", 8 * turn, 80 + tid)
            s.home() if turn < 5 else s.for_ms(10)
        sender = 12 if other == "helper" else s.editor
        s.pipe_message(sender, "sent", 40, 80 + sender)
        s.wait(s.editor, "read", fd=9)
        s.type()
        if other == "keyboard":
            s.pipe_message(s.keyboard, "sent", 40, 80 + s.keyboard)
        s.rest()
        s.for_ms(3000)
        s.type()
        scenes.append(s)
    window, worker = hang(type="LongWait"), hang()
    return scenes, [([], [window]), ([], [worker, window]), ([], [window])]


@scene
def worker_starves_with_its_window():
    """The worker, for which the keyboard waits, and the editor get no CPU. If the editor computes, the worker has a hang of its own."""
    scenes = []
    for computes in False, True:
        s = Loop()
        loop_that_is_told(s)
        s.thread(11, "worker", pid=s.editor)
        for turn in range(6):
            s.wait(11, "poll", fd=8)
            s.type()
            s.wake(s.keyboard, s.editor)
            s.pipe_message(s.keyboard, "sent", 8 * turn, 80)
            s.rest()
            s.wake(s.editor, 11)
            if turn < 5:
                s.pipe_message(11, "received", 8 * turn, 80)
                s.home()
        starved = (11,) if computes else (s.editor, 11)
        for tid in starved:
            s.raw(tid, "switch state=R next=0")
        s.for_ms(3000)
        for tid in reversed(starved):
            s._record(s.cpus[tid], 0, f"switch state=R next={tid}")
        s.pipe_message(11, "received", 40, 80)
        s.wait(11, "poll", fd=8)
        s.end()
        scenes.append(s)
    starves = hang(nature="waits for a cpu")
    return scenes, [([], [starves]), ([], [starves, hang()])]


@scene
def polled_for_by_another():
    """Its polls are for replies, and its idle wait is on a condition, because another thread polls. It is a hang only if input is
    pending."""
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
                s.for_ms(1)
                s.key()
                s.wait(30, "read") if 30 not in s.calls else None
            s.home()
        s.key()
        s.wait(s.editor, "futex", fd=0x7000)
        if sends:
            s.sends(3)
        s.for_ms(5000)
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
    """A script: its wait is listed only if the user names it."""
    s = Loop()
    loop_that_is_told(s)
    s.thread(30, "script")
    for _ in range(5):
        s.wait(30, "poll", timeout=True)
        s.for_ms(50)
        s.timer(30)
    s.sleep(30, 3000)
    for _ in range(3):
        s.wait(30, "poll", timeout=True)
        s.for_ms(50)
        s.timer(30)
    return s, [([], []), (["--process=script"], [hang("script", type="LongWait", awaited=False)])]


def loop_that_never_waits(sends, start_ms=1900, visits=8):
    """All keys are pending from the beginning, so its polls return at once. After four keys it waits for 2.7 s for a server."""
    s = Loop(begun=False)
    s.thread(s.keyboard, "keyboard")
    s.wait(s.keyboard, "read")
    s.thread(30, "server")
    s.wait(30, "read")
    s.thread(s.editor, "editor")
    if sends:
        for position in range(1, 9):
            s.sends(position)
    s.for_ms(start_ms)
    for position in range(1, 9):
        if position <= visits:
            s.visit()
        if sends:
            s.takes(position)
        s.for_ms(30)
        if position == 4:
            s.wake(s.editor, 30)
            s.wait(s.editor, "read", fd=9)
            s.for_ms(2700)
            s.wake(30, s.editor)
            s.wait(30, "read")
    return s


@scene
def start_and_freeze():
    """The start, with keys pending, is not the freeze; not even if it took longer than the freeze and the loop is not known."""
    scenes = [loop_that_never_waits(True), loop_that_never_waits(True, 3500, 2)]
    return scenes, [([], [hang(type="LongWait")]),
                    (["--process=editor"], [hang(type="LongWait", indicators=["longest stretch"])])]


@scene
def visits_without_messages():
    return loop_that_never_waits(False), [([], [])]


def eventfd_message(s, tid, flags):
    call = "write" if flags == "sent" else "read"
    s.raw(tid, f"syscall_start nr={call} arg1=8")
    s.raw(tid, f"message channel=0x8800 bytes=1 kind=eventfd flags={flags} position=0")
    s.raw(tid, f"syscall_end nr={call} result=8")


@scene
def eventfd_at_a_used_address():
    """The kernel made an eventfd of another program where one of the editor had been. What the program sends to itself is not pending for
    the editor. If the program never takes anything there, it is."""
    scenes = []
    for takes in True, False:
        s = Loop()
        loop_that_is_told(s)
        s.thread(30, "program")
        s.key()
        for flags in "sent", "received":
            eventfd_message(s, s.editor, flags)
        s.home()
        if takes:
            for flags in "sent", "received":
                eventfd_message(s, 30, flags)
        s.key()
        s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x40a000, 0x409000))
        eventfd_message(s, 30, "sent")
        s.wait(30, "read")
        s.goes_on(3000)
        scenes.append(s)
    return scenes, [(["--pid=10"], [hang(type="LongWait", pending=[])]), (["--pid=10"], [hang(type="LongWait", pending=[("message", "program", True)])])]


def draw(s, call):
    """Looks for input by `call`, draws and sleeps."""
    if call:
        s.raw(s.editor, f"syscall_start nr={call} arg1=6")
        s.raw(s.editor, f"syscall_end nr={call} result=0")
    s.for_ms(3)
    s.sleep(s.editor, 47)


def game(looks, rests=False, call="pselect6", before=""):
    """A loop that draws, looks for input and sleeps, 60 times, between its waits for the display server's replies. It did so `before` by this
    call."""
    s = Loop()
    if rests:
        s.for_ms(400)
        s.key()
        s.home()
    loop_that_is_told(s)
    s.key()
    for _ in range(10 if before else 0):
        draw(s, before)
    if before:
        s.home()
        s.key()
    for i in range(60):
        draw(s, call if i < looks else None)
    s.home()
    s.key()
    s.home()
    return s


@scene
def loop_that_only_looks():
    """It is awake all the time, unless it looks no more, has a loop in which it rests, or looks in another way than before."""
    frozen = [hang(type="RepeatedYield")]
    return [game(60), game(8), game(60, rests=True), game(60, before="pselect6"), game(60, call="poll", before="pselect6")], \
        [([], []), ([], frozen), ([], frozen), ([], []), ([], frozen)]


def frame(s, draws, answered_ms):
    """Draws if `draws`, and waits for the display server's answer, if that takes a while; then sleeps."""
    s.for_ms(3)
    if draws:
        s.wake(s.editor, 30)
        if answered_ms:
            s.wait(s.editor, "poll", fd=0x7100, frames=inside(0x40a000, 0x409000))
            s.for_ms(answered_ms)
            s.wake(30, s.editor)
        s.wait(30, "read")
    s.sleep(s.editor, 20)


@scene
def program_of_frames():
    """A program that draws and sleeps, frame after frame, and reads no message of another process, is not frozen, unless it draws nothing, or
    left something of the display server unread."""
    scenes = []
    for draws, leaves in (True, False), (False, False), (True, True):
        s = Loop(frames=AT_HOME)
        loop_that_is_told(s)
        s.thread(30, "display")
        s.wait(30, "read")
        s.thread(31, "bus")
        s.key()
        s.message(31, 55)
        if leaves:
            s.interrupt(30)
            s.message(30, 56, position=2)
            s.wait(30, "read")
        for turn in range(100):
            frame(s, draws, 160 if turn % 20 == 7 else 0)
        s.raw(s.editor, "open_end inode=55 access=3 fd=3 mode=socket")
        s.raw(s.editor, "open_end inode=56 access=3 fd=5 mode=socket")
        s.raw(30, "open_end inode=900 access=7 fd=4 mode=socket")
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="RepeatedYield")]), ([], [hang(type="LongWait")])]


@scene
def what_lay_there_longest():
    """No hang. If the user names the program, the 3 s with a pending message are explained, not the idle 10 s."""
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


def takes_turns(s, draws):
    """A loop in a handler, whose timer ends its waits. It sends something to the display in each turn if `draws`."""
    s.thread(30, "display")
    s.wait(30, "read")
    s.key()
    for _ in range(8):
        if draws:
            s.raw(s.editor, "syscall_start nr=sendto arg1=6")
            s.raw(s.editor, f"message channel=70 kind=unix_stream flags=sent bytes=1 position={int(s.now)}")
            position = int(s.now) - 1000
            s.raw(s.editor, "make_runnable thread=30 context=task")
            s.raw(s.editor, "syscall_end nr=sendto result=1")
            s._comes_back(30, 1)
            s.raw(30, "syscall_start nr=recvfrom arg1=6")
            s.raw(30, f"message channel=70 kind=unix_stream flags=received bytes=1 position={position}")
            s.raw(30, "syscall_end nr=recvfrom result=1")
            s.wait(30, "read")
        s.wait(s.editor, "poll", fd=0x7000, timeout=True, frames=inside(0x40a000, 0x409000))
        s.for_ms(500)
        s.timer(s.editor)


@scene
def prompt_with_a_cursor():
    """A loop inside a handler draws, and nothing is pending: nobody waits. A loop that does not draw keeps the user waiting."""
    scenes = []
    for draws in False, True:
        s = Loop(frames=AT_HOME)
        loop_that_is_told(s)
        takes_turns(s, draws)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="LongWait")]), ([], [])]


@scene
def service_that_rests():
    """A service waits for 5 s in a poll where it has not waited before, until its helper wakes it. It is in no callback, but its loop has
    called some. With windows it counts."""
    scenes = []
    for windows in False, True:
        s = Loop(frames=AT_HOME)
        s.tables.append('probe 1 0 "Toolkit" shape ui')
        s.tables.append('probe 2 0 "Toolkit" shape begin')
        loop_that_is_told(s)
        s.thread(30, "helper", pid=s.editor)
        s.wait(30, "read")
        s.key()
        if windows:
            s.raw(s.editor, "ui_event kind=11 probe=1 sp=0x7000")
        s.raw(s.editor, "callback_start key=0x100 function=0x402000 probe=2 sp=0x7000")
        s.wake(s.editor, 30)
        s.raw(s.editor, "callback_end key=0x100 probe=2 sp=0x7000")
        s.wait(30, "clock_nanosleep", timeout=True)
        s.wait(s.editor, "poll", frames=[0x40a000, 0x409000, 0x402000, 0x401000])
        s.for_ms(5000)
        s.timer(30)
        s.wake(30, s.editor)
        s.wait(30, "read")
        s.home()
        s.key()
        s.home()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


@scene
def tool_that_reads_its_orders():
    """A tool that polls for the ends of its jobs, and reads its next order from its standard input. From a file it would be a hang."""
    scenes = []
    for fd in 0, 5:
        s = Loop()
        loop_that_is_told(s)
        s.key()
        s.wait(s.editor, "read", fd=fd)
        s.for_ms(5000)
        s.type()
        s.wake(s.keyboard, s.editor)
        s.rest()
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


SERVER = 50


def asks(s, turn):
    s.message(40, channel=7, position=turn)
    s.wake(40, SERVER)
    s.message(SERVER, channel=7, received=True, position=turn)


def answers(s, turn):
    s.message(SERVER, channel=8, position=turn)
    s.wake(SERVER, 40)
    s.wait(SERVER, "recvfrom")
    s.message(40, channel=8, received=True, position=turn)


def manager(owed, resized=False):
    """A window manager that rarely waits in its loop, and mostly in its handlers for the display server's replies. `resized`: what ends its
    rest is an event of a window."""
    s = Scene()
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    s.thread(40, "manager")
    s.thread(SERVER, "server")
    s.wait(SERVER, "recvfrom")
    for turn in range(1, 9):
        asks(s, turn)
        s.wait(40, "poll", frames=AT_HOME if turn == 4 else inside(0x40a000, 0x409000))
        s.at(s.now / 1e6 + (100 if turn == 4 else 1))
        answers(s, turn)
    if owed:
        asks(s, 9)
        s.wait(SERVER, "recvfrom")
    s.wait(40, "poll", frames=AT_HOME)
    s.at(s.now / 1e6 + 4000)
    answers(s, 10)
    if resized:
        asks(s, 11)
        s.wait(40, "poll", frames=inside(0x40a000, 0x409000))
        s.for_ms(1)
        answers(s, 11)
        s.raw(40, "ui_event kind=12 probe=1 sp=0x0")
    s.wait(40, "poll", frames=inside(0x40a000, 0x409000))
    s.at(s.now / 1e6 + 5)
    s.thread(90, "idler")
    return s


@scene
def manager_that_is_owed_nothing():
    """Whether it is idle shows in what the server owes it."""
    return [manager(False), manager(False, resized=True), manager(True)], [([], []), ([], []), ([], [hang("manager", "LongWait")])]
