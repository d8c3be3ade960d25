"""Event loops that do not poll: they read a terminal, or wait for a thread that reads the events of their window. And what looks like a
hang of such programs, and of those that talk to them."""
from hang_scene import Loop, hang, scene
from hangs_of_starts import start_viewer

START = (0x401000, 0x402000)  # main and its caller
INPUT = (0x700000, 0x510000, 0x511000) + START
HANDLER = (0x700000, 0x520000, 0x521000, 0x522000) + START
WORKER, HELPER, READER, DISPLAY, SERVER = 2, 12, 31, 40, 50


def pager(kernel, call):
    """A program whose input is read from a device; the kernel's worker, or another program, ends its waits."""
    s = Loop(begun=False)
    s.thread(s.editor, "pager")
    s.thread(WORKER, "worker")
    if kernel:
        s.tables[-1] = s.tables[-1].replace(" name", " kernel name")
    s.thread(SERVER, "files", parent=s.editor if call == "wait4" else 1)
    s.pipe_message(WORKER, "sent", 1)
    s.pipe_message(SERVER, "received", 1)
    s.wait(WORKER, "read")
    s.wait(SERVER, "read")
    for _ in range(6):
        types(s)
    return s


def reads(s):
    s.wait(s.editor, "read", fd=0, inode=3, mode="device", frames=INPUT)


def types(s):
    """The pager waits for a key."""
    reads(s)
    s.for_ms(60)
    s.interrupt(WORKER)
    s.wake(WORKER, s.editor)
    s.wait(WORKER, "read")


def opens(s, call, group=False):
    """A handler waits for 3 s. `group`: for a command that it gave the terminal, by setpgid()."""
    if group:
        s.raw(s.editor, f"syscall_start nr=109 arg1={SERVER} arg2={SERVER}")
        s.raw(s.editor, "syscall_end nr=109 result=0")
    s.wait(s.editor, call, fd=SERVER if call == "wait4" else 7, inode=0 if call == "wait4" else 800, mode="file", frames=HANDLER)
    s.for_ms(3000)
    s.interrupt(SERVER)
    s.wake(SERVER, s.editor, call="exit_group" if call == "wait4" else "write")
    types(s)
    reads(s)
    s.for_ms(100)
    s.goes_on(10)


@scene
def program_in_a_terminal():
    """It does not look at its terminal for 3 s. A device that another program serves is no terminal. A shell is not frozen that gave its
    terminal to a command; a program that keeps it is."""
    scenes = []
    for kernel, call, group in (True, "read", False), (False, "read", False), (True, "wait4", True), (True, "wait4", False):
        s = pager(kernel, call)
        opens(s, call, group)
        scenes.append(s)
    return scenes, [([], [hang("pager", type="LongWait")]), ([], []), ([], []), ([], [hang("pager", type="LongWait")])]


@scene
def command_that_could_have_windows():
    """A pager waits for a command that has mapped a toolkit. If the command talks to a display server, its windows are what the user looks
    at. A group that the command makes (setpgid) has the terminal, but not if the command left it before (setsid)."""
    scenes = []
    for connects, calls in (False, ()), (True, ()), (False, (109,)), (False, (112, 109)):
        s = pager(True, "wait4")
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append(f"image pid {COMMAND} start 0x600000 end 0x700000 path /lib/toolkit.so")
        s.thread(DISPLAY, "display")
        s.wait(DISPLAY, "poll")
        reads(s)
        s.for_ms(60)
        s.interrupt(WORKER)
        s.wake(WORKER, s.editor)
        s.wait(WORKER, "read")
        s.cpus[COMMAND] = len(s.cpus)
        s.raw(s.editor, f"new_thread thread={COMMAND} pid={COMMAND} new_process=1 parent={s.editor}")
        s.raw(s.editor, 'name_new name="command"')
        s.wait(s.editor, "wait4", fd=COMMAND, frames=HANDLER)
        s._record(s.cpus[COMMAND], 0, f"switch state=R next={COMMAND}")
        for call in calls:
            s.raw(COMMAND, f"syscall_start nr={call}")
            s.raw(COMMAND, f"syscall_end nr={call} result=0")
        if connects:
            s.message(COMMAND, 77)
            s.wake(COMMAND, DISPLAY)
            s.message(DISPLAY, 77, received=True)
            s.wait(DISPLAY, "poll")
        s.wait(COMMAND, "clock_nanosleep", timeout=True)
        s.for_ms(3000)
        s.timer(COMMAND)
        s.wake(COMMAND, s.editor, call="exit_group")
        s.exit(COMMAND)
        types(s)
        reads(s)
        s.for_ms(100)
        if connects:
            s.raw(DISPLAY, "open_end inode=900 access=7 fd=4 mode=socket")
        s.goes_on(10)
        scenes.append(s)
    frozen = ([], [hang("pager", type="LongWait")])
    return scenes, [frozen, ([], []), ([], []), frozen]


