"""Scenes with watched variables: loops that wait for one that was not written, and the thread that should have written it."""
from scene import Scene
from scenes import scene


def request(s, app, decoder, takes=2):
    """The app wakes the decoder, which works for a while; the app looks at the flag in a loop."""
    s.wake(app, decoder)
    s.wait(app, "clock_nanosleep", timeout=True)
    s.for_ms(takes)


def looks(s, app, value, turns):
    for _ in range(turns):
        s.sleep(app, 10)
        s.flag(app, value)


def rest(s, app):
    s.wait(app, "poll")
    s.for_ms(50)


def begin(decoder=True, process=10):
    s = Scene()
    s.thread(10, "app")
    s.thread(30, "typist")
    if decoder:
        s.thread(11, "decoder", pid=process)
        s.wait(11, "read")
    s.tables.append('flag 1 10 0x7000 "decoded in app" bytes 4')
    s.wait(10, "poll")
    return s


def answered_requests(s, pc=0, address=0x7000):
    for value in (1, 2, 3):
        s.wake(30, 10)
        request(s, 10, 11)
        s.flag(11, value, write=True, pc=pc, address=address)
        s.wait(11, "read")
        s.for_ms(8)
        s.timer(10)
        s.flag(10, value)
        rest(s, 10)


def shared(s):
    """The decoder is another process, which has the flag's memory at another address."""
    s.tables.append('flag 2 11 0x9000 "decoded in app" bytes 4')
    for tid, address in (10, 0x7000), (11, 0x9000):
        s._record(0, tid, f"flag_shared flag={address:#x} inode=77 device=1 offset=0")
    return s


def forgotten(pc=0, process=10):
    s = begin(process=process)
    if process != 10:
        shared(s)
    answered_requests(s, pc, 0x7000 if process == 10 else 0x9000)
    s.wake(30, 10)
    request(s, 10, 11)
    s.wait(11, "read")
    s.timer(10)
    looks(s, 10, 3, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s


@scene
def flag_that_was_forgotten():
    """The decoder takes the request, and goes back to its pipe without setting the flag."""
    return forgotten(), "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "went back to its wait for requests (read fd 5) without setting decoded in app; it was last set"}


@scene
def flag_that_another_process_forgot():
    """The flag is in memory that both processes share."""
    return forgotten(process=11), "app", {"type": "RepeatedYield", "root": ("decoder", "LongWait"), "path": ["app", "decoder"],
                                "why": "went back to its wait for requests (read fd 5) without setting decoded in app; it was last set"}


@scene
def flag_of_a_thread_that_was_not_asked():
    """No request reached the decoder, which waits for one, as always. It does not wait for the app: there is no circle."""
    s = begin()
    answered_requests(s)
    s.wake(30, 10)
    looks(s, 10, 3, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"],
                      "why": "by thread decoder of app, which did nothing unusual meanwhile"}


@scene
def flag_of_a_thread_that_has_ended():
    """The decoder has ended before the last request."""
    s = begin()
    answered_requests(s)
    s.wake(30, 11, call="write", result=0)
    s.exit(11)
    s.for_ms(50)
    s.wake(30, 10)
    looks(s, 10, 3, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"], "why": "which had ended before the loop"}


@scene
def flag_of_a_thread_per_request():
    """Each request has a thread of its own; the last one ends without setting the flag."""
    s = begin(decoder=False)
    for value in (1, 2, 3, 4):
        decoder = 20 + value
        s.wake(30, 10)
        s.thread(decoder, "decoder", pid=10)
        s.wait(10, "clock_nanosleep", timeout=True)
        s.for_ms(2)
        if value < 4:
            s.flag(decoder, value, write=True)
        s.exit(decoder)
        s.for_ms(8)
        s.timer(10)
        s.flag(10, value if value < 4 else 3)
        if value < 4:
            rest(s, 10)
    looks(s, 10, 3, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"], "why": "without setting decoded in app"}


@scene
def flag_of_a_thread_that_sleeps_in_pieces():
    """The decoder looks for work every 20 ms, and finds none: it explains nothing."""
    s = begin()
    for value in (1, 2, 3):
        s.wake(30, 10)
        request(s, 10, 11)
        s.flag(11, value, write=True)
        s.wait(11, "clock_nanosleep", timeout=True)
        s.timer(10)
        s.flag(10, value)
        s.wait(10, "poll")
        s.timer(11)
        for _ in range(5):
            s.sleep(11, 20)
        s.wait(11, "read")
    s.wake(30, 10)
    s.wake(30, 11)
    for _ in range(150):
        s.wait(11, "clock_nanosleep", timeout=True)
        looks(s, 10, 3, 2)
        s.timer(11)
    s.wait(11, "read")
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield")}


def counted(semantics, label):
    """The flag's writes are recorded, but no reads of it: --semantics=flip or queue."""
    s = begin()
    s.tables[-1] = f'flag 1 10 0x7000 "{label}" bytes 4 semantics {semantics}'
    return s


def handed_over(s, answers, delay=2, busy=False):
    """The app sets the flag and looks whether the decoder has cleared it. `delay` until the decoder clears it, in ms."""
    s.wake(30, 10)
    s.flag(10, 1, write=True)
    s.wake(10, 11)
    if not busy:
        s.wait(11, "read")
    for _ in range(delay // 10 + 1):
        s.sleep(10, 10)
    if answers:
        if not busy:
            s.wake(30, 11)
        s.flag(11, 0, write=True)
        s.wait(11, "read")
    s.sleep(10, 10)
    rest(s, 10)


@scene
def flip_that_came_late():
    """The decoder is busy for three seconds before it clears the flag that the app has set; the app's looks are not recorded."""
    s = counted("flip", "wanted in app")
    for _ in range(3):
        handed_over(s, True, busy=True)
    handed_over(s, True, delay=3000, busy=True)
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongRunning"), "path": ["app", "app"]}


@scene
def flip_that_did_not_come():
    """The decoder takes the request and goes back to its pipe without clearing the flag."""
    s = counted("flip", "wanted in app")
    for _ in range(3):
        handed_over(s, True, busy=True)
    handed_over(s, False, delay=3000)
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "without changing wanted in app; it was last changed"}


@scene
def queue_that_was_not_emptied():
    """The same with a number of requests that the decoder decreases."""
    s = counted("queue", "jobs in app")
    for _ in range(3):
        handed_over(s, True, busy=True)
    handed_over(s, False, delay=3000)
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"], "why": "jobs in app"}


@scene
def flip_that_was_forgotten():
    """The decoder sets the flag and the app clears it, three times; then the decoder takes the request and forgets the flag."""
    s = counted("flip", "decoded in app")
    for _ in range(3):
        s.wake(30, 10)
        request(s, 10, 11)
        s.flag(11, 1, write=True)
        s.wait(11, "read")
        s.timer(10)
        s.flag(10, 0, write=True)
        rest(s, 10)
    s.wake(30, 10)
    request(s, 10, 11)
    s.wait(11, "read")
    s.timer(10)
    for _ in range(300):
        s.sleep(10, 10)
    rest(s, 10)
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "without setting decoded in app; it was last set"}


def looked_at(address, elsewhere=False):
    """A loop that looks at nothing that is watched."""
    s = begin(decoder=False)
    s.tables[-1] = f'flag 1 10 {address:#x} "ready in app" bytes 4'
    if elsewhere:
        s.wake(30, 10)
        s.flag(10, 1, address=address)
        s.wait(10, "poll")
    s.wake(30, 10)
    for _ in range(300):
        s.sleep(10, 10)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s


@scene
def flag_that_nobody_touched():
    return looked_at(0x7100), "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"),
                                      "uncertain": "ready in app was watched, but no thread read or wrote it"}


