"""Programs that are slow, wait or get no CPU while they start."""
from hang_scene import Loop, hang, scene
from hangs_in_handlers import inside
from hangs_unnoticed import loop_that_is_told
from scene import Scene


def start_viewer(s, name="viewer"):
    """The editor's desktop starts another program, with thread 40."""
    s.cpus[40] = len(s.cpus)
    s.type()
    s.raw(s.keyboard, "new_thread thread=40 pid=40 new_process=1 parent=20")
    s.raw(s.keyboard, f'name_new name="{name}"')
    s.rest()
    s._record(s.cpus[40], 0, "switch state=R next=40")
    s._record(s.cpus[40], 40, "exec pid=40")
    s._record(s.cpus[40], 40, f'name_exec name="{name}"')


def take_sent(s, position):
    s.raw(40, "syscall_start nr=read arg1=7")
    s.pipe_message(40, "received", position)
    s.raw(40, "syscall_end nr=read result=8")


@scene
def slow_start():
    """A program that reaches its loop 3 s after its start, with a message already sent to it."""
    scenes = []
    for sends in False, True:
        s = Loop()
        loop_that_is_told(s)
        start_viewer(s)
        if sends:
            s.sends(200)
        s.for_ms(3000)
        for turn in range(5):
            s.wait(40, "poll", fd=7)
            s.for_ms(50)
            s.type()
            s.wake(s.keyboard, 40)
            s.rest()
            if turn == 0 and sends:
                take_sent(s, 200)
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang("viewer")])]


@scene
def slow_start_and_then_idle():
    """The same, but then it gets no input and polls only once. The UI events that it dispatches show that this is its loop."""
    scenes = []
    for windows in False, True:
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui')
        loop_that_is_told(s)
        start_viewer(s)
        s.sends(200)
        s.for_ms(3000)
        take_sent(s, 200)
        if windows:
            s.raw(40, "ui_event kind=11 probe=1 sp=0x7000")
        s.wait(40, "poll", fd=7)
        s.for_ms(500)
        s.type()
        s.wake(s.keyboard, 40)
        s.rest()
        s.end()
        scenes.append(s)
    return scenes, [([], []), ([], [hang("viewer")])]


@scene
def start_without_a_cpu():
    """A program with windows gets no cpu while it starts, and in the first turns of its loop: that is one hang. A program that never connects
    to a display server has no windows, whatever it has mapped; one that computes while it starts is no hang."""
    scenes = []
    for library, connects, starves in ("/lib/toolkit.so", True, True), ("/lib/other.so", True, True), ("/lib/toolkit.so", False, True), \
            ("/lib/other.so", False, True), ("/lib/toolkit.so", True, False):
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append(f"image pid 40 start 0x600000 end 0x700000 path {library}")
        loop_that_is_told(s)
        start_viewer(s)
        for ms in 2500, 600, 5:
            if starves:
                s._record(s.cpus[40], 40, "switch state=R next=0")
                s.for_ms(ms)
                s._record(s.cpus[40], 0, "switch state=R next=40")
            s.for_ms(ms / 2)
            s.wait(40, "poll", fd=7)
            s.for_ms(1)
            s.type()
            s.wake(s.keyboard, 40)
            s.rest()
        if connects:
            s.raw(s.keyboard, "open_end inode=900 access=7 fd=4 mode=socket")
        s.end()
        scenes.append(s)
    starved = ([], [hang("viewer", nature="waits for a cpu", duration_ns=4651021000, runnable_ns=3100004666)])
    return scenes, [starved, starved, ([], []), ([], []), ([], [])]


@scene
def window_that_does_not_come():
    """A program with windows waits while it starts, and the trace ends. It has mapped a toolkit. A command line tool that waits so long
    is no hang, nor is a program that waits for its child."""
    scenes = []
    for library, call in ("/lib/toolkit.so", "read"), ("/lib/other.so", "read"), ("/lib/toolkit.so", "wait4"):
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append(f"image pid 40 start 0x600000 end 0x700000 path {library}")
        loop_that_is_told(s)
        start_viewer(s)
        s.for_ms(100)
        s.wait(40, call, fd=7)
        s.goes_on(3000)
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait", ongoing=True)]), ([], []), ([], [])]


def display_goes_on(s, position):
    """The display server sends the message of that number, or None, and the trace goes on for 3 s."""
    s.for_ms(500)
    if position:
        s.message(70, 55, position=position)
    s.wait(70, "read")
    s.goes_on(3000)
    s._record(s.cpus[90], 70, "open_end inode=900 access=7 fd=4 mode=socket")