@scene
def interpreter_that_reads_lines():
    """A line, typed before the first record, makes it wait for 3 s. If it does not come back to its terminal, the line may have been the
    answer to a question."""
    scenes = []
    for comes_back in True, False:
        s = Loop(begun=False)
        s.thread(WORKER, "worker")
        s.tables[-1] = s.tables[-1].replace(" name", " kernel name")
        s.thread(SERVER, "files")
        s.pipe_message(WORKER, "sent", 1)
        s.pipe_message(SERVER, "received", 1)
        s.wait(WORKER, "read")
        s.wait(SERVER, "read")
        s.tables.append(f'thread {s.editor} pid {s.editor} ppid 1 name "tool"')
        s.cpus[s.editor], s.calls[s.editor] = len(s.cpus), "read"
        s.interrupt(WORKER)
        s.wake(WORKER, s.editor)
        s.wait(WORKER, "read")
        s.wait(s.editor, "read", fd=7, inode=800, mode="file", frames=HANDLER)
        s.for_ms(3000)
        s.interrupt(SERVER)
        s.wake(SERVER, s.editor)
        if comes_back:
            reads(s)
        else:
            s.wait(s.editor, "read", fd=7, inode=800, mode="file", frames=HANDLER)
        s.goes_on(100)
        scenes.append(s)
    return scenes, [([], [hang("tool", type="LongWait")]), ([], [])]


COMMAND = 41
KEYS = (0x700000, 0x510000, 0x511000, 0x512000, 0x513000, 0x514000)  # the function that reads keys, with all that it calls
COMMANDS, PROMPT = (*KEYS, 0x520000, *START), (*KEYS, 0x530000, 0x531000, 0x520000, *START)
ANSWER = (0x700000, 0x510000, 0x540000, 0x541000, 0x542000, 0x543000, 0x530000, 0x531000, 0x520000, *START)


def presses(s):
    """The kernel's worker brings a key, for which the editor polls."""
    s.for_ms(60)
    s.interrupt(WORKER)
    s.raw(WORKER, f"make_runnable thread={s.editor} context=task")
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.raw(s.editor, "ready arg1=0 arg2=3 arg4=0x2000")
    s.raw(s.editor, f"syscall_end nr={s.calls.pop(s.editor)} result=1")
    s.wait(WORKER, "read")


def is_brought(s):
    """A thread of the editor reads the terminal, and wakes the editor for each key."""
    s.for_ms(60)
    s.interrupt(WORKER)
    s.wake(WORKER, HELPER)
    s.wait(WORKER, "read")
    s.wake(HELPER, s.editor)
    s.wait(HELPER, "read", fd=0, inode=3, mode="device")


@scene
def prompt_of_an_editor():
    """An editor in a terminal prompts for a key, which does not come, by the function that also reads its commands. If the function that
    waits in the same handler is another one, it waits for something else."""
    scenes = []
    for frames, key in (PROMPT, presses), (ANSWER, presses), (PROMPT, is_brought), (ANSWER, is_brought):
        s = pager(True, "read")
        if key == is_brought:
            s.thread(HELPER, "helper", pid=s.editor)
            s.wait(HELPER, "read", fd=0, inode=3, mode="device")
        for _ in range(6):
            s.wait(s.editor, "poll", fd=0, frames=COMMANDS)
            key(s)
        for ms in 1500, 2500:
            s.wait(s.editor, "poll", fd=0, frames=frames, timeout=True)
            s.for_ms(ms)
            s.timer(s.editor)
        s.wait(s.editor, "poll", fd=0, frames=COMMANDS)
        key(s)
        s.wait(s.editor, "poll", fd=0, frames=COMMANDS)
        s.goes_on(10)
        scenes.append(s)
    frozen = ([], [hang("pager", type="LongWait")])
    return scenes, [([], []), frozen, ([], []), frozen]


def key_of_a_helper(s, helper, position):
    """The same, with a message."""
    s.for_ms(60)
    s.interrupt(WORKER)
    s.wake(WORKER, helper)
    s.wait(WORKER, "read")
    s.message(helper, 80 + helper, position=position)
    s.wake(helper, s.editor)
    s.wait(helper, "read", fd=0, inode=3, mode="device")
    s.message(s.editor, 80 + helper, received=True, position=position)


