"""The scenes and their expected diagnoses."""
from scene import Scene

SCENES = {}


def scene(function):
    SCENES[function.__name__] = function
    return function


def rounds(s, count, client, servers, gap=50):
    """Normal cases: the client asks along the chain of servers and gets its answer within 3 ms."""
    for _ in range(count):
        s.for_ms(gap)
        chain = [client] + servers
        for asker, asked in zip(chain, servers):
            s.wake(asker, asked)
            s.wait(asker, "read")
        s.for_ms(1)
        for asker, asked in reversed(list(zip(chain, servers))):
            s.wake(asked, asker)
            s.wait(asked, "read")
        s.sleep(client, 20)


def chain(s, *names):
    tids = [10 * (i + 1) for i in range(len(names))]
    for tid, name in zip(tids, names):
        s.thread(tid, name)
    for tid in tids[1:]:
        s.wait(tid, "read")
    return tids


@scene
def three_hops():
    """The last server is busy before the request, so no wake-up is needed for it."""
    s = Scene()
    client, front, middle, back = chain(s, "client", "front", "middle", "back")
    rounds(s, 5, client, [front, middle, back])
    s.wake(client, back)  # another request keeps it busy
    s.wake(client, front)
    s.wait(client, "read")
    s.wake(front, middle)
    s.wait(front, "read")
    s.send(middle)
    s.wait(middle, "read")
    s.for_ms(3000)
    s.wake(back, middle)
    s.wait(back, "read")
    s.wake(middle, front)
    s.wait(middle, "read")
    s.wake(front, client)
    s.wait(front, "read")
    s.sleep(client, 20)
    return s, "client", {"type": "LongWait", "root": ("back", "LongRunning"),
                         "path": ["client", "front", "middle", "back"]}


@scene
def timer_of_a_runtime():
    """A thread waits on a condition with a time-out, and the frozen thread waits for its next wake-up. They share memory, so each could
    have been waiting for the other. But no thread was to end the first wait."""
    s = Scene()
    s.thread(10, "runtime")
    s.thread(11, "sleeper", pid=10)
    s.wait(11, "read")
    for _ in range(5):
        s.for_ms(20)
        s.sleep(10, 20)
    s.wake(10, 11)
    s.wait(11, "futex", fd=0x7000, timeout=True)
    s.wait(10, "read", fd=6)
    s.for_ms(3000)
    s.timer(11)
    s.wake(11, 10)
    s.wait(11, "read")
    s.sleep(10, 20)
    return s, "runtime", {"type": "LongWait", "root": ("runtime", "LongWait"), "path": ["runtime", "runtime"], "cycle": set()}


@scene
def timer_in_a_set_of_descriptors():
    """A thread of a runtime has work for another one, which is parked until there is more. Then the first one waits on its epoll set until
    a timer is due, and wakes the other: they did not wait for each other."""
    s = Scene()
    s.thread(10, "runtime")
    s.thread(11, "worker", pid=10)
    s.wait(11, "read")
    for _ in range(5):
        s.sleep(10, 20)
        s.wake(10, 11)
        s.wait(10, "futex", fd=0x8000)
        s.for_ms(1)
        s.wake(11, 10, call="futex", result=0)
        s.wait(11, "read")
    s.wake(10, 11)
    s.wait(10, "epoll_wait", fd=4, timeout=True)
    s.wait(11, "futex", fd=0x7000)
    s.for_ms(3000)
    s.timer(10)
    s.wake(10, 11, call="futex", result=0)
    s.wait(11, "read")
    s.sleep(10, 20)
    return s, "runtime", {"type": "LongWait", "root": ("runtime", "LongWait"), "path": ["runtime"], "cycle": set()}