@scene
def flag_that_the_loop_did_not_read():
    return looked_at(0x7100, True), "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"),
                                            "uncertain": "ready in app was watched, but the loop did not read it"}


@scene
def flag_of_a_thread_that_polls_for_work():
    """The decoder looks for work every 2 ms, since it was started; the requests leave no record."""
    s = begin(decoder=False)
    s.at(20000)
    s.thread(11, "decoder", pid=10)
    for value in (1, 2, 3, None):
        for _ in range(50):
            s.sleep(11, 2)
        s.wake(30, 10)
        for turn in range(300 if value is None else 1):
            s.wait(10, "clock_nanosleep", timeout=True)
            for _ in range(5):
                s.sleep(11, 2)
            if value:
                s.flag(11, value, write=True)
            s.timer(10)
            s.flag(10, value or 3)
        s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"],
                      "why": "by thread decoder of app, which did nothing unusual meanwhile"}


@scene
def flag_of_another_loop():
    """The watched flag was for other requests; this loop looks at something that is not watched."""
    s = begin()
    answered_requests(s)
    s.wake(30, 10)
    request(s, 10, 11)
    s.wait(11, "read")
    s.timer(10)
    for _ in range(300):
        s.sleep(10, 10)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"],
                      "uncertain": "decoded in app was watched, but the loop did not read it"}


def two_watched(s):
    """The loop also looks at a second variable, which the loader sets."""
    s.thread(12, "loader", pid=10)
    s.wait(12, "read", fd=7)
    s.tables.append('flag 2 10 0x7100 "loaded in app" bytes 4')


