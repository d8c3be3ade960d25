"""Peculiarities of macOS, one scene for each: servers that batch, WindowServer, replies, vouchers, files, run loops, timers, and the
additional records of a patched kernel. The records are those that such a kernel writes."""
import darwin_scene as darwin

COPY_SEND, SEND_ONCE, ASKS = 19, 18, 0x1513  # mach/message.h: remote: a send right; send-once; a send right and a reply port


def ask(remote, local=0x707, size=128):
    return f"mach_msg2_start options=3 bits={ASKS} size={size} remote={remote:#x} local={local:#x}", ("trap", 47, 0)


def answer_and_receive(remote, size=64):
    """A server's only call: it replies, and receives the next request."""
    return f"mach_msg2_start options=3 bits={SEND_ONCE} size={size} remote={remote:#x}", ("trap", 47, 0)


def answer(remote, size=64):
    return f"mach_msg2_start options=1 bits={SEND_ONCE} size={size} remote={remote:#x}", ("trap", 47, 0)


def send(remote, size=128):
    return f"mach_msg2_start options=1 bits={COPY_SEND} size={size} remote={remote:#x}", ("trap", 47, 0)


class Scene(darwin.Scene):
    """`ids`: the kernel records the ID of each message, as on an Intel Mac."""

    def __init__(self, ids):
        super().__init__()
        self.ids, self.last = ids, 0x900

    def home(self, *threads):
        for thread in threads:
            self.block(thread, darwin.receive())

    def new_message(self):
        self.last += 1
        return self.last

    def sent(self, tid, message, voucher=0):
        if self.ids:
            self.say(tid, f"msg_send message={message:#x} id=7 voucher={voucher:#x}")

    def received(self, tid, message, voucher=0):
        if self.ids:
            self.say(tid, f"msg_recv message={message:#x} id=7 voucher={voucher:#x}")

    def sleeps(self, tid, state=1):
        """Within the call that has begun. `state`: the bits of osfmk/kern/thread.h, TH_WAIT …"""
        self.say(tid, "mach_block")
        self.say(tid, "mach_sched next=0")
        self.say(tid, f"mach_dispatch thread={tid} state={state}", on=0)

    def runs(self, tid):
        self.say(tid, f"mach_sched next={tid}", on=0)

    def device(self, tid):
        """A device wakes a thread in its event loop's own wait."""
        for text in ("interrupt_start", f"mach_wake thread={tid}", "interrupt_end"):
            self.say(tid, text, on=0)
        self.runs(tid)
        self.end(tid)

    def work(self, ms):
        self.now += int(ms * 1_000_000)

    def request(self, client, port, server=None, voucher=0):
        """The client has been woken, and sends a request; `server`: the thread that it wakes. Returns the ID of the message."""
        self.device(client)
        self.begin(client, ask(port))
        message = self.new_message()
        self.sent(client, message, voucher)
        if server:
            self.wakes(client, server)
        self.sleeps(client)
        return message

    def gets_answer(self, client, message):
        self.runs(client)
        self.received(client, message)
        self.end(client)
        self.home(client)


class Batching(Scene):
    """fontd's dispatch_mig_server(): one call replies to one client and receives the next request, without a wait (section 3.1)."""

    port = 0x501

    def __init__(self, ids):
        super().__init__(ids)
        self.process(100, "alpha")
        self.alpha = self.thread(1001)
        self.process(200, "beta")
        self.beta = self.thread(2001)
        self.process(300, "fontd")
        self.server = self.thread(3001)
        self.home(self.alpha, self.beta, self.server)

    def alone(self, client, port, reply):
        """A single request; it shows the client to which the port belongs."""
        asked = self.request(client, port, self.server)
        self.runs(self.server)
        self.received(self.server, asked)
        self.end(self.server)
        self.begin(self.server, answer_and_receive(reply))
        answered = self.new_message()
        self.sent(self.server, answered)
        self.wakes(self.server, client)
        self.sleeps(self.server)
        self.gets_answer(client, answered)

    def both(self):
        """beta's request arrives while fontd works for alpha. It wakes no thread, and beta does not continue before fontd waits."""
        first = self.request(self.alpha, self.port, self.server)
        second = self.request(self.beta, 0x601)
        self.runs(self.server)
        self.received(self.server, first)
        self.end(self.server)
        self.work(1)
        self.begin(self.server, answer_and_receive(0x1703))
        first_answer, second_answer = self.new_message(), self.new_message()
        self.sent(self.server, first_answer)
        self.wakes(self.server, self.alpha)
        self.received(self.server, second)
        self.end(self.server)
        self.work(2)
        self.begin(self.server, answer_and_receive(0x1803))
        self.sent(self.server, second_answer)
        self.wakes(self.server, self.beta)
        self.sleeps(self.server)
        self.gets_answer(self.alpha, first_answer)
        self.gets_answer(self.beta, second_answer)


