"""Waits for other machines: the address of the other end, and whether it answered."""
from scene import Scene
from scenes import scene

NAME_SERVER = "address=0x0200630a port=53 own_port=40000 protocol=17 version=4"  # 10.99.0.2
STATISTICS = "address=0x0100007f port=8125 own_port=40002 protocol=17 version=4"  # 127.0.0.1
DATABASE = "address=0x0200630a port=5432 own_port=40001 protocol=6 version=4"
GROUP = "address=0xfaffffef port=1900 own_port=40003 protocol=17 version=4"  # 239.255.255.250


def editor():
    s = Scene()
    s.thread(10, "editor")
    s.thread(90, "bystander")
    for _ in range(3):
        s.sleep(10, 20)
    return s


def asks(s, inode, remote, kind):
    """Sends a request through a socket; `remote` is recorded with it."""
    s._record(s.cpus[10], 10, "syscall_start nr=sendto arg1=6")
    s._record(s.cpus[10], 10, f"message channel=99 kind={kind} flags=sent bytes=40 position=1 other={inode}")
    s._record(s.cpus[10], 10, f"remote inode={inode} {remote}")
    s._record(s.cpus[10], 10, "syscall_end nr=sendto result=40")


def packet_comes(s):
    """The network wakes the editor, from a softirq."""
    s._record(s.cpus[90], 90, "softirq_start vector=net_rx")
    s._record(s.cpus[90], 90, "make_runnable thread=10 context=softirq")
    s._record(s.cpus[90], 90, "softirq_end vector=net_rx")
    s._comes_back(10, 1)


def waits_for_a_hanging_partner(s, remote, partner=90):
    """After a packet that nobody answers, a poll for a thread that had woken the editor several times and waits itself."""
    for _ in range(4):
        s.wait(10, "read", inode=400, mode="fifo")
        s.for_ms(2)
        s.wake(partner, 10)
        s.for_ms(1)
    asks(s, 70, remote, "udp")
    s.wait(10, "poll", timeout=True)
    s.wait(partner, "read", inode=500, mode="fifo")
    s.for_ms(3000)
    s.timer(10)
    s.sleep(10, 10)


@scene
def silent_name_server():
    """A resolver asks and polls, in vain. An earlier request of it went elsewhere."""
    s = editor()
    asks(s, 71, DATABASE, "tcp")
    asks(s, 70, NAME_SERVER, "udp")
    s.wait(10, "poll", timeout=True)
    s.for_ms(3000)
    s.timer(10)
    s.sleep(10, 10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "10.99.0.2:53 (UDP) did not answer", "remote": ("10.99.0.2", 53, "UDP", False)}


@scene
def silent_name_server_beside_a_partner():
    """A thread that had woken the editor several times before waits for something meanwhile, too."""
    s = editor()
    waits_for_a_hanging_partner(s, NAME_SERVER)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "10.99.0.2:53 (UDP) did not answer", "remote": ("10.99.0.2", 53, "UDP", False)}


@scene
def packet_to_this_machine_before_a_wait():
    """Statistics of which nobody expects an answer, to a process of this machine."""
    s = editor()
    s.thread(20, "partner")
    waits_for_a_hanging_partner(s, STATISTICS, 20)
    return s, "editor", {"type": "LongWait", "root": ("partner", "LongWait"), "remote": None}


@scene
def announcement_before_a_wait():
    """Packets to a group of machines (239.255.255.250, as of SSDP) tell them something, and ask nobody."""
    s = editor()
    asks(s, 70, GROUP, "udp")
    s.wait(10, "poll", timeout=True)
    s.for_ms(3000)
    s.timer(10)
    s.sleep(10, 10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "remote": None}


@scene
def packet_before_a_wait_for_a_child():
    """Statistics go to another machine; then the output of a child that was just started is polled, and the child hangs."""
    s = editor()
    s.raw(10, "new_thread thread=20 pid=20 new_process=1 parent=10")
    s.raw(10, 'name_new name="child"')
    s.thread(20, "child", parent=10)
    asks(s, 70, NAME_SERVER, "udp")
    s.wait(10, "poll", timeout=True)
    s.wait(20, "read", inode=500, mode="fifo")
    s.for_ms(3000)
    s.timer(10)
    s.sleep(10, 10)
    return s, "editor", {"type": "LongWait", "root": ("child", "LongWait"), "remote": None}


