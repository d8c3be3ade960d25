"""Waits that consist of many short waits, of which the last one ends with the reply that all of them waited for."""
from hang_scene import Loop
from hangs_in_handlers import AT_HOME, inside
from hangs_unanswered import FORWARDS as FORWARDED
from hangs_unanswered import OWNER, asks, keys, server_and_owner, times_out
from scene import Scene
from scenes import scene

HANDLER = inside(0x40a000, 0x409000)
ASKS, ANSWERS, GRABS, FORWARDS, STORED, OTHERS = range(77, 83)  # channels
SERVER, GRABBER, STORE, OTHER, BUS = 30, 40, 50, 60, 70


def sends(s, tid, channel, position):
    """`position` identifies the kernel's buffer, so two messages of the same moment have different positions."""
    s.message(tid, channel, position=position)


def takes(s, tid, channel, position):
    s.message(tid, channel, received=True, position=position)


def idles(s):
    s.wait(SERVER, "epoll_wait", timeout=True)


def tells(s, position):
    """The server sends the editor something, which makes it run."""
    sends(s, SERVER, ANSWERS, 1000 + position)
    s.wake(SERVER, s.editor)
    idles(s)
    takes(s, s.editor, ANSWERS, 1000 + position)


def asked_and_answered(s, position):
    s.key()
    sends(s, s.editor, ASKS, position)
    s.wake(s.editor, SERVER)
    s.wait(s.editor, "poll", frames=HANDLER)
    takes(s, SERVER, ASKS, position)
    tells(s, position)
    s.home()


def grabbed():
    """The editor has sent a request to a server that the grabber uses exclusively, and both wait."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    s.thread(GRABBER, "grabber")
    idles(s)
    for position in range(1, 6):
        asked_and_answered(s, position)
    sends(s, GRABBER, GRABS, 2001)
    s.wake(GRABBER, SERVER)
    takes(s, SERVER, GRABS, 2001)
    idles(s)
    s.wait(GRABBER, "clock_nanosleep", timeout=True)
    s.key()
    sends(s, s.editor, ASKS, 6)
    s.wait(s.editor, "poll", frames=HANDLER)
    return s


@scene
def server_that_another_client_keeps():
    """The same, but the trace ends while they wait."""
    s = grabbed()
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("grabber", "LongWait"), "only": {"grabber"}}


@scene
def server_that_another_client_has():
    """The server leaves the request pending until the grabber has finished. The server's own timer wakes it a moment before the grabber
    does."""
    s = grabbed()
    for position in range(6, 66):
        s.for_ms(50)
        s.timer(SERVER)
        tells(s, position)
        s.wait(s.editor, "poll", frames=HANDLER)
    s.timer(GRABBER)
    sends(s, GRABBER, GRABS, 2002)
    s.timer(SERVER)
    takes(s, SERVER, GRABS, 2002)
    takes(s, SERVER, ASKS, 6)
    tells(s, 66)
    s.end()
    return s, "editor", {"type": "LongWait", "root": ("grabber", "LongWait"), "only": {"grabber"}}


def forwards(s, client, channel, position):
    """The client asks the server, which asks the store."""
    sends(s, client, channel, position)
    s.wake(client, SERVER)
    s.wait(client, "read", fd=9, frames=HANDLER)
    takes(s, SERVER, channel, position)
    sends(s, SERVER, FORWARDS, 3000 + position)


@scene
def request_before_an_earlier_wait():
    """The handler waits in many short waits, because keys arrive. It sent its request before the first of them, and the server passed it
    on."""
    s = Loop(frames=AT_HOME)
    for tid, name in ((SERVER, "server"), (STORE, "store"), (OTHER, "other")):
        s.thread(tid, name)
    idles(s)
    s.wait(STORE, "read")
    for position in range(1, 6):
        forwards(s, OTHER, OTHERS, position)
        s.wake(SERVER, STORE)
        idles(s)
        takes(s, STORE, FORWARDS, 3000 + position)
        sends(s, STORE, STORED, 4000 + position)
        s.wake(STORE, SERVER)
        s.wait(STORE, "read")
        takes(s, SERVER, STORED, 4000 + position)
        s.wake(SERVER, OTHER)
        idles(s)
    s.wait(OTHER, "read")
    s.interrupt(STORE)  # another request keeps it busy
    s.key()
    forwards(s, s.editor, ASKS, 6)
    idles(s)
    for _ in range(3):
        s.key(100)
        s.wait(s.editor, "read", fd=9, frames=HANDLER)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("store", "LongRunning")}


@scene
def request_before_signals():
    """Signals interrupt the wait for the reply, and the editor resumes it. The server took the request and went back to its read; it has
    done so too seldom for this to be known as its wait for requests."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    s.wait(SERVER, "read")
    s.key()
    for position in 1, 2:
        sends(s, s.editor, ASKS, position)
        s.wake(s.editor, SERVER)
        takes(s, SERVER, ASKS, position)
        s.wait(SERVER, "read")
    s.wait(s.editor, "poll", timeout=True, frames=HANDLER)
    for _ in range(6):
        s.for_ms(500)
        s.type()
        s.wake(s.keyboard, s.editor, call="kill", result=-4)
        s.rest()
        s.wait(s.editor, "poll", timeout=True, frames=HANDLER)
    s.for_ms(1000)
    s.timer(s.editor)
    s.end()
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"},
                         "why": "went back to its wait for requests"}