class WindowServer(Scene):
    """Its event loop sends the pending messages of the previous client in the call that receives from the next one: section 3.1, _gOutMsg.
    There are three clients in one wake-up."""

    def __init__(self, ids):
        super().__init__(ids)
        self.process(88, "WindowServer")
        self.server = self.thread(880)
        self.clients = []
        for number, name in enumerate(("Finder", "Mail", "Music")):
            self.process(400 + number, name)
            self.clients.append(self.thread(4000 + 10 * number))
        self.home(self.server, *self.clients)

    def turn(self):
        requests = [self.request(client, 0x501 + number, None if number else self.server)
                    for number, client in enumerate(self.clients)]
        self.runs(self.server)
        self.received(self.server, requests[0])
        self.end(self.server)
        answers = []
        for number, client in enumerate(self.clients):
            self.work(1 + number)
            self.begin(self.server, answer_and_receive(0x1703 + number))
            answers.append(self.new_message())
            self.sent(self.server, answers[-1])
            self.wakes(self.server, client)
            if number + 1 < len(self.clients):
                self.received(self.server, requests[number + 1])
                self.end(self.server)
            else:
                self.sleeps(self.server)
        for client, message in zip(self.clients, answers):
            self.gets_answer(client, message)


class Answers(Scene):
    """A server replies before the client waits. Then the name of the send-once right leads nowhere, and another client may have used that
    name before."""

    def __init__(self):
        super().__init__(False)
        self.process(100, "alpha")
        self.alpha = self.thread(1001)
        self.process(200, "beta")
        self.beta = self.thread(2001)
        self.process(300, "server")
        self.server = self.thread(3001)
        self.home(self.alpha, self.beta, self.server)

    def slow(self, client, port, reply):
        """The usual case: the reply wakes the client."""
        self.request(client, port, self.server)
        self.runs(self.server)
        self.end(self.server)
        self.begin(self.server, answer(reply))
        self.wakes(self.server, client)
        self.end(self.server)
        self.home(self.server)
        self.gets_answer(client, 0)

    def fast(self, client, port, reply):
        """The client is preempted in its call, the server replies at once, and the client never waits."""
        self.device(client)
        self.begin(client, ask(port))
        self.wakes(client, self.server)
        self.say(client, "mach_sched reason=1 next=0")
        self.say(client, f"mach_dispatch thread={client} state=4", on=0)
        self.runs(self.server)
        self.end(self.server)
        self.begin(self.server, answer(reply))
        self.end(self.server)
        self.home(self.server)
        self.runs(client)
        self.end(client)
        self.home(client)

    def meanwhile(self, client, port, reply, other, client_port):
        """While the client waits for its reply the other one sends it a message, which it receives afterwards."""
        self.request(client, port, self.server)
        self.device(other)
        self.begin(other, send(client_port))
        self.end(other)
        self.home(other)
        self.runs(self.server)
        self.end(self.server)
        self.begin(self.server, answer(reply))
        self.wakes(self.server, client)
        self.end(self.server)
        self.home(self.server)
        self.runs(client)
        self.end(client)
        self.work(1)
        self.begin(client, darwin.receive())
        self.end(client)
        self.home(client)

    def tells(self, sender, receiver, port):
        """A message to a port of the receiver; if no thread is woken, the receiver is unknown."""
        self.device(sender)
        self.begin(sender, send(port))
        if receiver:
            self.wakes(sender, receiver)
        self.end(sender)
        self.home(sender)
        if receiver:
            self.runs(receiver)
            self.end(receiver)
            self.home(receiver)


