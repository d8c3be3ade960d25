"""Nested loops in handlers: the input that they leave pending, and what they wait for."""
from hang_scene import Loop, hang, scene
from hangs_in_handlers import AT_HOME, inside

HANDLER = inside(0x40a000, 0x409000)
REPLY = inside(0x406000)
KEY_PRESS = 1


def frames_of_animation(s, count, fd=5, ms=16):
    """A nested loop that draws at each frame."""
    for _ in range(count):
        s.wait(s.editor, "poll", fd=fd, timeout=True, frames=HANDLER)
        s.for_ms(ms)
        s.timer(s.editor)


def replies(s, server, count):
    """The handlers wait for a server, at another place, and briefly."""
    for _ in range(count):
        s.wake(s.editor, server)
        s.wait(s.editor, "poll", fd=0x7000, frames=REPLY)
        s.for_ms(1)
        s.wake(server, s.editor)
        s.wait(server, "read")


@scene
def animated_dialog():
    """A dialog that is never idle, since it draws at each frame, and also waits for replies; no input is pending."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    for _ in range(4):
        s.wait(s.editor, "poll", fd=0x7000, frames=REPLY)
        s.for_ms(1)
        s.interrupt(30)
        s.wake(30, s.editor)
        s.wait(30, "read")
        frames_of_animation(s, 50)
    s.end()
    return s, [([], [])]


@scene
def loop_that_leaves_messages():
    """The same, with a message for the editor that only its outer loop reads."""
    s = Loop(frames=AT_HOME)
    s.key()
    frames_of_animation(s, 30)
    s.sends(1)
    frames_of_animation(s, 150)
    s.takes(1)
    s.end()
    return s, [([], [hang(type="RepeatedYield", pending=[("set off", "keyboard", False), ("message", "keyboard", False)])])]


@scene
def message_that_the_loop_leaves_as_well():
    """A message that no loop reads, not even the outer one: the nested loop leaves no input pending that the outer loop would
    read."""
    s = Loop(frames=AT_HOME)
    s.sends(1)
    s.key()
    s.takes(1)
    s.home()
    s.sends(2)
    s.key(300)
    s.home()
    s.key(300)
    frames_of_animation(s, 180)
    s.end()
    return s, [([], [])]


def input_kept(late):
    """A nested loop that excludes the user's input: keys make the editor run, and are dispatched when the loop is over (`late`), or at
    once."""
    s = Loop(frames=AT_HOME)
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    s.key()
    s.raw(s.editor, f"ui_event kind={KEY_PRESS} probe=1 sp=0x7000")
    for turn in range(25):
        s.wait(s.editor, "poll", fd=5, timeout=True, frames=HANDLER)
        s.for_ms(60)
        if turn in (3, 4):
            s.key(0)
            if not late:
                s.raw(s.editor, f"ui_event kind={KEY_PRESS} probe=1 sp=0x7000")
            s.wait(s.editor, "poll", fd=5, timeout=True, frames=HANDLER)
            s.for_ms(60)
        s.timer(s.editor)
        s.for_ms(40)
    if late:
        s.raw(s.editor, f"ui_event kind={KEY_PRESS} probe=1 sp=0x7000")
        s.raw(s.editor, f"ui_event kind={KEY_PRESS} probe=1 sp=0x7000")
    s.end()
    return s


@scene
def input_left_out():
    return [input_kept(True), input_kept(False)], [([], [hang(type="LongWait")]), ([], [])]


def visits_inside(keeps):
    """Polls of a nested loop return at once, with the arguments of the outer loop's wait; with or without a pending message."""
    s = Loop(frames=AT_HOME)
    s.key()
    for turn in range(30):
        s.wait(s.editor, "poll", fd=5, timeout=True, frames=HANDLER)
        s.for_ms(60)
        s.timer(s.editor)
        if turn == 3 and keeps:
            s.sends(1)
        s.visit()
        s.for_ms(40)
    if keeps:
        s.takes(1)
    s.end()
    return s


@scene
def visits_in_a_loop_that_leaves_messages():
    return [visits_inside(True), visits_inside(False)], [([], [hang(type="LongWait")]), ([], [])]


def asks(s, tid, other, position, channel=77):
    """A message that makes another thread run."""
    s.raw(tid, "syscall_start nr=sendto arg1=6")
    s.raw(tid, f"message channel={channel} kind=unix_stream flags=sent bytes=1 position={position * 0x1000}")
    s.raw(tid, f"make_runnable thread={other} context=task")
    s.raw(tid, "syscall_end nr=sendto result=1")
    s._comes_back(other, 1)
    s.raw(other, "syscall_start nr=recvfrom arg1=6")
    s.raw(other, f"message channel={channel} kind=unix_stream flags=received bytes=1 position={position * 0x1000}")
    s.raw(other, "syscall_end nr=recvfrom result=1")