def reads_a_pipe(holder):
    """A tool reads from a pipe; the trace ends while it waits. Nobody was seen to write."""
    s = Scene()
    s.thread(10, "tool")
    s.thread(20, "clock")
    for _ in range(5):
        s.sleep(10, 20)
    holder(s)
    s.wait(10, "read", fd=3, inode=77, mode="fifo")
    s.for_ms(3000)
    s.sleep(20, 10)
    s._record(s.cpus[20], 30, "open_end inode=77 access=2 fd=4")
    s._record(s.cpus[20], 10, "open_end inode=77 access=1 fd=3")
    return s


@scene
def writer_that_only_has_its_end():
    """The process that has the writing end open is busy, and has not written yet."""
    s = reads_a_pipe(lambda s: s.thread(30, "holder"))
    return s, "tool", {"type": "LongWait", "root": ("holder", "LongRunning"), "only": {"holder"}}


@scene
def writer_that_did_nothing():
    """It has not run at all."""
    s = reads_a_pipe(lambda s: s.tables.append('thread 30 pid 30 ppid 1 name "holder"'))
    return s, "tool", {"type": "LongWait", "root": ("tool", "LongWait"), "only": {"tool"},
                       "why": "holder [30] has the other end open, and did nothing in this recording"}


def stop(s, tid):
    """The keyboard sends SIGSTOP."""
    s.type()
    s.signal(s.keyboard, tid)
    s.rest()
    s._comes_back(tid, -512)
    s.raw(tid, "switch state=T next=0")


def left_unread(stopped, passes_on=True, pieces=0, opens=None):
    """The editor's request reaches the server, which passes it on; or a server that does not accept the connection. The receiver has not
    used its end in this recording."""
    s = Loop(frames=AT_HOME)
    for tid, name in ((SERVER, "server"), (STORE, "store"), (OTHER, "other")):
        s.thread(tid, name)
    idles(s)
    s.wait(STORE, "read")
    s.wait(OTHER, "read")
    for position in range(1, 6):
        asked_and_answered(s, position)
    for tid in stopped:
        stop(s, tid)
    s.key()
    if passes_on:
        forwards(s, s.editor, ASKS, 6)
        idles(s)
    else:
        sends(s, s.editor, 0, 6)
        s.wait(s.editor, "read", fd=9, frames=HANDLER)
    for _ in range(pieces):
        s.key(100)
        s.wait(s.editor, "read", fd=9, frames=HANDLER)
    s.goes_on(3000)
    if opens:
        s._record(s.cpus[90], opens, f"open_end inode={FORWARDS} access=3 fd=4")
    return s


STOPPED = {"type": "LongWait", "root": ("store", "LongWait"), "only": {"store"}, "why": "stopped"}


@scene
def request_passed_on_to_a_stopped_process():
    return left_unread([STORE]), "editor", STOPPED


@scene
def request_passed_on_before_an_earlier_wait():
    """The editor has waited six times since its request, because keys arrive."""
    return left_unread([STORE], pieces=6), "editor", {"type": "LongWait", "root": ("store", "LongWait"), "why": "stopped"}


@scene
def server_stopped_before_it_accepted():
    return left_unread([STORE], passes_on=False), "editor", STOPPED


@scene
def request_passed_on_with_two_stopped_processes():
    """Nothing says which of them should have received it."""
    return left_unread([STORE, OTHER]), "editor", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}}


@scene
def request_passed_on_to_an_open_end():
    """Two processes are stopped, and one of them has the receiving end open."""
    return left_unread([STORE, OTHER], opens=STORE), "editor", STOPPED


