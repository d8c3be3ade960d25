"""Threads that wait for each other."""
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