def ask_both(s, value, forgets=False):
    s.wake(30, 10)
    s.wake(10, 12)
    request(s, 10, 11)
    s.flag(12, value, write=True, address=0x7100)
    s.wait(12, "read", fd=7)
    if not forgets:
        s.flag(11, value, write=True)
    s.wait(11, "read")
    s.for_ms(8)
    s.timer(10)
    s.flag(10, value, address=0x7100)
    s.flag(10, value - 1 if forgets else value)


@scene
def two_flags_of_which_one_was_set():
    """The loader sets its flag at the beginning of the hang; the decoder forgets the other one."""
    s = begin()
    two_watched(s)
    for value in (1, 2, 3):
        ask_both(s, value)
        rest(s, 10)
    ask_both(s, 4, forgets=True)
    for _ in range(300):
        s.sleep(10, 10)
        s.flag(10, 4, address=0x7100)
        s.flag(10, 3)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "without setting decoded in app; it was last set"}


@scene
def two_flags_that_were_never_set():
    """Nothing tells which of the two the loop waits for."""
    s = begin()
    two_watched(s)
    s.wake(30, 10)
    for _ in range(300):
        s.sleep(10, 10)
        s.flag(10, 0, address=0x7100)
        s.flag(10, 0)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"],
                      "why": "it waits for a data flag that another thread sets"}


@scene
def flag_whose_neighbours_were_stored():
    """The decoder stores other bits of the flag's byte, by other code, and forgets the bit."""
    s = begin()
    answered_requests(s, pc=0x5000)
    s.wake(30, 10)
    request(s, 10, 11)
    s.timer(10)
    looks(s, 10, 3, 5)
    s.flag(11, 8, write=True, pc=0x4000)
    s.wait(11, "read")
    looks(s, 10, 8, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "went back to its wait for requests (read fd 5) without setting decoded in app; it was last set"}


def count_up(s, value, also_helper):
    """The decoder and the helper each increase the counter, while the app looks whether it has all."""
    s.wake(30, 10)
    s.wake(10, 12)
    request(s, 10, 11)
    s.timer(10)
    looks(s, 10, value - 2, 2)
    s.flag(11, value - 1, write=True, pc=0x5000)
    s.wait(11, "read")
    if also_helper:
        s.flag(12, value, write=True, pc=0x5000)
    s.wait(12, "read")
    looks(s, 10, value if also_helper else value - 1, 1)


@scene
def counter_that_one_of_two_forgot():
    """The decoder counted its piece of work, the helper did not."""
    s = begin()
    s.thread(12, "helper", pid=10)
    s.wait(12, "read")
    for value in (2, 4, 6):
        count_up(s, value, True)
        rest(s, 10)
    count_up(s, 8, False)
    looks(s, 10, 7, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "LongWait"), "path": ["app", "app"],
                      "why": "without setting decoded in app; it was last set"}


@scene
def counter_that_is_too_small():
    """Both counted; which of them left out a piece of work is not known."""
    s = begin()
    s.thread(12, "helper", pid=10)
    s.wait(12, "read")
    for value in (2, 4, 6, 8):
        count_up(s, value, True)
        if value < 8:
            rest(s, 10)
    looks(s, 10, 8, 300)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"],
                      "why": "what was stored there meanwhile did not end the loop; it was last set"}


LOOP = (0x401000, 0x402000, 0x403000)


def turns(s, app, count, after=lambda: None):
    for _ in range(count):
        s.wait(app, "clock_nanosleep", timeout=True, frames=LOOP)
        s.for_ms(10)
        s.timer(app)
        after()


def held(s, app, engine, ms, traps=True):
    """The thread is stopped: by its own SIGTRAP, or by the process that steps it."""
    if traps:
        s.raw(app, f"signal_sent signal=5 thread={app}")
    s.raw(app, "switch state=T next=0")
    s.for_ms(ms)
    s.raw(engine, f"make_runnable thread={app} context=task")
    s._record(s.cpus[app], 0, f"switch state=R next={app}")


def stepped(name):
    """A loop that polls is stepped for most of the time, at first with a long stop."""
    s = begin(decoder=False)
    s.thread(50, name)
    s.wake(30, 10)
    turns(s, 10, 60)
    held(s, 10, 50, 150, traps=False)
    turns(s, 10, 150, lambda: held(s, 10, 50, 4))
    turns(s, 10, 60)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s


@scene
def loop_that_argus_stepped():
    """Its stops neither end nor split the loop, nor are its pauses meanwhile a sleep."""
    return stepped("step-engine"), "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"], "lasts_ms": 3450,
                                           "why": "polled and waited 270 times in a row", "uncertain": "Argus itself stopped the loop's thread to step it"}


@scene
def loop_that_a_debugger_stepped():
    """Another program's stops may be for any reason: the loop ends at the long one."""
    return stepped("debugger"), "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"], "lasts_ms": 591}