@scene
def silent_name_server_of_a_child():
    """The parent sees by a pipe that the child runs its program, and waits for its end. That is no request, and no circle."""
    s = Scene()
    s.thread(20, "parent")
    s.thread(10, "editor", parent=20)
    s.wait(20, "read", fd=3, inode=300, mode="fifo")
    s.for_ms(5)
    s.wake(10, 20, call="close", result=0)
    s.wait(20, "poll", fd=4)
    s.for_ms(1)
    asks(s, 70, NAME_SERVER, "udp")
    s.wait(10, "poll", timeout=True)
    s.for_ms(3000)
    s.timer(10)
    s.sleep(10, 10)
    s.exit(10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "10.99.0.2:53 (UDP) did not answer", "remote": ("10.99.0.2", 53, "UDP", False)}


@scene
def parent_that_a_child_asked_through_memory():
    """A wake-up of a futex in shared memory is a request, also to the parent."""
    s = Scene()
    s.thread(20, "parent")
    s.thread(10, "editor", parent=20)
    s.wait(20, "futex", condition=True)
    s.for_ms(5)
    s.wake(10, 20, call="futex", result=0)
    s.wait(10, "read", inode=300)
    s.for_ms(3000)
    s.wait(20, "futex")
    s.for_ms(10)
    return s, "editor", {"type": "LongWait", "root": ("parent", "LongRunning")}


@scene
def silent_server_at_the_end():
    """A call on the socket, which the end of the recording cuts off."""
    s = editor()
    s.wait(10, "recvfrom", fd=6, inode=71, mode="socket family=2 socktype=1")
    s._record(s.cpus[10], 10, f"remote inode=71 {DATABASE}")
    s.for_ms(3000)
    s.sleep(90, 10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "(recvfrom fd 6 (TCP socket 71 to 10.99.0.2:5432)): 10.99.0.2:5432 (TCP) did not answer",
                         "remote": ("10.99.0.2", 5432, "TCP", False)}


@scene
def late_answer_from_the_network():
    """The answer comes, after 3 s."""
    s = editor()
    asks(s, 71, DATABASE, "tcp")
    s.wait(10, "recvfrom", fd=6, inode=71, mode="socket family=2 socktype=1")
    s.for_ms(3000)
    packet_comes(s)
    s.sleep(10, 10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"},
                         "why": "10.99.0.2:5432 (TCP) answered only then", "remote": ("10.99.0.2", 5432, "TCP", True)}


@scene
def sleep_after_a_request():
    """A sleep is no wait for the machine that was asked before it."""
    s = editor()
    asks(s, 70, NAME_SERVER, "udp")
    s.sleep(10, 3000)
    s.sleep(10, 10)
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "only": {"editor"}, "why": "slept by its own clock",
                         "remote": None}


IMAGES = {"/usr/lib/libc.so.6": (0x100000, ("recv", "start")), "/usr/lib/libtool.so.1": (0x200000, ("tool_load", "tool_read")),
          "/usr/bin/editor": (0x300000, ("document_open", "main")), "/usr/lib/libeditor.so.0": (0x400000, ("editor_load",))}


def functions(s):
    """Names for code: a function at each 0x1000 of a file. Returns the address inside of each."""
    places = {}
    for path, (start, names) in IMAGES.items():
        s.tables.append(f"image pid 10 start {start:#x} end {start + 0x10000:#x} path {path}")
        for at, name in enumerate(names, 1):
            for place in 0x10, 0xf:  # of the address itself, and of the call before a return address
                s.tables.append(f"name path {path} place {at * 0x1000 + place:#x} function {name} distance {place}")
            places[name] = start + at * 0x1000 + 0x10
    return places


def waits_at(*names):
    s = editor()
    places = functions(s)
    asks(s, 71, DATABASE, "tcp")
    s.wait(10, "recvfrom", fd=6, inode=71, mode="socket family=2 socktype=1", frames=[places[name] for name in names])
    s.for_ms(3000)
    packet_comes(s)
    s.sleep(10, 10)
    return s


@scene
def function_that_the_program_called():
    """The library's function that the program's own code called, and that code."""
    s = waits_at("recv", "tool_read", "tool_load", "document_open", "main", "start")
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "why": ", in tool_load, called by document_open):"}


@scene
def function_that_main_called():
    """Nearly every stack has main() and the loop that it calls: the innermost function of a library says more."""
    s = waits_at("recv", "tool_read", "tool_load", "main", "start")
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "why": ", in tool_read):"}


@scene
def function_in_a_library_of_the_program():
    """Most of the program is in a library of its name."""
    s = waits_at("recv", "tool_read", "tool_load", "editor_load", "document_open", "main", "start")
    return s, "editor", {"type": "LongWait", "root": ("editor", "LongWait"), "why": ", in tool_load, called by editor_load):"}