@scene
def mutex_holder_waits_for_daemon():
    s = Scene()
    s.thread(10, "app")
    s.thread(11, "saver", pid=10)
    s.thread(20, "daemon")
    s.wait(20, "read")
    s.wait(11, "futex", fd=0x7000)
    for _ in range(4):
        s.for_ms(30)
        s.wake(10, 11, call="futex")
        s.wait(10, "futex", fd=0x8000)
        s.for_ms(1)
        s.wake(11, 10, call="futex", result=0)
        s.wait(11, "futex", fd=0x7000)
    s.wake(10, 11, call="futex")
    s.wake(11, 20)
    s.wait(11, "read")
    s.wait(10, "futex", fd=0x8000)
    s.wait(20, "clock_nanosleep", timeout=True)
    s.for_ms(3000)
    s.timer(20)
    s.wake(20, 11)
    s.wait(20, "read")
    s.wake(11, 10, call="futex", result=0)
    s.wait(11, "futex", fd=0x7000)
    return s, "app", {"type": "LongWait", "root": ("daemon", "LongWait"), "path": ["app", "app", "daemon"]}


@scene
def yield_loop():
    s = Scene()
    s.thread(10, "app")
    s.thread(20, "bystander")
    s.wait(10, "poll")
    for _ in range(4):
        s.for_ms(30)
        s.wake(20, 10)
        s.wait(10, "poll")
    s.wake(20, 10)
    for _ in range(300):
        s.sleep(10, 10)
    s.wait(10, "poll")
    s.wake(20, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"]}


@scene
def yield_loop_in_pieces():
    """A program without an event loop. A lock in between belongs to no turn of the yield loop, and one sleep is longer than a turn may
    be."""
    s = Scene()
    s.thread(10, "app")
    s.thread(20, "bystander")
    s.at(500)
    for turn in range(300):
        s.sleep(10, 10 if turn != 200 else 80)
        if turn == 100:
            s.wait(10, "futex", fd=0x7000)
            s.for_ms(60)
            s.wake(20, 10, call="futex", result=0)
    s.wait(10, "read")
    s.for_ms(100)
    s.wake(20, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"], "lasts_ms": 3100}


@scene
def busy_after_a_timer():
    """The writer wakes the event loop, the loop arms a timer, the timer wakes it for the long run."""
    s = Scene()
    s.thread(10, "app")
    s.thread(20, "writer")
    s.wait(10, "poll")
    for _ in range(4):
        s.for_ms(30)
        s.wake(20, 10)
        s.wait(10, "poll")
    s.wait(20, "read")
    s.for_ms(500)
    s.thread(30, "editor")
    s.wake(30, 10)
    s.wait(10, "poll", timeout=True)
    s.for_ms(100)
    s.timer(10)
    s.for_ms(5000)
    s.wait(10, "poll")
    return s, "app", {"type": "LongRunning", "root": ("app", "LongRunning"), "path": ["app", "app", "editor"]}


@scene
def busy_with_a_lock_in_between():
    """As above, without the timer, but the long run waits for a lock once. The part after that wait is the longer one, but the writer still
    began it."""
    s, _, _ = busy_after_a_timer()
    s.thread(11, "helper", 10)
    s.wait(11, "futex")
    s.for_ms(500)
    s.wake(30, 10)
    s.for_ms(2000)
    s.wait(10, "futex")
    s.for_ms(300)
    s.wake(11, 10)
    s.for_ms(6500)
    s.wait(10, "poll")
    return s, "app", {"type": "LongRunning", "root": ("app", "LongRunning"), "path": ["app", "app", "editor"]}


@scene
def bystander_pesters_the_server():
    """The server polls many; the backend works for the client, the bystander wakes the server all the time."""
    s = Scene()
    client, server, back, bystander = 10, 20, 30, 40
    for tid, name in ((client, "client"), (server, "server"), (back, "back"), (bystander, "bystander")):
        s.thread(tid, name)
    s.wait(back, "read")
    s.wait(server, "poll")
    for _ in range(5):
        s.for_ms(10)
        s.wake(client, server)
        s.wait(client, "read")
        s.wake(server, back)
        s.wait(server, "poll")
        s.wake(back, server)
        s.wait(back, "read")
        s.wake(server, client)
        s.wait(server, "poll")
        s.sleep(bystander, 20)
        s.wake(bystander, server)
        s.wait(server, "poll")
    s.wake(client, server)
    s.wait(client, "read")
    s.wake(server, back)
    s.wait(server, "poll")
    for _ in range(100):
        s.sleep(bystander, 30)
        s.wake(bystander, server)
        s.wake(server, bystander) if bystander in s.calls else s.send(server)
        s.wait(server, "poll")
    s.wake(back, server)
    s.wait(back, "read")
    s.wake(server, client)
    s.wait(server, "poll")
    return s, "client", {"type": "LongWait", "root": ("back", "LongRunning"),
                         "path": ["client", "server", "back"], "only": {"back"}}


@scene
def stopped_server():
    s = Scene()
    client, server = chain(s, "client", "server")
    rounds(s, 5, client, [server])
    s.wake(client, server)
    s.wait(client, "read")
    s._record(s.cpus[server], server, "switch state=4 next=0")
    s.for_ms(3000)
    s.thread(50, "shell")
    s.signal(50, server)
    s._record(s.cpus[server], 0, f"switch state=R next={server}")
    s.wake(server, client)
    s.wait(server, "read")
    return s, "client", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["client", "server"]}


@scene
def client_that_is_stopped():
    """By the signal of a shell."""
    s = Scene()
    client, server = chain(s, "client", "server")
    rounds(s, 5, client, [server])
    s.thread(50, "shell")
    s._record(s.cpus[50], 50, f"signal_sent signal=19 thread={client} process=1 context=task")
    s._record(s.cpus[client], client, "switch state=4 next=0")
    s.for_ms(3000)
    s.signal(50, client)
    s._record(s.cpus[client], 0, f"switch state=R next={client}")
    s.wake(client, server)
    s.wait(client, "read")
    return s, "client", {"type": "LongWait", "root": ("client", "LongWait"), "path": ["client"], "summary": "was stopped by shell."}


def frozen_client(suspended):
    s = Scene()
    client, server = chain(s, "client", "server")
    rounds(s, 5, client, [server])
    s.thread(50, "shell")
    s._record(s.cpus[client], client, "switch state=0x8000 next=0")
    s.for_ms(3000)
    s.signal(50, client)
    s._record(s.cpus[client], 0, f"switch state=R next={client}")
    if suspended:
        s._record(s.cpus[50], 0, f"record id=0x60040004 arg1=3600000000000 arg2={s.now}")
    s.wake(client, server)
    s.wait(client, "read")
    return s


@scene
def client_whose_control_group_is_frozen():
    return frozen_client(False), "client", {"type": "LongWait", "root": ("client", "LongWait"), "path": ["client"],
                                            "summary": "was in a control group that was frozen, until shell let it go on."}


@scene
def client_of_a_machine_that_sleeps():
    return frozen_client(True), "client", {"type": "LongWait", "root": ("client", "LongWait"), "path": ["client"],
                                           "summary": "was stopped, probably because the machine went to sleep."}


@scene
def answer_found_while_pestered():
    """The backend answers while the server is busy with the bystander, so the answer wakes no thread."""
    s = Scene()
    client, server, back, bystander = 10, 20, 30, 40
    for tid, name in ((client, "client"), (server, "server"), (back, "back"), (bystander, "bystander")):
        s.thread(tid, name)
    s.wait(back, "read")
    s.wait(server, "poll")

    def pester():
        s.sleep(bystander, 20)
        s.wake(bystander, server)
        s.wait(bystander, "read")
        s.wake(server, bystander)

    for _ in range(6):
        s.wake(client, server)
        s.wait(client, "read")
        s.wake(server, back)
        s.wait(server, "poll")
        s.wake(back, server)
        s.wait(back, "read")
        s.wake(server, client)
        s.wait(server, "poll")
        for _ in range(3):
            pester()
            s.wait(server, "poll")
    s.wake(client, server)
    s.wait(client, "read")
    s.wake(server, back)
    s.wait(server, "poll")
    for _ in range(120):
        pester()
        s.wait(server, "poll")
    pester()
    s.send(back)
    s.wait(back, "read")
    s.wake(server, client)
    s.wait(server, "poll")
    return s, "client", {"type": "LongWait", "root": ("back", "LongRunning"), "path": ["client", "server", "back"],
                         "only": {"back"}}


@scene
def slow_by_many_requests():
    """The server asks the store repeatedly; each answer takes a sleep. That is no yield loop: it wakes the server."""
    s = Scene()
    client, server, store = chain(s, "client", "server", "store")
    for requests in (1, 1, 1, 1, 120):
        s.for_ms(30)
        s.wake(client, server)
        s.wait(client, "read")
        for _ in range(requests):
            s.wake(server, store)
            s.wait(server, "read")
            s.sleep(store, 25)
            s.wake(store, server)
            s.wait(store, "read")
        s.wake(server, client)
        s.wait(server, "read")
    return s, "client", {"type": "LongWait", "root": ("store", "LongWait"), "path": ["client", "server", "store"]}


@scene
def joined_thread_is_busy():
    s = Scene()
    s.thread(10, "app")
    s.wait(10, "futex", fd=0x7000)
    s.thread(11, "worker", pid=10)
    s.wake(11, 10, call="futex", result=0)
    s.for_ms(500)
    s.wait(10, "futex", fd=0x9000)
    s.for_ms(3000)
    s.wake(11, 10, call="futex", result=0)
    s.for_ms(100)
    s.wait(10, "read")
    return s, "app", {"type": "LongWait", "root": ("app", "LongRunning"), "path": ["app", "app"]}


@scene
def two_who_may_have_answered():
    """Both servers have ended such a wait before, and both are busy now: Argus has to ask which one is meant."""
    s = Scene()
    client, alpha, beta = chain(s, "client", "alpha", "beta")
    for _ in range(2):
        for server in (alpha, beta):
            s.wake(client, server)
            s.wait(client, "poll", timeout=True)
            s.for_ms(5)
            s.wake(server, client)
            s.wait(server, "read")
            s.sleep(client, 30)
    for server in (alpha, beta):
        s.wake(client, server)
        s.sleep(client, 30)
    s.send(client)
    s.wait(client, "poll", timeout=True)
    s.for_ms(4000)
    s.timer(client)
    return s, "client", {"type": "LongWait", "root": ("beta", "LongRunning"), "path": ["client", "beta"],
                         "answers": {("1",): "beta", ("2",): "alpha", ("9",): "beta"}}


@scene
def answer_that_is_forgotten():
    """The server receives the last request as it received the others, but returns to its idle wait without an answer."""
    s = Scene()
    a, b = chain(s, "ask", "serve")
    rounds(s, 5, a, [b])
    s.wake(a, b)
    s.wait(a, "recvfrom", timeout=True)
    s.for_ms(1)
    s.wait(b, "read")
    s.for_ms(4000)
    s.timer(a)
    s.wake(a, b)
    s.wait(a, "read")
    s.for_ms(1)
    s.wake(b, a)
    s.wait(b, "read")
    s.sleep(a, 20)
    return s, "ask", {"type": "LongWait", "root": ("serve", "LongWait"), "only": {"serve"}, "path": ["ask", "serve"]}


@scene
def request_that_is_passed_on():
    """The broker is in its normal idle wait: it has passed the request on, and the process that received it is busy."""
    s = Scene()
    a, b, c = chain(s, "ask", "broker", "work")
    for _ in range(5):
        s.for_ms(50)
        s.wake(a, b)
        s.wait(a, "recvfrom")
        s.wake(b, c)
        s.wait(b, "read")
        s.for_ms(1)
        s.wake(c, b)
        s.wait(c, "read")
        s.wake(b, a)
        s.wait(b, "read")
    s.wake(a, b)
    s.wait(a, "recvfrom", timeout=True)
    s.wake(b, c)
    s.wait(b, "read")
    s.for_ms(4000)
    s.timer(a)
    s.for_ms(100)
    s.wake(c, b)
    s.wait(c, "read")
    s.wait(b, "read")
    s.sleep(a, 20)
    return s, "ask", {"type": "LongWait", "root": ("work", "LongRunning"), "only": {"work"}, "path": ["ask", "broker", "work"]}


@scene
def server_waits_for_the_next_client():
    """The server has accepted the connection, read the request, and is back in accept(), for only the second time: no circular wait."""
    s = Scene()
    s.thread(10, "client")
    s.thread(20, "server")
    s.wait(20, "accept4")
    for _ in range(5):
        s.sleep(10, 20)
    s.wake(10, 20)
    s.wait(10, "read")
    s.wake(20, 10)
    s.wait(20, "read")
    s.wake(10, 20)
    s.wait(10, "read")
    s.wait(20, "accept4")
    s.for_ms(3000)
    s.thread(90, "idler")
    return s, "client", {"type": "LongWait", "root": ("server", "LongWait"), "path": ["client", "server"]}


@scene
def worker_that_had_dealings():
    """The frozen thread waits for an answer from another program. A worker that had exchanged messages with it is in a poll since before
    that wait. The worker rarely is in that poll, but was never asked: no circular wait, and the worker is no culprit."""
    s = Scene()
    s.thread(10, "app")
    s.thread(11, "worker", pid=10)
    s.wait(11, "read")
    for turn in range(4):
        s.sleep(10, 20)
        s.wake(10, 11)
        s.wait(10, "futex", fd=0x7000)
        s.wake(11, 10, call="futex", result=0)
        s.wait(11, "read") if turn < 3 else s.wait(11, "poll", fd=77)
    for fd in range(20, 26):
        s.wait(10, "recvfrom", fd=fd, timeout=True)
        s.for_ms(20)
        s.timer(10)
        s.sleep(10, 20)
    s.wait(10, "recvfrom", fd=9)
    s.for_ms(3000)
    s.thread(90, "idler")
    return s, "app", {"type": "LongWait", "root": ("app", "LongWait"), "path": ["app"], "cycle": set()}


def flag_loop(watched):
    """A loop that polls a flag; the thread that sets it was busy."""
    s = Scene()
    s.thread(10, "app")
    s.thread(11, "loader", pid=10)
    s.thread(20, "bystander")
    s.wait(11, "futex", fd=0x7000)
    s.wait(10, "poll")
    for _ in range(4):
        s.for_ms(30)
        s.wake(20, 10)
        s.wait(10, "poll")
    s.wake(20, 10)
    s.wake(10, 11, call="futex", result=0)
    for _ in range(300):
        s.sleep(10, 10)
    if watched:
        s.flag(11, 1, write=True)
        s.flag(10, 1)
    s.wait(11, "futex", fd=0x7000)
    s.wait(10, "poll")
    s.wake(20, 10)
    return s


@scene
def flag_that_nobody_watched():
    return flag_loop(False), "app", {"type": "RepeatedYield", "root": ("app", "RepeatedYield"), "path": ["app"]}


@scene
def flag_that_was_watched():
    return flag_loop(True), "app", {"type": "RepeatedYield", "root": ("app", "LongRunning"), "path": ["app", "app"]}


@scene
def flag_that_was_not_set():
    """The listener sets the flag when the server answers. This time the server received the request and returned to its idle wait."""
    s = Scene()
    s.thread(10, "app")
    s.thread(11, "listener", pid=10)
    s.thread(20, "server")
    s.thread(30, "typist")
    s.wait(11, "recvfrom")
    s.wait(20, "read")
    s.wait(10, "poll")
    for value in (1, 2, 3):
        s.wake(30, 10)
        s.wake(10, 20)
        s.wait(10, "clock_nanosleep", timeout=True)
        s.for_ms(2)
        s.wake(20, 11)
        s.wait(20, "read")
        s.flag(11, value, write=True)
        s.wait(11, "recvfrom")
        s.for_ms(8)
        s.timer(10)
        s.flag(10, value)
        s.wait(10, "poll")
        s.for_ms(50)
    s.wake(30, 10)
    s.wake(10, 20)
    s.wait(20, "read")
    for _ in range(300):
        s.sleep(10, 10)
        s.flag(10, 3)
    s.wait(10, "poll")
    s.wake(30, 10)
    return s, "app", {"type": "RepeatedYield", "root": ("server", "LongWait"), "only": {"server"},
                      "path": ["app", "app", "server"]}
