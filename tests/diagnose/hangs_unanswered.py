"""Handlers that run the toolkit's loop until a reply comes, which another process owes and does not give."""
from hang_scene import Loop, hang, scene
from hangs_searching import HOME, START

REPLY = (HOME[0], HOME[1], 0x530000, *START)  # the toolkit's loop, called by a handler, at a smaller depth than the home
SERVER, OWNER = 30, 40
ASKS, ANSWERS, FORWARDS = 77, 78, 79  # channels


def server_and_owner():
    s = Loop(frames=HOME)
    s.thread(SERVER, "server")
    s.thread(OWNER, "owner")
    s.wait(OWNER, "read", fd=7)
    idles(s)
    for position in range(1, 4):  # the owner has taken messages before
        s.interrupt(SERVER)
        s.message(SERVER, FORWARDS, position=position)
        s.wake(SERVER, OWNER)
        s.message(OWNER, FORWARDS, received=True, position=position)
        s.wait(OWNER, "read", fd=7)
        idles(s)
    return s


def idles(s):
    s.wait(SERVER, "epoll_wait", fd=8)


def waits(s):
    s.wait(s.editor, "poll", timeout=True, frames=REPLY)


def sends(s, position):
    """The editor sends the server something, which makes the server run."""
    s.message(s.editor, ASKS, position=position)
    s.wake(s.editor, SERVER)
    s.message(SERVER, ASKS, received=True, position=position)


def asks(s, taken, busy=False):
    """The server hands the request on; the owner does not take it, or it takes it and does not answer."""
    s.key()
    sends(s, 9)
    s.message(SERVER, FORWARDS, position=9)
    if taken:
        s.wake(SERVER, OWNER)
        s.message(OWNER, FORWARDS, received=True, position=9)
        s.wait(OWNER, "read", fd=7)
    idles(s)
    if not busy:
        waits(s)


def keys(s, position, draws=False):
    """The server sends the editor a key, which the editor takes."""
    for _ in range(3):
        position += 1
        s.for_ms(200)
        s.interrupt(SERVER)
        s.message(SERVER, ANSWERS, position=position)
        s.wake(SERVER, s.editor)
        idles(s)
        s.message(s.editor, ANSWERS, received=True, position=position)
        if draws:
            sends(s, position)
            idles(s)
        waits(s)


def times_out(s):
    for turn in range(3):
        s.for_ms(1000)
        s.timer(s.editor)
        if turn < 2:
            waits(s)


def owner_goes_on(s):
    s.interrupt(OWNER)
    s.message(OWNER, FORWARDS, received=True, position=9)


@scene
def handler_gives_up():
    """The owner takes the request after the handler has given up. If it took the request at once, the place is a loop that follows another
    for a while; so it is if a key and no time-out ends it."""
    scenes = []
    for taken, by_key in (False, False), (True, False), (False, True):
        s = server_and_owner()
        asks(s, taken)
        keys(s, 20)
        times_out(s)
        if by_key:
            waits(s)
            s.key(200)
        s.home()
        s.key()
        s.home()
        if not taken:
            owner_goes_on(s)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="LongWait")]), ([], []), ([], [])]


@scene
def reply_is_missing_at_the_end():
    """The trace ends while the handler waits, whether it draws what it takes or not. A loop whose request was taken is no such handler."""
    scenes = []
    for draws, taken in (False, False), (True, False), (True, True):
        s = server_and_owner()
        asks(s, taken)
        keys(s, 20, draws)
        times_out(s)
        waits(s)
        s.goes_on(500)
        scenes.append(s)
    return scenes, [([], [hang(type="LongWait", ongoing=True)])] * 2 + [([], [])]


REPLIES = (HOME[0], 0x540000, 0x541000, 0x542000, *HOME[1:])  # where a handler waits for the server's replies


def comes(s, position, after_ms, frames):
    """The server sends the editor something, and the editor waits at `frames` next."""
    s.for_ms(after_ms)
    s.interrupt(SERVER)
    s.message(SERVER, ANSWERS, position=position)
    s.wake(SERVER, s.editor)
    idles(s)
    s.message(s.editor, ANSWERS, received=True, position=position)
    s.wait(s.editor, "poll", frames=frames)


@scene
def window_manager_moves_a_window():
    """The server tells a third program of it, which does not read that. Before, the window manager has waited a few times for replies of
    the server; this is no other loop in which it was."""
    s = Loop(frames=HOME, begun=False)
    s.thread(s.editor, "manager")
    s.thread(SERVER, "server")
    s.thread(OWNER, "owner")
    s.wait(OWNER, "read", fd=7)
    idles(s)
    s.home()
    for position in range(1, 4):  # the third program has taken messages before
        s.for_ms(200)
        s.interrupt(SERVER)
        s.message(SERVER, FORWARDS, position=position)
        s.wake(SERVER, OWNER)
        idles(s)
        s.message(OWNER, FORWARDS, received=True, position=position)
        s.wait(OWNER, "read", fd=7)
        comes(s, position, 1, HOME)
    for position in range(4, 10):
        comes(s, position, 0.01, REPLIES)
    s.interrupt(SERVER)
    s.wake(SERVER, s.editor)
    idles(s)
    sends(s, 9)
    s.message(SERVER, FORWARDS, position=9)
    idles(s)
    s.home()
    comes(s, 10, 4000, HOME)
    s.goes_on(500)
    return s, [([], [])]


COMMAND, TYPED, DRAWN = 41, 80, 81


def starts_command(s):
    s.cpus[COMMAND] = len(s.cpus)
    s.key()
    s.raw(s.editor, "ui_event kind=11 probe=1 sp=0x7000")
    s.raw(s.editor, f"new_thread thread={COMMAND} pid={COMMAND} new_process=1 parent={s.editor}")
    s.raw(s.editor, 'name_new name="command"')
    s._record(s.cpus[COMMAND], 0, f"switch state=R next={COMMAND}")
    s.wait(COMMAND, "read", fd=7)
    waits(s)


def types(s, draws):
    """Keys that the editor takes, and for which it draws something or not."""
    for position in range(1, 4):
        s.for_ms(300)
        s.type()
        s.message(s.keyboard, TYPED, position=position)
        s.wake(s.keyboard, s.editor)
        s.rest()
        s.message(s.editor, TYPED, received=True, position=position)
        if draws:
            s.message(s.editor, DRAWN, position=position)
            s.wake(s.editor, SERVER)
            s.message(SERVER, DRAWN, received=True, position=position)
            idles(s)
        waits(s)


@scene
def handler_runs_a_command():
    """The toolkit's loop, called by a handler, until a command ends. If a key ends it, it is a dialog; and so it is if it draws."""
    scenes = []
    for draws, by_key in (False, False), (True, False), (False, True):
        s = Loop(frames=HOME)
        s.tables.append('probe 1 0 "Toolkit" shape ui')
        s.thread(SERVER, "server")
        idles(s)
        starts_command(s)
        types(s, draws)
        s.for_ms(2000)
        if by_key:
            s.key()
        else:
            s.interrupt(COMMAND)
            s.wake(COMMAND, s.editor, call="exit_group")
        for _ in range(3):
            s.home()
            s.key()
        s.end()
        scenes.append(s)
    return scenes, [([], [hang(type="LongWait")]), ([], []), ([], [])]