@scene
def command_of_an_editor():
    """An editor runs a command, takes keys meanwhile in the function that also reads its commands, and answers none. Without a command, it is
    a prompt."""
    scenes = []
    for runs in True, False:
        s = pager(True, "read")
        for tid in HELPER, HELPER + 1:
            s.thread(tid, "helper", pid=s.editor)
            s.wait(tid, "read", fd=0, inode=3, mode="device")
        for position in range(1, 7):
            s.wait(s.editor, "poll", fd=0, frames=COMMANDS)
            key_of_a_helper(s, HELPER, position)
        if runs:
            s.cpus[COMMAND] = len(s.cpus)
            s.raw(s.editor, f"new_thread thread={COMMAND} pid={COMMAND} new_process=1 parent={s.editor}")
            s.raw(s.editor, 'name_new name="command"')
            s._record(s.cpus[COMMAND], 0, f"switch state=R next={COMMAND}")
            s.wait(COMMAND, "read", fd=7)
        for position in range(7, 9):
            s.wait(s.editor, "poll", fd=0, frames=PROMPT)
            key_of_a_helper(s, HELPER + 1, position)
        s.wait(s.editor, "poll", fd=0, frames=PROMPT)
        s.goes_on(3000)
        scenes.append(s)
    return scenes, [([], [hang("pager", type="LongWait", ongoing=True)]), ([], [])]


def rests(s, frames=INPUT):
    s.wait(30, "futex", fd=0x7000, condition=True, frames=frames)


def draws(s, position):
    """The queue's thread sends something to the display server."""
    s.raw(30, "syscall_start nr=write arg1=4")
    s.raw(30, f"message channel=77 bytes=8 kind=unix_stream flags=sent position={position}")
    s.raw(30, f"make_runnable thread={DISPLAY} context=task")
    s.raw(30, "syscall_end nr=write result=8")


def draws_only(s, position):
    """The reader takes the answer, if there is one."""
    draws(s, position)
    rests(s)
    s._comes_back(DISPLAY, 1)
    s.wait(DISPLAY, "poll")
    s.for_ms(1)
    s.wake(READER, 30, call="futex", result=0)
    s.wait(READER, "poll")


def asks_display(s, position):
    """The queue's thread asks the display server something."""
    draws(s, position)
    s.wait(30, "poll", fd=0x7100, frames=HANDLER + START)
    s._comes_back(DISPLAY, 1)
    s.wake(DISPLAY, 30)
    s.wait(DISPLAY, "poll")


def gets_event(s, position):
    """The display server sends an event, whose reader wakes the queue's thread."""
    s.for_ms(60)
    s.interrupt(DISPLAY)
    s.raw(DISPLAY, "syscall_start nr=write arg1=5")
    s.raw(DISPLAY, f"message channel=78 bytes=32 kind=unix_stream flags=sent position={position}")
    s.raw(DISPLAY, f"make_runnable thread={READER} context=task")
    s.raw(DISPLAY, "syscall_end nr=write result=32")
    s.wait(DISPLAY, "poll")
    s._comes_back(READER, 1)
    s.raw(READER, "syscall_start nr=read arg1=4")
    s.raw(READER, f"message channel=78 bytes=32 kind=unix_stream flags=received position={position}")
    s.raw(READER, "syscall_end nr=read result=32")


@scene
def queue_of_a_window():
    """A thread, not the main thread, that gets the events of a window from their reader, computes. It asks the display server, or only draws.
    A worker of the reader, which does not use the display itself, keeps no user waiting."""
    scenes = []
    for use_display in asks_display, draws_only, None:
        s = Loop(begun=False)
        s.thread(29, "swing")
        s.thread(30, "queue", pid=29)
        s.thread(READER, "reader", pid=29)
        s.thread(DISPLAY, "display")
        s.wait(29, "futex", fd=0x9000, condition=True)
        s.wait(READER, "poll")
        s.wait(DISPLAY, "poll")
        s.raw(DISPLAY, "open_end inode=900 access=7 fd=4 mode=socket")
        for position in range(6):
            rests(s)
            gets_event(s, position)
            s.wake(READER, 30, call="futex", result=0)
            s.wait(READER, "poll")
            if use_display:
                use_display(s, position)
        s.for_ms(3000)
        rests(s)
        s.goes_on(100)
        scenes.append(s)
    return scenes, [([], [hang("swing")]), ([], [hang("swing")]), ([], [])]


def read_by_viewer(s, ms):
    """The viewer reads a file that a server has."""
    s.wait(40, "read", fd=7, inode=800, mode="file")
    s.for_ms(ms)
    s.interrupt(SERVER)
    s.wake(SERVER, 40)
    s.wait(SERVER, "read")


def talks(s, turns):
    """The viewer asks the server, which answers; the answer leads to the next question."""
    for turn in range(turns):
        s.wake(40, SERVER)
        s.wait(40, "poll", frames=HANDLER)
        if turn == 0:
            stops(s)
        s.wake(SERVER, 40)
        s.wait(SERVER, "read", fd=8)


