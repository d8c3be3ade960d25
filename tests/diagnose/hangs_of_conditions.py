"""Event loops that wait for a condition: another thread of the process receives what a program with windows sends, and wakes them."""
from hang_scene import Loop, hang, scene
from hangs_nested import asks

PAGE, INPUT, MOVER, DISPLAY, OWNER = 30, 31, 32, 70, 40
START = [0x401000, 0x402000]  # main and its caller
TIMED = [0x700000, 0x510000, 0x511000, 0x512000] + START
UNTIMED = [0x700000, 0x510080, 0x511080, 0x513000, 0x512080] + START
HANDLER = [0x700000, 0x510080, 0x511080, 0x522000, 0x523000, 0x524000, 0x512100] + START


def page(windows=True, told=4):
    """A page of the editor, with a thread that receives input for it, is told something some times."""
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
    if windows:
        s.tables.append(f"image pid {s.editor} start 0x600000 end 0x700000 path /lib/toolkit.so")
    s.thread(PAGE, "page")
    s.thread(INPUT, "input", pid=PAGE)
    s.wait(INPUT, "epoll_wait")
    for position in range(1, told + 1):
        tell(s, position)
    return s


def rest(s, frames=tuple(TIMED)):
    s.wait(PAGE, "futex", fd=0x7000, frames=frames)


def tell(s, position):
    """The editor tells the input thread something, which wakes the page."""
    rest(s)
    s.key(100)
    asks(s, s.editor, INPUT, position)
    s.home()
    s.wake(INPUT, PAGE, call="futex", result=0)
    s.wait(INPUT, "epoll_wait")


@scene
def page_computes():
    """It counts because a program with windows sends what the page works for. Workers that a service tells what to do are no event loop."""
    scenes = []
    for windows in True, False:
        s = page(windows)
        s.for_ms(3000)
        rest(s)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang("page")]), ([], [])]


@scene
def page_behind_a_thread_that_moves_it():
    """The input thread passes what it receives on to another one, which wakes the page."""
    s = page(told=0)
    s.thread(MOVER, "mover", pid=PAGE)
    s.wait(MOVER, "futex", fd=0xa000, condition=True)
    for position in range(5, 9):
        rest(s)
        s.key(100)
        asks(s, s.editor, INPUT, position)
        s.home()
        s.wake(INPUT, MOVER, call="futex", result=0)
        s.wait(INPUT, "epoll_wait")
        s.wake(MOVER, PAGE, call="futex", result=0)
        s.wait(MOVER, "futex", fd=0xa000, condition=True)
    s.for_ms(3000)
    rest(s)
    s.end()
    return s, [([], [hang("page")])]


def main_thread_and_poller():
    """A main thread rests at a condition. Another thread of its process polls the display server's socket for it, and wakes it to read."""
    s = Loop(begun=False)
    s.thread(PAGE, "wish")
    s.thread(INPUT, "poller", pid=PAGE)
    s.thread(DISPLAY, "display")
    s.thread(OWNER, "owner")
    s.wait(INPUT, "select")
    s.wait(DISPLAY, "epoll_wait", fd=8)
    s.wait(OWNER, "read", fd=7)
    s.interrupt(DISPLAY)
    s.message(DISPLAY, 79, position=1)
    s.wake(DISPLAY, OWNER)
    s.message(OWNER, 79, received=True, position=1)
    s.wait(OWNER, "read", fd=7)
    s.wait(DISPLAY, "epoll_wait", fd=8)
    for position in range(1, 6):
        rest(s)
        display_sends(s, position)
    return s


def display_sends(s, position):
    s.for_ms(100)
    s.interrupt(DISPLAY)
    s.message(DISPLAY, 78, position=position)
    s.wake(DISPLAY, INPUT)
    s.wait(DISPLAY, "epoll_wait", fd=8)
    s.wake(INPUT, PAGE, call="futex", result=0)
    s.wait(INPUT, "select")
    s.message(PAGE, 78, received=True, position=position)