class Vouchers(Scene):
    """A broker sends requests to a database on behalf of two clients; every message carries its client's voucher. `contents`: the kernel
    records the contents of vouchers, and the broker makes new vouchers from those that it gets."""

    of_alpha, of_beta, second_of_alpha = 0xa1, 0xb1, 0xa2

    def __init__(self, contents=False, patched=False):
        super().__init__(True)
        self.contents, self.patched = contents, patched
        self.process(100, "alpha")
        self.alpha = self.thread(1001)
        self.process(200, "beta")
        self.beta = self.thread(2001)
        self.process(300, "broker")
        self.broker, self.helper = self.thread(3001), self.thread(3002)
        self.process(400, "database")
        self.database = self.thread(4001)
        self.home(self.alpha, self.beta, self.broker, self.database, self.helper)

    def creates(self, tid, voucher, originator=0):
        if self.patched:  # xnu-patch/tracepoints.md: voucher_made
            self.say(tid, f"record id=0x60170004 arg1={voucher:#x} arg2={originator} arg3={originator} arg4=-1")
            return
        text = f"Bank Account linking holder pid 300 with merchant pid 300, originator PID/persona: {originator}, 0 and".encode()
        text = (b"\3\0\0\0\1\0\0\0\0\0\0\0\xf4\1\0\0 " + text) if originator else b""
        self.say(tid, f"record id=0x0120001c arg1={voucher:#x} arg2=9 arg3={len(text)}")
        for at in range(0, len(text), 32):
            piece = text[at:at + 32].ljust(32, b"\0")
            words = [int.from_bytes(piece[i:i + 8], "little") for i in range(0, 32, 8)]
            self.say(tid, "record id=0x01200020 " + " ".join(f"arg{i + 1}={word:#x}" for i, word in enumerate(words)))

    def one_way(self, sender, receiver, port, voucher):
        """A message that wakes its receiver."""
        self.begin(sender, send(port))
        message = self.new_message()
        self.sent(sender, message, voucher)
        self.wakes(sender, receiver)
        self.end(sender)
        return message

    def interleaved(self):
        """Two requests arrive in one wake-up; the broker then sends the database a request for beta first, and one for alpha afterwards."""
        self.creates(self.alpha, self.of_alpha)
        self.creates(self.beta, self.of_beta)
        self.device(self.alpha)
        first = self.one_way(self.alpha, self.broker, 0x501, self.of_alpha)
        self.home(self.alpha)
        self.device(self.beta)
        self.begin(self.beta, send(0x501))
        second = self.new_message()
        self.sent(self.beta, second, self.of_beta)
        self.end(self.beta)
        self.home(self.beta)
        self.runs(self.broker)
        self.received(self.broker, first, self.of_alpha)
        self.end(self.broker)
        self.begin(self.broker, darwin.receive())
        self.received(self.broker, second, self.of_beta)
        self.end(self.broker)
        self.work(1)
        told = self.one_way(self.broker, self.database, 0x601, self.of_beta)
        self.runs(self.database)
        self.received(self.database, told, self.of_beta)
        self.end(self.database)
        self.work(1)
        self.home(self.database)
        voucher = self.of_alpha
        if self.contents:
            voucher = self.second_of_alpha
            self.creates(self.broker, voucher, 100)
        told = self.one_way(self.broker, self.database, 0x601, voucher)
        self.home(self.broker)
        self.runs(self.database)
        self.received(self.database, told, voucher)
        self.end(self.database)
        self.work(1)
        self.home(self.database)

    def redeemed(self):
        """The database gets a new voucher, whose contents tell more than the sender: it belongs to beta's work. So the database's next
        message, and beta's message to the database, belong to the same work."""
        self.device(self.broker)
        message = self.one_way(self.broker, self.database, 0x601, 0xc1)
        self.home(self.broker)
        self.device(self.beta)
        self.begin(self.beta, send(0x801))
        second = self.new_message()
        self.sent(self.beta, second)
        self.end(self.beta)
        self.home(self.beta)
        self.runs(self.database)
        self.creates(self.database, 0xc2, 200)
        self.received(self.database, message, 0xc2)
        self.end(self.database)
        self.begin(self.database, send(0x701))
        third = self.new_message()
        self.sent(self.database, third)
        self.wakes(self.database, self.helper)
        self.end(self.database)
        self.begin(self.database, darwin.receive())
        self.received(self.database, second)
        self.end(self.database)
        self.home(self.database)
        self.runs(self.helper)
        self.received(self.helper, third)
        self.end(self.helper)
        self.home(self.helper)

    def adopted_again(self):
        """A thread that adopts its own voucher again has no cause."""
        self.device(self.helper)
        self.say(self.helper, f"record id=0x01200008 arg1={self.helper} arg2=0 arg3=0")
        self.home(self.helper)
        self.device(self.helper)
        self.say(self.helper, f"record id=0x01200008 arg1={self.helper} arg2=0x903 arg3={self.of_alpha:#x}")
        self.home(self.helper)

    def handed_on(self):
        """The broker leaves work to its own helper thread. No item of libdispatch is recorded, but the helper adopts the voucher."""
        self.device(self.alpha)
        message = self.one_way(self.alpha, self.broker, 0x501, self.of_alpha)
        self.home(self.alpha)
        self.runs(self.broker)
        self.received(self.broker, message, self.of_alpha)
        self.end(self.broker)
        self.say(self.broker, f"record id=0x01200008 arg1={self.broker} arg2=0x903 arg3={self.of_alpha:#x}")
        self.work(1)
        self.device(self.helper)
        self.say(self.helper, f"record id=0x01200008 arg1={self.helper} arg2=0x903 arg3={self.of_alpha:#x}")
        self.work(1)
        self.home(self.helper)
        self.home(self.broker)


