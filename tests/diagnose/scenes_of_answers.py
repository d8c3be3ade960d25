"""Waits in many pieces, of which the last one ends with the reply that all of them waited for."""
from hang_scene import Loop
from hangs_in_handlers import AT_HOME, inside
from scene import Scene
from scenes import scene

HANDLER = inside(0x40a000, 0x409000)
ASKS, ANSWERS, GRABS = 77, 78, 79  # channels
SERVER, GRABBER = 30, 40


def sends(s, tid, channel, position):
    """`position` names the kernel's buffer, so two messages of one moment have different ones."""
    Scene.message(s, tid, channel, position=position)


def takes(s, tid, channel, position):
    Scene.message(s, tid, channel, received=True, position=position)


def idles(s):
    s.wait(SERVER, "epoll_wait", timeout=True)


def tells(s, position):
    """The server sends the editor something, which makes it run."""
    sends(s, SERVER, ANSWERS, 1000 + position)
    s.wake(SERVER, s.editor)
    idles(s)
    takes(s, s.editor, ANSWERS, 1000 + position)


def asked_and_answered(s, position):
    s.key()
    sends(s, s.editor, ASKS, position)
    s.wake(s.editor, SERVER)
    s.wait(s.editor, "poll", frames=HANDLER)
    takes(s, SERVER, ASKS, position)
    tells(s, position)
    s.home()


@scene
def server_that_another_client_has():
    """The server leaves the question lying until the grabber is done; its own timer makes it run a moment before the grabber does."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    s.thread(GRABBER, "grabber")
    idles(s)
    for position in range(1, 6):
        asked_and_answered(s, position)
    sends(s, GRABBER, GRABS, 2001)
    s.wake(GRABBER, SERVER)
    takes(s, SERVER, GRABS, 2001)
    idles(s)
    s.wait(GRABBER, "clock_nanosleep", timeout=True)
    s.key()
    sends(s, s.editor, ASKS, 6)
    s.wait(s.editor, "poll", frames=HANDLER)
    for position in range(6, 66):
        s.busy(50)
        s.timer(SERVER)
        tells(s, position)
        s.wait(s.editor, "poll", frames=HANDLER)
    s.timer(GRABBER)
    sends(s, GRABBER, GRABS, 2002)
    s.timer(SERVER)
    takes(s, SERVER, GRABS, 2002)
    takes(s, SERVER, ASKS, 6)
    tells(s, 66)
    s.end()
    return s, "editor", {"type": "LongWait", "root": ("grabber", "LongWait"), "only": {"grabber"}}
