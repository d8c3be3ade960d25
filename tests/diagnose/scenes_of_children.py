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
