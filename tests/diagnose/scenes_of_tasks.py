"""Threads of a language runtime: tasks that wait have no thread, and threads without a task wait on the scheduler's stack."""
from scene import Scene
from scenes import scene

PROGRAM, START = "/usr/bin/server", 0x400000


def function(s, place, name):
    """The address behind a call in the function."""
    s.tables.append(f"name path {PROGRAM} place {place - 1:#x} function {name} distance 15 line 1")
    return START + place


def handover():
    """Both threads of the scheduler wait; one polls for timers, and wakes the other one now and then, until a hang."""
    s = Scene()
    s.thread(10, "server")
    s.thread(11, "server", pid=10)
    s.tables.append(f"image pid 10 start {START:#x} end {START + 0x10000:#x} path {PROGRAM}")
    begins = [function(s, 0x1010, "runtime.park_m"), function(s, 0x1110, "runtime.mcall")]
    parked = [function(s, 0x1210, "runtime.stopm"), *begins]
    polls = [function(s, 0x1310, "runtime.netpoll"), *begins]
    for turns in (5, 5, 5, 300):
        s.wait(10, "futex", fd=0x587178, frames=parked)
        for _ in range(turns):
            s.wait(11, "epoll_wait", timeout=True, frames=polls)
            s.for_ms(10)
            s.timer(11)
        s.wake(11, 10, call="futex", result=0)
    return s


@scene
def tasks_that_wait_for_timers():
    """None of the scheduler's threads waits for another one, though they wake each other: there is no circle, and no culprit."""
    return handover(), "server", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}, "path": ["server"],
                                       "why": "no task could run, and the records do not show"}
