"""Waits inside handlers: for a reply, in a nested loop, at a prompt."""
from hang_scene import Loop, hang, scene


# Frames of a loop, innermost first: the system call, the toolkit's poll, its turn, its loop, main().
MAIN, RUN, TURN, POLL, CALL = 0x401000, 0x402000, 0x403000, 0x404000, 0x405000
AT_HOME = (CALL, POLL, TURN, RUN, MAIN)


def inside(*handler):
    return (CALL, POLL, *handler, TURN, RUN, MAIN)


def handler_that_polls(s, fd, sends):
    """Polls for 3 s, 30 times, in a handler, with a stack of its own."""
    s.key()
    for turn in range(30):
        s.wait(s.editor, "poll", fd=fd, timeout=True, frames=inside(0x40a000, 0x409000))
        if turn == 3 and sends:
            s.sends(1)
        s.for_ms(100)
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
    """The same, but it polls the set of descriptors of the loop: a nested loop that does the loop's work."""
    s = Loop(frames=AT_HOME)
    handler_that_polls(s, 5, False)
    return s, [([], [])]


@scene
def prompt_beside_replies():
    """A prompt inside a handler waits for the keyboard, as the loop does. The handlers also wait for replies of a server, at a smaller
    stack depth than the prompt. That is no evidence against the prompt."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    for turn in range(12):
        for _ in range(2 if turn in (0, 6) else 0):
            s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x406000))
            s.for_ms(1)
            s.interrupt(30)
            s.wake(30, s.editor)
            s.wait(30, "read")
        s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
        s.key(300)
    s.end()
    return s, [([], [])]


@scene
def reply_inside_a_prompt():
    """The same, but a handler of the prompt waits for the server while input from the keyboard is pending."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "server")
    s.wait(30, "read")
    s.key()
    for _ in range(12):
        s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
        s.key(300)
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x40c000, 0x40b000, 0x40a000, 0x409000, 0x408000))
    s.for_ms(1000)
    s.sends(1)
    s.for_ms(2000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.takes(1)
    s.wait(s.editor, "poll", fd=0x8000, frames=inside(0x40a000, 0x409000, 0x408000))
    s.key(300)
    s.end()
    return s, [([], [hang(type="LongWait")])]


@scene
def poll_goes_on_after_signals():
    """A handler waits for a command. Signals interrupt the wait, but it counts as one wait. Two signals are less than the threshold
    apart."""
    s = Loop(frames=AT_HOME)
    s.thread(30, "command")
    s.wait(30, "read")
    s.key()
    for _ in range(6):
        s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x40a000, 0x409000))
        s.for_ms(500)
        s.type()
        s.wake(s.keyboard, s.editor, call="kill", result=-4)
        s.rest()
    s.wait(s.editor, "poll", fd=0x7000, frames=inside(0x40a000, 0x409000))
    s.for_ms(500)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.end()
    return s, [([], [hang(type="LongWait")])]