def left_by_ended_thread(process=None):
    """The store sleeps, and ends without having read it; the kernel uses the request's buffer again for another message."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    if process:
        s.thread(process, "store")
        s.wait(process, "read")
    s.thread(STORE, "store", pid=process)
    idles(s)
    s.wait(STORE, "read")
    for position in range(1, 6):
        asked_and_answered(s, position)
    s.interrupt(SERVER)
    sends(s, SERVER, FORWARDS, 2999)
    s.wake(SERVER, STORE)
    idles(s)
    takes(s, STORE, FORWARDS, 2999)
    s.wait(STORE, "clock_nanosleep", timeout=True)
    s.key()
    forwards(s, s.editor, ASKS, 6)
    idles(s)
    s.for_ms(3000)
    s.timer(STORE)
    s._record(s.cpus[STORE], STORE, f"thread_exit arg1={STORE} last={int(not process)}")
    s._record(s.cpus[STORE], STORE, "switch state=X next=0")
    s.type()
    sends(s, s.keyboard, OTHERS, 3006)
    s.rest()
    s.goes_on(10)
    return s


@scene
def request_passed_on_to_a_process_that_ended():
    return left_by_ended_thread(), "editor", {"type": "LongWait", "root": ("store", "LongWait"), "only": {"store"}}


@scene
def request_passed_on_to_a_thread_that_ended():
    """Its process lives, and has closed the channel at an unknown time."""
    return left_by_ended_thread(process=OTHER), "editor", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}}


WORKER = (0x408000, 0x401000)


def passed_on_and_forgotten(receivers, worker, next_condition=0xa000):
    """The server sends something to the receivers, which take it and go back to their idle waits. The server may also wake a worker, which
    then waits at a condition."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    s.thread(31, "idler", pid=SERVER)
    idles(s)
    s.wait(31, "futex", fd=0x9000, frames=WORKER)
    for tid, name in receivers:
        s.thread(tid, name)
        s.wait(tid, "read")
    for position in range(1, 6):
        asked_and_answered(s, position)
    s.key()
    sends(s, s.editor, ASKS, 6)
    s.wake(s.editor, SERVER)
    s.wait(s.editor, "read", fd=9, frames=HANDLER)
    takes(s, SERVER, ASKS, 6)
    if worker:
        s.wake(SERVER, 31, call="futex", result=0)
        s.wait(31, "futex", fd=next_condition, frames=WORKER)
    for channel, (tid, _) in enumerate(receivers, FORWARDS):
        sends(s, SERVER, channel, 3000 + tid)
        s.wake(SERVER, tid)
        takes(s, tid, channel, 3000 + tid)
        s.wait(tid, "read")
    idles(s)
    s.goes_on(3000)
    return s


@scene
def request_passed_on_and_forgotten():
    """What was sent shows where the request is, and not what was woken."""
    return passed_on_and_forgotten([(STORE, "store")], True), "editor", {
        "type": "LongWait", "root": ("store", "LongWait"), "only": {"store"}, "path": ["editor", "server", "store"],
        "why": "without an answer"}


@scene
def request_passed_on_beside_a_worker():
    """The worker went back to its wait for work, too; but nothing was sent to it."""
    return passed_on_and_forgotten([(STORE, "store")], True, 0x9000), "editor", {
        "type": "LongWait", "root": ("store", "LongWait"), "only": {"store"}, "path": ["editor", "server", "store"]}


@scene
def something_passed_on_to_two():
    """Neither is known to have the request: a server also tells others what happens."""
    s = passed_on_and_forgotten([(STORE, "store"), (OTHER, "other")], False)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}}


def busy_until_answered(late_ms, goes_on_ms):
    """The editor computes. It has asked the server, which asks the store; the store sleeps until late."""
    s = Loop(frames=AT_HOME)
    s.thread(SERVER, "server")
    s.thread(STORE, "store")
    idles(s)
    s.wait(STORE, "clock_nanosleep", timeout=True)
    for position in range(1, 6):
        asked_and_answered(s, position)
    s.key()
    sends(s, s.editor, ASKS, 6)
    s.wake(s.editor, SERVER)
    takes(s, SERVER, ASKS, 6)
    sends(s, SERVER, FORWARDS, 3006)
    idles(s)
    s.for_ms(late_ms)
    s.timer(STORE)
    takes(s, STORE, FORWARDS, 3006)
    sends(s, STORE, STORED, 4006)
    s.wake(STORE, SERVER)
    s.wait(STORE, "read")
    takes(s, SERVER, STORED, 4006)
    sends(s, SERVER, ANSWERS, 1006)
    idles(s)
    takes(s, s.editor, ANSWERS, 1006)
    s.for_ms(goes_on_ms)
    s.end()
    return s


@scene
def answer_that_is_polled_for():
    """It ends as soon as the answer has come: it polled for that, without a system call."""
    return busy_until_answered(3000, 5), "editor", {"type": "LongRunning", "root": ("store", "LongWait"), "only": {"store", "editor"}}


@scene
def answer_in_the_middle_of_a_run():
    """It does not end with the answer: it had something else to do."""
    return busy_until_answered(2000, 1500), "editor", {"type": "LongRunning", "root": ("editor", "LongRunning"), "only": {"editor"}}


def continues(s, tid):
    """The keyboard sends SIGCONT."""
    s.type()
    s.signal(s.keyboard, tid)
    s.rest()
    s._record(s.cpus[tid], 0, f"switch state=R next={tid}")


