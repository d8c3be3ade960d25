"""Event loops that did not return to their wait, and event loops that did."""
from hang_scene import Loop, hang, scene
from scene import Scene


@scene
def busy_handler():
    s = Loop()
    s.key()
    start = s.now
    s.for_ms(3000)
    s.end()
    found = hang(indicators=["event loop did not come back"], fault_count=0, stopped_ns=0, ongoing=False)
    return s, [([], [found]), (["--threshold=2s"], [found]), (["--threshold=250ms"], [found]),
               (["--threshold=3100ms"], []), (["--process=editor"], [found]), (["--pid=10"], [found]),
               (["--thread=editor"], [found]), (["--thread=10"], [found]), (["--tid=10"], [found]),
               (["--thread=keyboard"], [hang("keyboard", "LongWait", indicators=["longest stretch"])]),
               ([f"--time=+{start // 1000000 + 1500}ms"], [found]),
               (["--time=00:00:02"], [found])]


@scene
def idle():
    """Ten seconds in its own poll with nothing to do."""
    s = Loop()
    s.key(10000)
    s.end()
    return s, [([], []), (["--process=editor"], []), (["--tid=10", "--idle"], [hang(type="LongWait", nature="idle", awaited=True)])]


@scene
def idle_until_an_answer():
    """The same, but a reply to the editor's own request ends the wait. The poll would have handled any other input, too."""
    s = Loop()
    s.thread(30, "helper")
    s.wait(30, "read")
    s.key()
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll")
    s.for_ms(10000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.end()
    return s, [([], [])]


@scene
def asked_and_did_not_look():
    """The same, but the keyboard had sent something meanwhile, and the editor did not read it: the poll was only for the reply."""
    s = Loop()
    s.thread(30, "helper")
    s.wait(30, "read")
    s.key()
    s.wake(s.editor, 30)
    s.wait(s.editor, "poll")
    s.for_ms(1000)
    s.type()
    s.raw(s.keyboard, "syscall_start nr=write arg1=6")
    s.pipe_message(s.keyboard, "sent", 1)
    s.raw(s.keyboard, "syscall_end nr=write result=8")
    s.rest()
    s.for_ms(2000)
    s.wake(30, s.editor)
    s.wait(30, "read")
    s.raw(s.editor, "syscall_start nr=read arg1=5")
    s.pipe_message(s.editor, "received", 1)
    s.raw(s.editor, "syscall_end nr=read result=8")
    s.end()
    pending = [("set off", "keyboard", False), ("message", "keyboard", False)]
    return s, [([], [hang(type="LongWait", pending=pending)])]


@scene
def never_taken():
    s = Loop()
    for position in 1, 2:
        s.key()
        s.type()
        s.raw(s.keyboard, "syscall_start nr=write arg1=6")
        s.pipe_message(s.keyboard, "sent", position)
        s.raw(s.keyboard, "syscall_end nr=write result=8")
        s.rest()
        if position == 1:
            s.raw(s.editor, "syscall_start nr=read arg1=5")
            s.pipe_message(s.editor, "received", position)
            s.raw(s.editor, "syscall_end nr=read result=8")
            s.wait(s.editor, "poll")
    s.wait(s.editor, "futex", fd=0x7000)
    s.for_ms(4000)
    s.type()
    pending = [("set off", "keyboard", False), ("message", "keyboard", True)]
    return s, [([], [hang(type="LongWait", ongoing=True, pending=pending)])]


@scene
def always_something_to_do():
    """Its polls return at once for 6 s, so it returns to its poll all the time."""
    s = Loop()
    s.key()
    for _ in range(60):
        s.for_ms(100)
        s.visit()
    s.end()
    return s, [([], []), (["--threshold=90ms"], [hang()] * 2)]


@scene
def away_between_visits():
    """The same, but once it is away for 3 s, and then finds a timer and a socket ready."""
    s = Loop()
    s.key()
    for turn in range(40):
        s.for_ms(3000 if turn == 20 else 100)
        s.raw(s.editor, "syscall_start nr=poll arg1=5 arg2=1")
        if turn == 20:
            s.raw(s.editor, "ready arg1=7 arg2=99 arg4=0x6672656d69740000")
        s.raw(s.editor, "syscall_end nr=poll result=1")
    s.end()
    return s, [([], [hang(pending=[("ready", None, False)])])]


def window_and_service(pending):
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    s.thread(30, "service")
    for _ in range(5):
        s.wait(30, "poll")
        s.for_ms(50)
        s.type()
        s.wake(s.keyboard, 30)
        s.rest()
    s.key()
    s.raw(s.editor, "ui_event kind=1 probe=1 sp=0x7000")
    s.for_ms(100)
    if pending:
        s.sends(1)
    s.for_ms(3000)
    if pending:
        s.takes(1)
    s.home()
    s.key(500)
    s.home()
    s.for_ms(2000)
    s.wait(30, "poll")
    s.end()
    return s


@scene
def window_comes_first():
    """A service is away for longer than the editor. The editor still ranks first, with or without pending input, because it has a
    window."""
    return [window_and_service(True), window_and_service(False)], [([], [hang(), hang("service")])] * 2


@scene
def window_that_hangs_twice():
    """Something is pending in the shorter hang only. A key set off a longer one, which comes first; the longest, which no key
    set off, comes last."""
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    for seconds, pending, key in (3, True, True), (6, False, True), (9, False, False):
        s.key()
        if key:
            s.raw(s.editor, "ui_event kind=1 probe=1 sp=0x7000")
        s.for_ms(500)
        if pending:
            s.sends(1)
            s.rest()
        s.for_ms(1000 * seconds - 500)
        if pending:
            s.raw(s.editor, "syscall_start nr=read arg1=6")
            s.pipe_message(s.editor, "received", 1)
            s.raw(s.editor, "syscall_end nr=read result=8")
        s.home()
    s.end()
    return s, [([], [hang(lasts_s=6), hang(lasts_s=3), hang(lasts_s=9)])]


@scene
def window_before_its_stopped_server():
    """The service does not take the editor's request, which is pending; nothing is pending for the editor, whose wait for the reply began
    later."""
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    s.thread(30, "service")
    for position in range(1, 6):
        s.wait(30, "poll")
        s.key()
        s.message(s.editor, 77, position=position)
        s.wake(s.editor, 30)
        s.message(30, 77, received=True, position=position)
        s.home()
    s.for_ms(50)
    s.key()
    s.raw(s.editor, "ui_event kind=1 probe=1 sp=0x7000")
    s.message(s.editor, 77, position=6)
    s.wait(s.editor, "recvfrom", fd=6)
    s.goes_on(4000)
    return s, [([], [hang(type="LongWait", ongoing=True), hang("service", ongoing=True)])]


@scene
def own_timer():
    """Work that a thread does by its own timer, without any waiter, ranks after work for which a process waited."""
    s = Loop()
    s.thread(30, "housekeeper")
    for _ in range(5):
        s.wait(30, "poll", timeout=True)
        s.for_ms(50)
        s.timer(30)
    s.for_ms(5000)
    s.wait(30, "poll", timeout=True)
    s.key()
    s.for_ms(3000)
    s.end()
    return s, [([], [hang(), hang("housekeeper", awaited=False)])]


@scene
def stopped():
    s = Loop()
    s.key()
    s.raw(s.editor, "switch state=T next=0")
    s.for_ms(3000)
    s.type()
    s.signal(s.keyboard, s.editor)
    s.rest()
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.end()
    return s, [([], [hang(type="LongWait", nature="stopped")])]


@scene
def no_cpu():
    """Preempted for 2.5 s of 3."""
    s = Loop()
    s.thread(30, "hog")
    s.key()
    s.for_ms(500)
    s.raw(s.editor, "switch state=R next=0")
    s.for_ms(2500)
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.end()
    return s, [([], [hang(nature="waits for a cpu")])]


def starve(s, ms):
    """Another thread uses the editor's CPU."""
    s.raw(s.editor, "switch state=R next=0")
    s.for_ms(ms)
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")


def starved_turns(s, between):
    """Two stretches without a cpu, each too short for a hang."""
    s.key()
    starve(s, 1300)
    between(s)
    starve(s, 1300)
    s.end()
    return s


@scene
def starved_across_turns():
    """The loop turns for a millisecond in between, with input pending: the window stays frozen."""
    def turns(s):
        for _ in range(3):
            s.visit()
            s.for_ms(.3)
    return starved_turns(Loop(), turns), [([], [hang(nature="waits for a cpu")])]


@scene
def starved_twice():
    """The loop has handled all input in between, and waited for more."""
    def rest(s):
        s.home()
        s.key(100)
    return starved_turns(Loop(), rest), [([], [])]


@scene
def page_in_storm():
    """30 page faults of 100 ms each, outside of any system call."""
    s = Loop()
    s.key()
    fault(s, 30, 100)
    s.end()
    return s, [([], [hang(type="LongWait", nature="page-in storm", fault_count=30)])]


def fault(s, times, ms):
    for _ in range(times):
        s.raw(s.editor, "switch state=D next=0")
        s.for_ms(ms)
        s.device(s.editor)
        s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")


@scene
def few_page_faults():
    """A decoy: many faults, but most of the time the editor computes."""
    s = Loop()
    s.key()
    fault(s, 30, 20)
    s.for_ms(3000)
    s.end()
    return s, [([], [hang(nature=None, fault_count=30)])]


@scene
def one_slow_page():
    s = Loop()
    s.key()
    fault(s, 1, 3000)
    s.end()
    return s, [([], [hang(type="LongWait", nature="waits for a disk", fault_count=1)])]


def suspended(before_ms, frozen_ms):
    s = Loop()
    s.key()
    s.for_ms(before_ms)
    s.raw(s.editor, "switch state=D next=0")
    s.for_ms(frozen_ms)
    s.device(s.editor)
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s._record(s.cpus[s.keyboard], 0, f"record id=0x60040004 arg1=3600000000000 arg2={s.now}")
    s.for_ms(50)
    s.end()
    return s


@scene
def machine_asleep():
    """Two seconds and a half, of which the machine was frozen for two: no hang."""
    return suspended(450, 2000), [([], [])]


@scene
def asleep_in_a_hang():
    return suspended(2500, 1500), [([], [hang(suspended_ns=3600000000000)])]


def pinged(answers, window=0x400001):
    """A viewer that only reads, no event loop; a window manager pings it, and it answers but for the last 3 s."""
    s = Scene()
    s.tables.append('probe 3 0 "X11 ping"')
    viewer, manager = 10, 20
    s.thread(viewer, "viewer")
    s.thread(manager, "manager")
    s.wait(viewer, "read")
    for _ in range(4):
        s.for_ms(50)
        s._record(s.cpus[manager], manager, f"callback_queued key={window} function={window} probe=3")
        s.wake(manager, viewer)
        if answers:
            s._record(s.cpus[viewer], viewer, f"callback_queued key={window} function=77 probe=3")
        s.wait(viewer, "read")
    s.wake(manager, viewer)
    s.for_ms(300)
    s._record(s.cpus[manager], manager, f"callback_queued key={window} function={window} probe=3")
    s.for_ms(2500)
    s.wait(viewer, "read")
    s.for_ms(500)
    s._record(s.cpus[manager], manager, "syscall_start nr=getpid")
    return s


@scene
def ping_not_answered():
    found = hang("viewer", indicators=["ping not answered"])
    return pinged(True), [([], [found]), (["--process=viewer"], [found]), (["--threshold=4s"], [])]


@scene
def window_that_never_answers():
    return pinged(False), [([], [])]


def busy_from_the_beginning(windows, sends):
    """The editor computes when the recording begins, and the recording ends before it has reached its loop. In between it dispatches a
    key."""
    s = Loop(begun=False)
    s.tables.append('probe 1 0 "Toolkit" shape ui')
    s.thread(s.editor, "editor")
    s.thread(s.keyboard, "keyboard")
    s.wait(s.keyboard, "read")
    s.raw(s.editor, "syscall_start nr=getpid")
    s.raw(s.editor, "syscall_end nr=getpid result=10")
    if windows:
        s.raw(s.editor, "ui_event kind=1 probe=1 sp=0x7000")
    s.for_ms(500)
    s.type()
    if sends:
        s.raw(s.keyboard, "syscall_start nr=write arg1=6")
        s.pipe_message(s.keyboard, "sent", 1)
        s.raw(s.keyboard, "syscall_end nr=write result=8")
    s.rest()
    s.for_ms(3000)
    s.raw(s.editor, "syscall_start nr=read arg1=5")
    if sends:
        s.pipe_message(s.editor, "received", 1)
    s.raw(s.editor, "syscall_end nr=read result=8")
    return s


@scene
def recording_begins_in_the_freeze():
    scenes = [busy_from_the_beginning(True, True), busy_from_the_beginning(True, False), busy_from_the_beginning(False, True)]
    return scenes, [([], [hang()]), ([], []), ([], [])]


@scene
def last_turn_does_not_end():
    """A toolkit that reports its turns. After a handler, the loop begins a turn and computes in it until the recording ends, or until the
    thread ends."""
    scenes = []
    for exits in False, True:
        s = Loop()
        s.tables.append('probe 2 0 "Toolkit" shape begin')
        s.tables.append('probe 3 0 "Toolkit" shape turn')
        for _ in range(4):
            s.key()
            turn(s, 10)
            s.home()
        s.key()
        turn(s, 10)
        s.for_ms(3000)
        s.raw(s.editor, "syscall_start nr=getpid")
        s.raw(s.editor, "syscall_end nr=getpid result=10")
        if exits:
            s.exit(s.editor)
        scenes.append(s)
    return scenes, [([], [hang(ongoing=True)]), ([], [hang(ongoing=False)])]


def turn(s, ms, tid=Loop.editor):
    """The loop calls a handler and begins its next turn."""
    s.raw(tid, "callback_start key=0x100 function=0x402000 probe=2 sp=0x7000")
    s.for_ms(ms)
    s.raw(tid, "callback_end key=0 probe=3 sp=0x8000")


ITERATE = (0x700000, 0x510000, 0x511000, 0x401000, 0x402000)  # the toolkit's loop, main and its caller
NESTED = (ITERATE[0], 0x560000, 0x561000, 0x562000, *ITERATE[1:])


def finds(s, after_ms):
    """The keyboard ends the editor's poll, which finds a pipe ready."""
    s.for_ms(after_ms)
    s.type()
    s.raw(s.keyboard, f"make_runnable thread={s.editor} context=task")
    s._record(s.cpus[s.editor], 0, f"switch state=R next={s.editor}")
    s.raw(s.editor, "ready arg1=41 arg2=3 arg4=0x1000")
    s.raw(s.editor, f"syscall_end nr={s.calls.pop(s.editor)} result=1")
    s.rest()


@scene
def loop_that_hardly_ran():
    """The trace shows only two waits of a loop whose turns a toolkit reports, one of them long. If the long one is at another place, a
    handler turns the toolkit's loop."""
    scenes = []
    for nested in False, True:
        s = Loop(frames=ITERATE, begun=False)
        s.tables.append('probe 2 0 "Toolkit" shape begin')
        s.tables.append('probe 3 0 "Toolkit" shape turn')
        s.thread(s.editor, "editor")
        s.thread(s.keyboard, "keyboard")
        s.wait(s.keyboard, "read")
        for _ in range(3):
            turn(s, 1)
        if nested:
            s.home()
            finds(s, 20)
            turn(s, 1)
        s.wait(s.editor, "poll", frames=NESTED if nested else ITERATE)
        finds(s, 8000)
        turn(s, 1)
        s.home()
        s.goes_on(50)
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]


