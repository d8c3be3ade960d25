"""Waits for processes that the waiting program started."""
from scene import Scene
from scenes import rounds, scene


def command_with_a_tool(over):
    """The editor reads a pipe that its command has inherited. The command waits for its tool, which sleeps repeatedly for a short time."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "display")
    s.wait(20, "read")
    rounds(s, 4, 10, [20])
    s.thread(30, "command", parent=10)
    s.wait(10, "read", inode=77, mode="fifo")
    s.thread(40, "tool", parent=30)
    s.wait(30, "wait4", fd=40)
    for _ in range(30):
        s.sleep(40, 100)
    if over:
        s.wake(40, 30)
        s.exit(40)
        s.wake(30, 10)
        s.exit(30)
        s.sleep(10, 20)
    return s, "editor", {"type": "LongWait", "root": ("tool", "LongWait"), "cycle": set()}


@scene
def tool_of_a_command():
    return command_with_a_tool(True)


@scene
def tool_of_a_command_to_the_end():
    return command_with_a_tool(False)


@scene
def command_with_namesakes():
    """A command of the same name as an earlier one of the editor waits for a compiler, for another program. The editor's own sleeps."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "builder")
    s.thread(21, "sh", parent=20)
    s.thread(22, "compiler", parent=21)
    s.wait(20, "wait4", fd=21)
    s.wait(21, "wait4", fd=22)
    frames = [0x500000, 0x400000, 0x410000, 0x420000, 0x430000, 0x440000]
    for tid in 30, 31, 32:
        s.thread(tid, "sh", parent=10)
        s.wait(10, "read", inode=77, mode="fifo", frames=frames)
        s.for_ms(30)
        if tid == 32:
            break
        s.wake(tid, 10)
        s.exit(tid)
    s.thread(33, "tool", parent=32)
    s.wait(32, "wait4", fd=33)
    s.sleep(33, 3000)
    return s, "editor", {"type": "LongWait", "root": ("tool", "LongWait"), "path": ["editor", "sh", "tool"]}


@scene
def child_that_is_where_it_usually_is():
    """The shell's tool rests where it rested before it was awaited, and nobody asks it for anything. It is the one that does not end."""
    s = Scene()
    s.thread(10, "editor")
    for _ in range(5):
        s.sleep(10, 20)
    s.thread(30, "sh", parent=10)
    s.wait(10, "read", inode=77, mode="fifo")
    s.thread(40, "tool", parent=30)
    frames = [0x500000, 0x400000, 0x410000, 0x420000, 0x430000, 0x440000]
    for _ in range(6):
        s.wait(40, "poll", timeout=True, frames=frames)
        s.for_ms(20)
        s.timer(40)
    s.wait(40, "poll", frames=frames)
    s.wait(30, "wait4", fd=40)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("tool", "LongWait"), "path": ["editor", "sh", "tool"]}


@scene
def tool_that_waits_for_somebody_unknown():
    """The tool waits for neither the command nor the editor, which both wait for it: no circular wait."""
    s = Scene()
    s.thread(10, "editor")
    for _ in range(5):
        s.sleep(10, 20)
    s.thread(30, "command", parent=10)
    s.wait(10, "read", inode=77, mode="fifo")
    s.thread(40, "tool", parent=30)
    s.wait(30, "wait4", fd=40)
    s.wait(40, "read", inode=78, mode="fifo")
    s.for_ms(3000)
    s.thread(90, "idler")
    return s, "editor", {"type": "LongWait", "root": ("tool", "LongWait"), "path": ["editor", "command", "tool"], "cycle": set()}


@scene
def end_of_a_child_is_polled_for():
    """The editor polls every 10 ms whether its command has ended, and the command waits for a server: no data flag."""
    s = Scene()
    s.thread(10, "editor")
    s.thread(20, "server")
    s.wait(20, "read")
    for _ in range(5):
        s.sleep(10, 20)
    s.thread(30, "command", parent=10)
    s.wake(30, 20)
    s.wait(30, "read")
    s.wait(20, "clock_nanosleep", timeout=True)
    for _ in range(300):
        s.asks_for_a_child(10)
        s.wait(10, "select", timeout=True)
        s.for_ms(10)
        s.timer(10)
    s.timer(20)
    s.wake(20, 30)
    s.exit(30)
    s.wait(20, "read")
    s.wait(10, "read")
    return s, "editor", {"type": "RepeatedYield", "root": ("server", "LongWait"), "path": ["editor", "command", "server"]}


@scene
def command_that_polls_for_its_answer_in_pieces():
    """The command asks a server and polls for the answer, a second at a time. A thread that the server starts later takes the request and
    waits for a store, which sleeps."""
    s = Scene()
    s.thread(10, "editor")
    for _ in range(5):
        s.sleep(10, 20)
    s.thread(20, "server")
    s.thread(21, "store")
    s.wait(20, "clock_nanosleep", timeout=True)
    s.wait(21, "read")
    s.thread(30, "command", parent=10)
    s.wait(10, "wait4", fd=30)
    where = [0x400500, 0x400200, 0x400100]
    s.message(30, 0x70)
    s.wait(30, "poll", timeout=True, frames=where)
    s.for_ms(50)
    s.timer(20)
    s.thread(22, "worker", pid=20)
    s.wait(20, "clock_nanosleep", timeout=True)
    s.message(22, 0x70, received=True)
    s.wake(22, 21)
    s.wait(22, "read", fd=8)
    s.wait(21, "clock_nanosleep", timeout=True)
    for ms in (200, 1000, 1000, 1000, 1000, 1000, 1010):
        s.for_ms(ms)
        s.timer(30)
        s.wait(30, "poll", timeout=True, frames=where)
    s.for_ms(100)
    s.thread(90, "bystander")
    return s, "editor", {"type": "LongWait", "root": ("store", "LongWait"), "path": ["editor", "command", "server", "store"], "cycle": set()}