def asks_for_the_selection(busy=False):
    """The server hands the editor's request on to the owner of the selection, which is stopped."""
    s = server_and_owner()
    stop(s, OWNER)
    asks(s, False, busy)
    return s


@scene
def request_that_was_handed_on():
    """The editor gives up, after several waits. The owner continues later, and takes the request then."""
    s = asks_for_the_selection()
    keys(s, 20)
    times_out(s)
    s.home()
    s.key()
    s.home()
    continues(s, OWNER)
    takes(s, OWNER, FORWARDED, 9)
    s.end()
    return s, "editor", {"type": "LongWait", "root": ("owner", "LongWait"), "only": {"owner"}, "why": "stopped"}


@scene
def busy_until_the_end():
    """The same, but the editor looks for the reply without waiting, and the trace ends meanwhile."""
    s = asks_for_the_selection(busy=True)
    s.goes_on(3000)
    return s, "editor", {"type": "LongRunning", "root": ("owner", "LongWait"), "why": "stopped"}


@scene
def request_before_short_polls():
    """The handler polls with short time-outs. Before the first one it sent a request, which the store took without an answer. The display
    server keeps sending input, and a child of the editor, which the editor started before, is busy."""
    s = Loop(frames=AT_HOME)
    for tid, name, parent in (SERVER, "server", 1), (STORE, "store", 1), (OTHER, "child", 10):
        s.thread(tid, name, parent=parent)
    idles(s)
    s.wait(STORE, "accept4", fd=3)
    for position in range(1, 6):
        asked_and_answered(s, position)
    s.key()
    sends(s, s.editor, ASKS, 6)
    s.wake(s.editor, SERVER)
    takes(s, SERVER, ASKS, 6)
    sends(s, s.editor, STORED, 1)
    s.wake(s.editor, STORE)
    takes(s, STORE, STORED, 1)
    s.wait(STORE, "accept4", fd=3)
    idles(s)
    for turn in range(60):
        s.wait(s.editor, "poll", fd=0x7000, timeout=True, frames=inside(0x40c000, 0x40b000))
        s.for_ms(50)
        if turn % 20 == 19:
            s.timer(SERVER)
            tells(s, 6 + turn)
        else:
            s.timer(s.editor)
    s.end()
    return s, "editor", {"type": "LongWait", "root": ("store", "LongWait"), "only": {"store"}, "uncertain": "has sent nothing since"}


def on_the_bus(s, position, by_message):
    """The editor gives its bus thread a request, which a callback of that thread sends to the server."""
    s.key()
    if by_message:
        sends(s, s.editor, STORED, position)
    s.wake(s.editor, BUS, call="write" if by_message else "futex")
    s.wait(s.editor, "futex", fd=0x7000, condition=True, frames=HANDLER)
    if by_message:
        takes(s, BUS, STORED, position)
    s.raw(BUS, "callback_start key=0x100 function=0x402000 probe=2 sp=0x7000")
    sends(s, BUS, ASKS, position)
    s.wake(BUS, SERVER)
    s.raw(BUS, "callback_end key=0x100 probe=2 sp=0x7000")
    s.wait(BUS, "poll", fd=8)
    takes(s, SERVER, ASKS, position)


def bus_waits(turns, by_message):
    """Another process, which ended earlier waits of the bus thread, is not asked."""
    s = Loop(frames=AT_HOME)
    s.tables.append('probe 2 0 "Toolkit" shape begin')
    s.thread(BUS, "bus", pid=s.editor)
    s.thread(SERVER, "server")
    s.thread(OTHER, "other")
    s.wait(BUS, "poll", fd=8)
    s.wait(OTHER, "read")
    idles(s)
    for position in range(1, turns + 1):
        s.for_ms(5)
        s.interrupt(OTHER)
        sends(s, OTHER, OTHERS, position)
        s.wake(OTHER, BUS)
        s.wait(OTHER, "read")
        takes(s, BUS, OTHERS, position)
        s.wait(BUS, "poll", fd=8)
    s.for_ms(5)
    s.interrupt(OTHER)
    s.wait(OTHER, "clock_nanosleep", timeout=True)
    on_the_bus(s, 6, by_message)
    s.wait(SERVER, "clock_nanosleep", timeout=True)
    s.goes_on(3000)
    return s, "editor", {"type": "LongWait", "root": ("server", "LongWait"), "only": {"server"}}


@scene
def request_sent_by_a_callback():
    """The loop of the bus thread waits for the answer in a vertex of its own, after the callback that sent the request."""
    return bus_waits(4, False)


@scene
def request_sent_by_a_callback_of_a_new_loop():
    """The same, where the loop has hardly waited before, so that its wait is unusual."""
    return bus_waits(1, True)