def ends(s):
    s.goes_on(10)
    s._record(s.cpus[90], DISPLAY, "open_end inode=900 access=7 fd=4 mode=socket")


@scene
def loop_for_which_a_thread_polls():
    """The main thread reads something for 3 s."""
    scenes = []
    for reads_ms in 3000, 300:
        s = main_thread_and_poller()
        s.wait(PAGE, "read", fd=6, inode=300, mode="fifo", frames=HANDLER)
        s.for_ms(reads_ms)
        ends(s)
        scenes.append(s)
    return scenes, [([], [hang("wish", type="LongWait", ongoing=True)]), ([], [])]


@scene
def reply_for_which_a_thread_polls():
    """A handler runs the loop until a reply comes: the display server handed its request on, to an owner that takes it or not. The thread
    that polls may send the request."""
    scenes = []
    for taken, by_poller in (False, False), (False, True), (True, False):
        s = main_thread_and_poller()
        if by_poller:
            s.wake(PAGE, INPUT, call="futex")
        s.message(INPUT if by_poller else PAGE, 77, position=9)
        s.wake(INPUT if by_poller else PAGE, DISPLAY)
        if by_poller:
            s.wait(INPUT, "select")
        s.message(DISPLAY, 77, received=True, position=9)
        s.message(DISPLAY, 79, position=9)
        if taken:
            s.wake(DISPLAY, OWNER)
            s.message(OWNER, 79, received=True, position=9)
            s.wait(OWNER, "read", fd=7)
        s.wait(DISPLAY, "epoll_wait", fd=8)
        for position in range(10, 16):
            s.wait(PAGE, "futex", fd=0x7000, frames=HANDLER, timeout=True)
            s.for_ms(400)
            s.timer(PAGE)
            s.wait(PAGE, "futex", fd=0x7000, frames=HANDLER)
            display_sends(s, position)
        s.wait(PAGE, "futex", fd=0x7000, frames=HANDLER, timeout=True)
        s.for_ms(400)
        ends(s)
        scenes.append(s)
    return scenes, [([], [hang("wish", type="LongWait", ongoing=True)])] * 2 + [([], [])]


@scene
def one_condition_for_all_waits():
    """A handler waits for the thread's only condition again and again, with a time-out. If somebody ends some of the waits, it is a loop."""
    scenes = []
    for told in False, True:
        s = main_thread_and_poller()
        for position in range(6, 18):
            s.wait(PAGE, "futex", fd=0x7000, frames=HANDLER, timeout=True)
            s.for_ms(250)
            if told and position % 4 == 0:
                display_sends(s, position)
            else:
                s.timer(PAGE)
        s.wait(PAGE, "futex", fd=0x7000, frames=HANDLER, timeout=True)
        s.for_ms(200)
        ends(s)
        scenes.append(s)
    return scenes, [([], [hang("wish", type="LongWait", ongoing=True)]), ([], [])]


@scene
def page_waits_in_a_handler():
    """It waits for another condition than its loop's, for an answer that the input thread receives in the end, or that never comes."""
    scenes = []
    for answered in True, False:
        s = page()
        s.wait(PAGE, "futex", fd=0x9000, frames=HANDLER)
        s.for_ms(3000)
        if answered:
            asks(s, s.editor, INPUT, 5)
            s.wake(INPUT, PAGE, call="futex", result=0)
            s.wait(INPUT, "epoll_wait")
            rest(s)
        s.end()
        scenes.append(s)
    return scenes, [([], [hang("page", type="LongWait", ongoing=not answered)]) for answered in (True, False)]


@scene
def page_rests():
    """For once it waits for its condition without a time-out: in another call, and one function deeper."""
    s = page()
    rest(s, UNTIMED)
    s.for_ms(3000)
    s.end()
    return s, [([], [])]