SENDER, SERVER = 11, 30


@scene
def loop_that_gets_answers():
    """A thread that sends for the editor mostly gets answers in its loop, where it rests, and does not take what the keyboard sent it
    before. If it waits at another place, a handler turns the toolkit's loop."""
    scenes = []
    for place in ITERATE, NESTED:
        s = Loop(frames=ITERATE)
        s.tables.append('probe 2 0 "Toolkit" shape begin')
        s.tables.append('probe 3 0 "Toolkit" shape turn')
        s.thread(SENDER, "sender", pid=s.editor)
        s.thread(SERVER, "server")
        s.wait(SERVER, "read")
        s.type()
        s.pipe_message(s.keyboard, "sent", 0)
        s.rest()
        s.pipe_message(SENDER, "received", 0)
        for _ in range(8):
            s.for_ms(1)
            s.wake(SENDER, SERVER)
            s.wait(SENDER, "poll", fd=8, frames=ITERATE)
            s.for_ms(1)
            s.wake(SERVER, SENDER)
            s.wait(SERVER, "read")
            turn(s, 1, SENDER)
        s.type()
        s.pipe_message(s.keyboard, "sent", 8)
        s.rest()
        s.wait(SENDER, "poll", fd=8, frames=place)
        s.for_ms(4000)
        s.interrupt(SERVER)
        s.wake(SERVER, SENDER)
        s.pipe_message(SENDER, "received", 8)
        s.wait(SENDER, "poll", fd=8, frames=ITERATE)
        s.key()
        s.home()
        scenes.append(s)
    return scenes, [([], []), ([], [hang(type="LongWait")])]