def clipboard(answered, pauses=False):
    """F5 asks the server, which asks the owner. Meanwhile a nested loop handles the keys; it ends with the answer, or by a key."""
    s = Loop(frames=AT_HOME)
    s.tables.append('probe 2 0 "Toolkit" shape begin')
    s.thread(30, "server")
    s.thread(40, "owner")
    s.thread(41, "helper", pid=40)
    s.wait(30, "read")
    s.wait(40, "read")
    s.key()
    asks(s, s.editor, 30, 1)
    s.wait(s.editor, "poll", fd=5, frames=HANDLER)
    asks(s, 30, 40, 2, 78)
    s.wait(30, "read")
    if not answered:
        s.wait(40, "read")
    for _ in range(12):
        s.key(250)
        s.wait(s.editor, "poll", fd=5, frames=HANDLER)
    if pauses:
        s.raw(40, "callback_start key=0x100 function=0x402000 probe=2 sp=0x8000")
        s.wait(40, "futex", fd=0x7000)
        s.wake(41, 40, call="futex", result=0)
    if answered:
        asks(s, 40, 30, 3, 79)
        s.wait(40, "read")
        asks(s, 30, s.editor, 4, 80)
        s.wait(30, "read")
    else:
        s.key(20)
    s.end()
    return s


@scene
def nested_loop_that_waits_for_an_answer():
    """The user who types into a dialog also ends it, so that is no hang. It is one if the editor waits for an answer to its own request."""
    return [clipboard(True), clipboard(False)], [([], [hang(type="LongWait")]), ([], [])]


@scene
def answer_of_one_who_paused():
    """Between the request and its answer the owner waited for a lock, in the middle of its callback."""
    return clipboard(True, pauses=True), [([], [hang(type="LongWait")])]


@scene
def dialog_after_a_start_with_replies():
    """While the program started, it waited for a server, at the greatest stack depth. That wait is no caller of the dialog."""
    s = Loop(begun=False)
    s.frames = AT_HOME
    s.thread(30, "server")
    s.wait(30, "read")
    s.thread(s.editor, "editor")
    for _ in range(4):
        s.wait(s.editor, "poll", fd=0x7000, frames=REPLY)
        s.for_ms(2)
        s.interrupt(30)
        s.wake(30, s.editor)
        s.wait(30, "read")
    s.thread(s.keyboard, "keyboard")
    s.wait(s.keyboard, "read")
    s.home()
    for _ in range(5):
        s.key()
        s.home()
    s.key()
    frames_of_animation(s, 180)
    s.end()
    return s, [([], [])]



@scene
def worker_that_looks_up_names():
    """Now and then a worker of a pool polls for a while, each time a new socket, which is ready at the first poll. Otherwise the worker is
    idle."""
    s = Loop()
    s.sends(100)
    s.key()
    s.takes(100)
    s.home()
    s.thread(11, "worker", pid=s.editor)
    for fd in range(30, 36):
        s.raw(11, f"syscall_start nr=poll arg1={fd} arg2=1")
        s.raw(11, f"ready arg1=0 arg2={fd} arg4=0xc000")
        s.raw(11, "syscall_end nr=poll result=1")
        s.wait(11, "poll", fd=fd, timeout=True, frames=inside(0x40a000))
        s.for_ms(50)
        s.timer(11)
        s.wait(11, "futex", fd=0x9000)
        s.key(3000)
        s.wake(s.editor, 11, call="futex")
        s.home()
    s.end()
    return s, [([], [])]


@scene
def script_that_sleeps_after_its_child():
    """A message of a child process starts the sleep. If another process sends the message, it is a hang."""
    scenes = []
    for parent in Loop.editor, 1:
        s = Loop()
        s.sends(100)
        s.key()
        s.takes(100)
        s.home()
        s.thread(40, "other", parent=parent)
        s.wait(40, "read")
        s.for_ms(100)
        s.interrupt(40)
        s.wake(40, s.editor)
        s.wait(40, "read")
        s.sleep(s.editor, 3000)
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


@scene
def dialog_after_a_short_reply():
    """The handler asks the server, which answers at once, on the loop's descriptor. Then an idle dialog follows, at a greater stack
    depth."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    asks(s, s.editor, 30, 1)
    s.wait(s.editor, "poll", fd=5, frames=REPLY)
    s.for_ms(1)
    asks(s, 30, s.editor, 2, 78)
    s.wait(30, "read")
    frames_of_animation(s, 180)
    s.end()
    return s, [([], [])]


@scene
def dialog_among_replies():
    """A loop deep in the stack that draws at each frame: a dialog before the main loop. The program waits at another place, which is
    less deep, for a server that is so busy that its replies do not look like replies; it never rests there."""
    s = Loop(begun=False)
    s.thread(10, "editor")
    s.thread(30, "server")
    s.wait(30, "read")
    for round in range(12):
        s.wait(10, "poll", fd=0x7000, frames=REPLY)
        s.for_ms(1)
        s.interrupt(30)
        s.wake(30, 10)
        s.wait(30, "read")
        frames_of_animation(s, 100 if round == 11 else 0, ms=30)
    return s, [([], [])]