class Cursor(Scene):
    """An application whose main thread waits for authd (section 6.2, Installer), and whose event thread makes the cursor spin."""

    def __init__(self):
        super().__init__(False)
        self.process(88, "WindowServer")
        self.server = self.thread(880)
        self.process(500, "Installer")
        self.main, self.events = self.thread(5001), self.thread(5002, "NSEvent")
        self.process(600, "authd")
        self.authd = self.thread(6001)
        self.tables.append('probe 65536 1 spinning shape note symbol CGSConnectionSetSpinning library CoreGraphics')
        self.home(self.server, self.main, self.events, self.authd)

    def event(self):
        self.device(self.server)
        self.begin(self.server, send(0x501))
        self.wakes(self.server, self.events)
        self.end(self.server)
        self.home(self.server)
        self.runs(self.events)
        self.end(self.events)
        self.begin(self.events, send(0x601))
        self.wakes(self.events, self.main)
        self.end(self.events)
        self.runs(self.main)
        self.end(self.main)

    def spins(self, on):
        self.say(self.events, f"record id=0x60030018 arg1=0x77 arg3=65536 arg4={on}")

    def hang(self, wait_ms, told=True):
        self.event()
        self.home(self.events)
        self.begin(self.main, ask(0x701))
        self.wakes(self.main, self.authd)
        self.sleeps(self.main)
        self.runs(self.authd)
        self.end(self.authd)
        self.work(wait_ms / 2)
        if told:
            self.device(self.events)
            self.spins(1)
            self.home(self.events)
        self.work(wait_ms / 2)
        self.begin(self.authd, answer_and_receive(0x1703))
        self.wakes(self.authd, self.main)
        self.sleeps(self.authd)
        self.runs(self.main)
        self.end(self.main)
        if told:
            self.device(self.events)
            self.spins(0)
            self.home(self.events)
        self.home(self.main)


class RunLoop(Scene):
    """CFRunLoop by the hooks of share/hooks/macos/CoreFoundation.conf: each callout is a vertex, caused by the thread that requested it."""

    KINDS = {"observer": 0x71, "timer": 0x72, "source 0": 0x73, "block": 0x74}

    def __init__(self):
        super().__init__(False)
        self.process(500, "Preview")
        self.main, self.worker = self.thread(5001), self.thread(5002)
        self.numbers = {}
        for space, kind in enumerate(self.KINDS, 1):
            for shape in ("queue", "begin"):
                number = 65536 + 2 * space + (shape == "begin")
                self.numbers[kind, shape] = number
                self.tables.append(f'probe {number} {space} "run loop {kind}" shape {shape}')
        self.tables.append('probe 65600 9 "run loop" shape turn')
        self.home(self.main, self.worker)

    def asks_for(self, tid, kind):
        self.say(tid, f"callback_queued key={self.KINDS[kind]:#x} probe={self.numbers[kind, 'queue']}")

    def turn(self, *kinds):
        """The loop runs these callouts one after the other, and waits again."""
        for kind in kinds:
            self.say(self.main, f"callback_start key={self.KINDS[kind]:#x} probe={self.numbers[kind, 'begin']} sp=0x7000")
            self.work(1)
            self.say(self.main, "callback_end probe=65600 sp=0x7100")
        self.home(self.main)