def stops(s):
    """The server is stopped for 3 s, before it answers."""
    s.raw(SERVER, "switch state=T next=0")
    s.for_ms(3000)
    s.type()
    s.signal(s.keyboard, SERVER)
    s.rest()
    s._record(s.cpus[SERVER], 0, f"switch state=R next={SERVER}")


def takes_keys(s, fd):
    """The viewer is in its loop."""
    for _ in range(5):
        s.wait(40, "poll", fd=fd, frames=INPUT)
        s.for_ms(50)
        s.type()
        s.wake(s.keyboard, 40)
        s.rest()


@scene
def start_with_a_conversation():
    """A program with windows logs in at a server while it starts, which takes 3 s. It waits at one place for all answers, but later it
    waits for input at another."""
    scenes = []
    for library in "/lib/toolkit.so", "/lib/other.so":
        s = Loop()
        s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
        s.tables.append(f"image pid 40 start 0x600000 end 0x700000 path {library}")
        s.thread(SERVER, "server")
        s.wait(SERVER, "read", fd=8)
        start_viewer(s)
        talks(s, 4)
        takes_keys(s, fd=9)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait")]), ([], [])]


CALL = (0x700000, 0x530000, 0x531000, 0x532000) + START


@scene
def start_with_a_conversation_in_callbacks():
    """The same, but the loop inside the start calls a function that asks the next question, at another place than before, and the last
    answer takes 3 s."""
    scenes = []
    for answered, library in (True, "/lib/toolkit.so"), (True, "/lib/other.so"), (False, "/lib/toolkit.so"):
        s = Loop()
        s.tables += ['probe 1 0 "Toolkit" shape ui library /lib/toolkit.so', 'probe 2 0 "Toolkit" shape begin']
        s.tables.append(f"image pid 40 start 0x600000 end 0x700000 path {library}")
        s.thread(SERVER, "server")
        s.wait(SERVER, "read", fd=8)
        start_viewer(s)
        for turn in range(4):
            s.raw(40, "callback_start key=0x100 function=0x402000 probe=2 sp=0x7000")
            s.wake(40, SERVER)
            s.raw(40, "callback_end key=0x100 probe=2 sp=0x7000")
            s.wait(40, "poll", fd=9 + turn // 2, frames=CALL if turn > 1 else HANDLER)
            if turn == 3:
                stops(s)
            if answered or turn < 3:
                s.wake(SERVER, 40)
                s.wait(SERVER, "read", fd=8)
        if answered:
            takes_keys(s, fd=12)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait")]), ([], []), ([], [hang("viewer", type="LongWait", ongoing=True)])]


@scene
def start_with_an_unknown_toolkit():
    """A program that waits for 3 s while it starts. The events of its window, which it reads later, show that a user waits for it. Most of
    what a tool reads from the display server is no event of a window."""
    scenes = []
    for kind in 11, 0:
        s = Loop()
        s.tables.append('probe 1 0 "X11" shape read')
        s.sends(1)
        s.takes(1)
        s.home()
        s.thread(SERVER, "files")
        s.wait(SERVER, "read")
        start_viewer(s)
        read_by_viewer(s, 3000)
        s.raw(40, f"ui_event kind={kind} probe=1")
        s.wait(40, "poll", fd=9)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang("viewer", type="LongWait")]), ([], [])]


@scene
def window_of_a_terminal():
    """A program that shows what two shells write: it tells them each key, and most of its waits end with an echo."""
    s = Loop(turns=0, frames=INPUT)
    for shell in 30, 31:
        s.thread(shell, "shell", parent=s.editor)
        s.wait(shell, "read")
    s.sends(1)
    s.key()
    s.takes(1)
    for _ in range(3):  # while it starts
        s.wait(s.editor, "poll", fd=6, frames=HANDLER)
        s.key()
    s.home()
    for _ in range(12):
        s.key(400)
        for shell in 30, 31:
            s.wake(s.editor, shell)
            s.home()
            s.for_ms(1)
            s.wake(shell, s.editor)
            s.wait(shell, "read")
        s.home()
    s.for_ms(3000)
    s.goes_on(10)
    return s, [([], [])]


def pauses(s, fd, ms, frames):
    s.wait(60, "epoll_wait", fd=fd, timeout=True, frames=frames)
    s.for_ms(ms)
    s.timer(60)


@scene
def service_that_pauses():
    """A service works five times a second, and then pauses for 10 s at another place."""
    s = Loop()
    s.sends(1)
    s.takes(1)
    s.home()
    s.thread(60, "service")
    for _ in range(8):
        pauses(s, 5, 200, INPUT)
    pauses(s, 5, 10000, HANDLER)
    for _ in range(3):
        pauses(s, 5, 200, INPUT)
    s.end()
    return s, [([], [])]
