"""Threads of a language runtime: tasks that wait have no thread, and threads without a task wait on the scheduler's stack."""
from scene import Scene
from scenes import scene

PROGRAM, START = "/usr/bin/server", 0x400000


def function(s, place, name):
    """The address behind a call in the function."""
    s.tables.append(f"name path {PROGRAM} place {place - 1:#x} function {name} distance 15 line 1")
    return START + place


def scheduler():
    """A program with two threads, and the stacks of those without a task: parked, waiting for timers or input, and waiting
    for the task that only this thread may run."""
    s = Scene()
    s.thread(10, "server")
    s.thread(11, "server", pid=10)
    s.tables.append(f"image pid 10 start {START:#x} end {START + 0x10000:#x} path {PROGRAM}")
    begins = [function(s, 0x1010, "runtime.park_m"), function(s, 0x1110, "runtime.mcall")]
    parked = [START + 0x1010, function(s, 0x1210, "runtime.stopm"), *begins]
    polls = [function(s, 0x1310, "runtime.netpoll"), *begins]
    locked = [START + 0x1010, function(s, 0x1410, "runtime.stoplockedm"), *begins]
    return s, parked, polls, locked


def hand_over(s, waits, polls):
    """Thread 10 waits; thread 11 polls for timers, and wakes it now and then, until a hang."""
    for turns in (5, 5, 5, 300):
        s.wait(10, "futex", fd=0x587178, frames=waits)
        for _ in range(turns):
            s.wait(11, "epoll_wait", timeout=True, frames=polls)
            s.for_ms(10)
            s.timer(11)
        s.wake(11, 10, call="futex", result=0)
    return s


EXPECTED = {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}, "path": ["server"]}


@scene
def tasks_that_wait_for_timers():
    """None of the scheduler's threads waits for another one, though they wake each other: there is no circle, and no culprit."""
    s, parked, polls, _ = scheduler()
    return hand_over(s, parked, polls), "server", {**EXPECTED, "why": "no task could run, and the records do not show"}


@scene
def a_task_runs_elsewhere():
    """The same while another thread of the program computes: some task could run."""
    s, parked, polls, _ = scheduler()
    s.thread(12, "server", pid=10)
    return hand_over(s, parked, polls), "server", {**EXPECTED, "why": "this thread had no task to run, and the records do not show"}


@scene
def a_task_reads_elsewhere():
    """The same while a task of another thread waits in a system call for something that does not come."""
    s, parked, polls, _ = scheduler()
    s.thread(12, "server", pid=10)
    s.wait(12, "read", frames=[function(s, 0x1510, "syscall.read"), function(s, 0x1610, "runtime.goexit")])
    return hand_over(s, parked, polls), "server", {**EXPECTED, "why": "this thread had no task to run, and the records do not show"}


@scene
def a_task_of_one_thread_only():
    """The hung thread waits for the task that only it may run. The others tell nothing of that, but it has a task."""
    s, _, polls, locked = scheduler()
    return hand_over(s, locked, polls), "server", {**EXPECTED, "why": "only one task may run on this thread, and the records do not show"}


@scene
def tasks_of_which_one_asked_a_process():
    """The path leads to a program that waits for one of two, which Argus has to ask about: that is no scheduler's thread."""
    s, parked, polls, _ = scheduler()
    for tid, name in ((20, "client"), (21, "alpha"), (22, "beta")):
        s.thread(tid, name)
    for tid in (21, 22, 20):
        s.wait(tid, "read")
    for server in (21, 22, 21, 22, None):
        s.wait(10, "futex", fd=0x587178, frames=parked)
        s.wake(11, 20)
        s.wait(11, "epoll_wait", frames=polls)
        if server:
            s.wake(20, server)
            s.wait(20, "poll", timeout=True)
            s.for_ms(5)
            s.wake(server, 20)
            s.wait(server, "read")
        else:
            for busy in (21, 22):
                s.wake(20, busy)
            s.send(20)
            s.wait(20, "poll", timeout=True)
            s.for_ms(4000)
            s.timer(20)
        s.wake(20, 11)
        s.wait(20, "read")
        s.wake(11, 10, call="futex", result=0)
    return s, "server", {"type": "LongWait", "root": ("beta", "LongRunning"), "answers": {("1",): "beta", ("2",): "alpha"}}


@scene
def tasks_that_wait_for_a_process():
    """What the scheduler's threads waited for came late from another program, which was busy."""
    s, parked, polls, _ = scheduler()
    s.thread(20, "backend")
    s.wait(20, "read")
    for busy_ms in (5, 5, 5, 3000):
        s.wait(10, "futex", fd=0x587178, frames=parked)
        s.wake(11, 20)
        s.wait(11, "epoll_wait", frames=polls)
        s.for_ms(busy_ms)
        s.wake(20, 11)
        s.wait(20, "read")
        s.wake(11, 10, call="futex", result=0)
    return s, "server", {"type": "LongWait", "root": ("backend", "LongRunning"), "only": {"backend"}}