@scene
def windows_come_late():
    """A program that got something from the display server waits in a poll while it starts. It rests, unless it leaves unread there what the
    server sends."""
    scenes = []
    for leaves in True, False:
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append("image pid 40 start 0x600000 end 0x700000 path /lib/toolkit.so")
        loop_that_is_told(s)
        start_viewer(s)
        s.thread(70, "display")
        for position in 1, 2:
            s.wait(40, "poll", fd=0x7000 + position)
            s.for_ms(1)
            s.message(70, 55, position=position)
            s.wake(70, 40)
            s.message(40, 55, received=True, position=position)
        s.wait(40, "poll", fd=0x7100, frames=inside(0x40a000, 0x409000))
        display_goes_on(s, 3 if leaves else None)
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait", ongoing=True)]), ([], [])]


@scene
def viewer_that_waits_at_the_end():
    """It took one key before, which is too little to know its loop, and waits for a file when the trace ends. It counts if the display server
    has sent it something since; if it polls, it would have taken that."""
    scenes = []
    for sends, call in (True, "read"), (False, "read"), (True, "poll"):
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        loop_that_is_told(s)
        s.thread(40, "viewer")
        s.thread(70, "display")
        s.wait(40, "poll", fd=0x7000)
        s.for_ms(20)
        s.message(70, 55, position=1)
        s.wake(70, 40)
        s.message(40, 55, received=True, position=1)
        s.raw(40, "ui_event kind=1 probe=1 sp=0x7000")
        s.wait(40, call, fd=7, inode=800 if call == "read" else 0, mode="file")
        display_goes_on(s, 2 if sends else None)
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait", ongoing=True)]), ([], []), ([], [])]


def frozen_before(path="/lib/toolkit.so", after_ms=3000, sends=True, owner=40):
    """A viewer that waits from before the first record to the end. The display server may send it something."""
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
    s.tables.append(f"image pid 40 start 0x600000 end 0x700000 path {path}")
    s.tables.append('thread 40 pid 40 ppid 1 name "viewer"')
    loop_that_is_told(s)
    s.thread(70, "display")
    s.for_ms(200)
    if sends:
        s.message(70, 55, position=900)
    s.goes_on(after_ms)
    s._record(s.cpus[90], owner, "open_end inode=55 access=3 fd=3 mode=socket")
    s._record(s.cpus[90], 40, "open_end inode=77 access=1 fd=7 mode=fifo")
    s._record(s.cpus[90], 40, "waiting call=0x100000000 arg1=7")
    return s


@scene
def viewer_froze_before():
    """It counts if something sent to it stays unread for a while. A tool without windows, and a socket that several processes have, do not
    show a freeze."""
    shared = frozen_before()
    shared._record(shared.cpus[90], 70, "open_end inode=55 access=3 fd=9 mode=socket")
    frozen = hang("viewer", type="LongWait", ongoing=True, indicators=["did not run, and left messages unread"])
    return [frozen_before(), frozen_before(sends=False), frozen_before(path="/lib/other.so"), frozen_before(after_ms=1500), shared], \
        [([], [frozen])] + [([], [])] * 4


@scene
def tool_and_another_that_never_ran():
    """Two processes have the wanted name. One was busy, the other waited all the time, perhaps for nothing."""
    scenes = []
    for busy in True, False:
        s = Scene()
        s.tables.append('thread 40 pid 40 ppid 1 name "tool"')
        s.thread(10, "tool" if busy else "other")
        s.at(2800)
        s.wait(10, "read")
        s.at(3000)
        s.thread(90, "bystander")
        s._record(s.cpus[90], 40, "waiting call=0x100000000 arg1=7")
        scenes.append(s)
    longest = ["longest stretch"]
    return scenes, [(["--process=tool"], [hang("tool", type="LongRunning", indicators=longest)]),
                    (["--process=tool"], [hang("tool", type="LongWait", indicators=longest, ongoing=True)])]


@scene
def editor_is_started_again():
    """While it is frozen. The second process hands its file to the first, and waits: one freeze. Another program is a freeze of its own."""
    scenes = []
    for name in "editor", "viewer":
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append("image pid 40 start 0x600000 end 0x700000 path /lib/toolkit.so")
        loop_that_is_told(s)
        s.key()
        s.raw(s.editor, "ui_event kind=1 probe=1 sp=0x7000")
        s.wait(s.editor, "read", fd=8)
        s.for_ms(20)
        start_viewer(s, name)
        s.for_ms(20)
        s.wait(40, "read", fd=7)
        s.goes_on(3000)
        scenes.append(s)
    mine = hang(type="LongWait", ongoing=True)
    return scenes, [([], [mine]), ([], [mine, hang("viewer", type="LongWait", ongoing=True)])]