class Timers(Scene):
    """A kernel timer wakes a worker (mach_wait_until); the worker also requests thread calls, by their ID. `patched`: with xnu-patch."""

    call = 0xca11

    def __init__(self):
        super().__init__(False)
        self.process(1, "kernel_task", kernel=True)
        self.daemon = self.thread(10)
        self.process(500, "player")
        self.worker, self.other = self.thread(5001), self.thread(5002)
        self.block(self.daemon, ("trap_start nr=26", ("trap", 26, 0)))
        self.home(self.worker, self.other)

    def fires_for(self, timer, tid, result=0, cpu_of=None):
        """The timer's interrupt, on the cpu of `cpu_of`."""
        cpu_of = cpu_of or tid
        for text in ("interrupt_start arg4=2", f"timer_fired_start timer={timer:#x}", f"mach_wake thread={tid} result={result}",
                     f"timer_fired_end timer={timer:#x}", "interrupt_end"):
            self.say(cpu_of, text, on=0)

    def armed_for_another(self):
        """The worker arms a timer. When it fires, it wakes a kernel thread, which wakes the other thread."""
        self.device(self.worker)
        self.say(self.worker, f"timer_enter_start timer={self.call:#x} deadline={int(self.now + 5e6)}")
        self.say(self.worker, f"timer_enter_end timer={self.call:#x}")
        self.home(self.worker)
        self.work(5)
        self.fires_for(self.call, self.daemon)
        self.runs(self.daemon)
        self.say(self.daemon, "record id=0x01400011 arg1=0xf00")
        self.wakes(self.daemon, self.other)
        self.say(self.daemon, "record id=0x01400012 arg1=0xf00")
        self.sleeps(self.daemon)
        self.runs(self.other)
        self.end(self.other)
        self.home(self.other)

    def patched(self):
        """The same as a thread call, which a patched kernel records: queued, queued again by its timer, run."""
        self.device(self.worker)
        self.say(self.worker, f"record id=0x60140004 arg1={self.call:#x} arg2=0xf00 arg3={int(self.now + 5e6)}")
        self.home(self.worker)
        self.work(5)
        self.device(self.other)  # the timer interrupts this thread
        self.say(self.other, "interrupt_start arg4=2")
        self.say(self.other, f"record id=0x60140004 arg1={self.call:#x} arg2=0xf00")
        self.say(self.other, f"mach_wake thread={self.daemon}")
        self.say(self.other, "interrupt_end")
        self.home(self.other)
        self.runs(self.daemon)
        self.say(self.daemon, f"record id=0x6014000d arg1={self.call:#x} arg2=0xf00")
        self.wakes(self.daemon, self.other)
        self.say(self.daemon, f"record id=0x6014000e arg1={self.call:#x} arg2=0xf00")
        self.sleeps(self.daemon)
        self.runs(self.other)
        self.end(self.other)
        self.home(self.other)

    def parked(self):
        """A parked worker thread is woken from its park call."""
        self.device(self.worker)
        self.block(self.worker, ("syscall_start nr=368 arg1=4", ("bsd", 368, 500)))
        self.device(self.other)
        self.say(self.other, f"mach_wake thread={self.worker} result=2")
        self.home(self.other)
        self.runs(self.worker)
        self.end(self.worker)
        self.home(self.worker)

    def wakes_by(self, how=None, result=0, due=False):
        """The worker wakes the other thread, and a patched kernel records the reason; by clear_wait() if `how` is 4."""
        self.device(self.worker)
        if how is not None:
            self.say(self.worker, f"record id=0x60110008 arg1={self.other} arg2=0x55 arg4={how}")
        if due:
            self.say(self.worker, f"record id=0x60160008 arg1=2 arg3={self.other}")
        self.say(self.worker, f"mach_wake thread={self.other} result={result}")
        self.home(self.worker)
        self.runs(self.other)
        self.end(self.other)
        self.home(self.other)


class Files(Scene):
    """A thread opens a file, and waits for the disk in that call, before or after the record of the lookup."""

    def __init__(self):
        super().__init__(False)
        self.process(500, "Preview")
        self.main = self.thread(5001)
        self.home(self.main)

    def looks_up(self, path):
        """As bsd/vfs/vfs_lookup.c:2130 does."""
        data = path.encode()
        pieces = [data[:24]] + [data[i:i + 32] for i in range(24, len(data), 32)]
        for number, piece in enumerate(pieces):
            func = (1 if number == 0 else 0) | (2 if number == len(pieces) - 1 else 0)
            words = [0xabc] if number == 0 else []
            piece = piece.ljust(24 if number == 0 else 32, b"\0")
            words += [int.from_bytes(piece[i:i + 8], "little") for i in range(0, len(piece), 8)]
            self.say(self.main, f"record id={0x03010090 | func:#x} " + " ".join(f"arg{i + 1}={word:#x}" for i, word in enumerate(words)))

    def opens(self, path, before):
        self.device(self.main)
        self.begin(self.main, ("syscall_start nr=5 arg1=0x1000", ("bsd", 5, 500)))
        if before:
            self.looks_up(path)
        self.sleeps(self.main)
        self.work(20)
        for text in ("interrupt_start", f"mach_wake thread={self.main}", "interrupt_end"):
            self.say(self.main, text, on=0)
        self.runs(self.main)
        if not before:
            self.looks_up(path)
        self.end(self.main)
        self.home(self.main)
