"""Event loops that wait for a condition: another thread of the process receives what a program with windows sends, and wakes them."""
from hang_scene import Loop, hang, scene
from hangs_nested import asks

PAGE, INPUT = 30, 31
START = [0x401000, 0x402000]  # main and its caller
TIMED = [0x700000, 0x510000, 0x511000, 0x512000] + START
UNTIMED = [0x700000, 0x510080, 0x511080, 0x513000, 0x512080] + START
HANDLER = [0x700000, 0x510080, 0x511080, 0x522000, 0x523000, 0x524000, 0x512100] + START


def page(windows=True):
    """A page of the editor, with a thread that receives input for it, is told something four times."""
    s = Loop()
    s.tables.append('probe 1 0 "Toolkit" shape ui library /lib/toolkit.so')
    if windows:
        s.tables.append(f"image pid {s.editor} start 0x600000 end 0x700000 path /lib/toolkit.so")
    s.thread(PAGE, "page")
    s.thread(INPUT, "input", pid=PAGE)
    s.wait(INPUT, "epoll_wait")
    for position in range(1, 5):
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
