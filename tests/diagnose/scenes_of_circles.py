"""Threads that wait for each other."""
from hang_scene import Loop
from hangs_in_handlers import AT_HOME, inside
from scene import Scene
from scenes import chain, rounds, scene


def circle(timeout):
    s = Scene()
    a, b = chain(s, "ask", "serve")
    rounds(s, 5, a, [b])
    for _ in range(3):  # in the handler, the server asks back
        s.for_ms(10)
        s.wake(a, b)
        s.wait(a, "read")
        s.wake(b, a)
        s.wait(b, "recvfrom")
        s.wake(a, b)
        s.wait(a, "read")
        s.wake(b, a)
        s.wait(b, "read")
    s.wake(a, b)
    s.wait(a, "recvfrom", timeout=timeout)
    s.send(b)
    s.wait(b, "recvfrom")
    s.for_ms(4000)
    if timeout:
        s.timer(a)
        s.for_ms(1)
        s.wake(a, b)
        s.wait(b, "read")
    else:
        s.thread(90, "idler")
    return s, "ask", {"type": "LongWait", "root": ("ask", "LongWait"), "cycle": {"ask", "serve"}}


@scene
def circle_with_timeout():
    return circle(True)


@scene
def circle_for_ever():
    return circle(False)


@scene
def circle_seen_from_the_other():
    s, _, expected = circle(True)
    return s, "serve", dict(expected, root=("serve", "LongWait"))


@scene
def circle_of_three_at_first_contact():
    """The third server asks the first one on a socket from which no receive is recorded; it uses another socket for the second one."""
    s = Scene()
    a, b, c = chain(s, "ask", "serve", "store")
    rounds(s, 4, a, [b, c])
    s.wake(a, b)
    s.wait(a, "read")
    s.wake(b, c)
    s.wait(b, "read")
    s.message(c, channel=77)
    s.wait(c, "recvfrom", timeout=True)
    s.for_ms(4000)
    s.timer(c)
    s.wake(c, b)
    s.wait(c, "read")
    s.wake(b, a)
    s.wait(b, "read")
    s.sleep(a, 20)
    return s, "ask", {"type": "LongWait", "root": ("ask", "LongWait"), "cycle": {"ask", "serve", "store"}}


# The places of waits: a worker's wait for work, and a client's wait for what it asked of a worker.
FOR_WORK, FOR_RESULT = (0x403000, 0x402000, 0x401000), (0x406000, 0x405000, 0x401000)


def begin_pools():
    """An app with a worker, and a service whose main thread and worker wait for work at the same place in the program."""
    s = Scene()
    s.thread(10, "app")
    s.thread(20, "service")
    s.thread(21, "pool", pid=20)
    for tid, condition in (20, 0x7000), (21, 0x8000):
        s.wait(tid, "futex", fd=condition, frames=FOR_WORK, condition=True)
    return s


@scene
def idle_threads_are_no_circle():
    """The service's worker answered the app before, and waits for work since. Its main thread never got any. The app waits for something
    of which nobody knows: none of the three waits for another one."""
    s = begin_pools()
    for _ in range(2):
        s.at(s.now / 1e6 + 50)
        s.wake(10, 21, call="futex")
        s.wait(10, "futex", fd=0x9000, frames=FOR_RESULT, condition=True)
        s.at(s.now / 1e6 + 1)
        s.wake(21, 10, call="futex")
        s.wait(21, "futex", fd=0x8000, frames=FOR_WORK, condition=True)
        s.sleep(10, 20)
    s.wait(10, "futex", fd=0x9000, frames=FOR_RESULT, condition=True)
    s.at(s.now / 1e6 + 4000)
    s.thread(90, "idler")
    return s, "app", {"type": "LongWait", "root": ("app", "LongWait"), "only": {"app"}, "path": ["app"]}


PAGE, MESSENGER, BROWSER, TYPIST = 10, 11, 20, 30
NESTED = inside(0x40a000, 0x409000)


def browser_rests(s, others=()):
    s.wait(BROWSER, "poll", frames=AT_HOME)
    s.for_ms(30)
    for other in others:
        other()
    s.interrupt(TYPIST)
    s.wake(TYPIST, BROWSER)
    s.wait(TYPIST, "read")


@scene
def page_asks_a_browser_that_waits_in_turns():
    """The browser answers the page's messenger after it has waited in a handler, half a second at a time. The messenger waits for whatever may
    come, and not for the page, which had used it last."""
    s = Loop(begun=False)
    for tid, name, pid in ((PAGE, "page", PAGE), (MESSENGER, "messenger", PAGE), (BROWSER, "browser", None), (TYPIST, "typist", None)):
        s.thread(tid, name, pid)
    s.wait(TYPIST, "read")
    for _ in range(5):
        s.wait(MESSENGER, "epoll_wait")
        browser_rests(s, [lambda: s.wake(PAGE, MESSENGER)])
    s.wait(MESSENGER, "epoll_wait")
    s.wait(PAGE, "read", fd=3)
    s.for_ms(10)
    s.wake(BROWSER, MESSENGER)
    s.wake(MESSENGER, PAGE)
    s.wait(MESSENGER, "epoll_wait")
    s.wait(PAGE, "futex", condition=True)
    for _ in range(5):
        s.wait(BROWSER, "poll", fd=0x7000, frames=NESTED, timeout=True)
        s.for_ms(600)
        s.timer(BROWSER)
    s.wake(BROWSER, MESSENGER)
    s.wake(MESSENGER, PAGE, call="futex")
    s.wait(MESSENGER, "epoll_wait")
    for _ in range(3):
        browser_rests(s)
        s.sleep(PAGE, 20)
    return s, "page", {"type": "LongWait", "root": ("browser", "LongWait"), "only": {"browser"}}
