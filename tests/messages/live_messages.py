#!/usr/bin/env python3
"""Message records of each kind on the real system: both ends record the same numbers, and unusual cases are reported.

live_messages.py ARGUS: see tests/recorder/recorder_harness.py. check_pairs.py tests several writers at once.
"""
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "recorder"))
from recorder_harness import TIMER_FIRED, Live, main  # noqa: E402

MESSAGE = 0x60020010
PIPE, STREAM, SEQPACKET, DATAGRAM, TCP, UDP, EVENTFD, SIGNALFD, TIMERFD, INOTIFY, MQUEUE = range(1, 12)
RECEIVE, PEEK, POSITION, TRUNCATED, DOUBTFUL, DROPPED = 1, 2, 8, 16, 32, 64

# kind and flags are parts of arg2; argus-trace(5) explains position and other
Message = collections.namedtuple("Message", "kind flags bytes channel position other")

PREAMBLE = """
import ctypes, os, select, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
print(os.getpid())
"""


class Messages(Live):
    def messages(self, script, *kinds):
        """Runs a script; returns its messages of these kinds, and the rest of its output."""
        trace, (pid, *printed) = self.record(PREAMBLE + script, "--no-stacks", "--rate", "0")
        found = []
        for record in trace.of(MESSAGE):
            channel, what, position, other = record[4]
            message = Message(what >> 48 & 0xFF, what >> 56, what & 0xFFFFFFFFFFFF, channel, position, other)
            if record[1] in trace.tids(int(pid)) and message.kind in kinds:
                found.append(message)
        self.trace = trace
        return found, printed

    def assert_pair(self, send, receive):
        """The two records are the ends of the same datagram or buffer."""
        self.assertFalse(send.flags & RECEIVE)
        self.assertTrue(receive.flags & RECEIVE)
        self.assertEqual(send.position, receive.position)
        self.assertEqual(send.channel, receive.channel)

    def test_pipe_reads_end_where_writes_do(self):
        found, (inode,) = self.messages(
            "r, w = os.pipe()\nprint(os.fstat(r).st_ino)\nos.write(w, b'x' * 100)\nos.write(w, b'x' * 50)\n"
            "os.read(r, 100)\nos.read(r, 20)\nos.read(r, 999)", PIPE)
        found = [m for m in found if m.channel & 0xFFFFFFFF == int(inode)]
        self.assertEqual([(m.flags & RECEIVE, m.bytes) for m in found], [(0, 100), (0, 50), (1, 100), (1, 20), (1, 30)])
        first, second, *reads = (m.position for m in found)
        self.assertEqual((first, second), (100, 150))
        self.assertEqual(reads, [100, 120, 1 << 20])

    def test_a_fifo_begins_again_when_it_is_reopened(self):
        path = self.folder / "fifo"
        found, _ = self.messages(
            f"os.mkfifo({str(path)!r})\nfor i in range(2):\n r = os.open({str(path)!r}, os.O_RDWR)\n"
            " os.write(r, b'x' * 10)\n os.read(r, 10)\n os.close(r)", PIPE)
        mine = [m for m in found if m.channel & 0xFFFFFFFF == path.stat().st_ino & 0xFFFFFFFF]
        self.assertEqual([m.position for m in mine], [10, 1 << 20] * 2)

    def test_splice_and_tee_have_a_record_for_each_pipe(self):
        found, inodes = self.messages(
            "a, b = os.pipe(), os.pipe()\nfor p in (a, b): print(os.fstat(p[0]).st_ino)\nos.write(a[1], b'x' * 100)\n"
            "libc.tee(a[0], b[1], ctypes.c_size_t(60), 0)\nos.splice(a[0], b[1], 100)\nos.read(b[0], 999)", PIPE)
        names = dict(zip(map(int, inodes), "ab"))
        seen = [(names[m.channel & 0xFFFFFFFF], m.flags & (RECEIVE | PEEK), m.bytes) for m in found
                if m.channel & 0xFFFFFFFF in names]
        self.assertEqual(seen, [("a", 0, 100), ("a", RECEIVE | PEEK, 60), ("b", 0, 60), ("a", RECEIVE, 100),
                                ("b", 0, 100), ("b", RECEIVE, 160)])

    def test_a_unix_stream_hands_on_its_buffers(self):
        found, inodes = self.messages(
            "a, b = socket.socketpair()\nfor s in (a, b): print(os.fstat(s.fileno()).st_ino)\na.send(b'x' * 100000)\n"
            "b.recv(10, socket.MSG_PEEK)\nb.recv(60000, socket.MSG_WAITALL)\nb.recv(60000)", STREAM)
        own, receiver = map(int, inodes)
        found = [m for m in found if m.channel == receiver]
        sends = [m for m in found if not m.flags & RECEIVE]
        self.assertEqual(sum(m.bytes for m in sends), 100000)
        self.assertTrue(all(m.other == own for m in found))
        peeks = [m for m in found if m.flags & PEEK]
        self.assertEqual([(m.position, m.bytes) for m in peeks], [(sends[0].position, 10)])
        taken = collections.Counter()
        for message in found:
            if message.flags & RECEIVE and not message.flags & PEEK:
                taken[message.position] += message.bytes
        self.assertEqual(taken, {m.position: m.bytes for m in sends})

    def test_a_connection_that_is_not_yet_accepted(self):
        found, (inode,) = self.messages(
            "l = socket.socket(socket.AF_UNIX)\nl.bind('\\0argus-live')\nl.listen()\nc = socket.socket(socket.AF_UNIX)\n"
            "c.connect('\\0argus-live')\nc.send(b'x' * 77)\ns, _ = l.accept()\nprint(os.fstat(s.fileno()).st_ino)\n"
            "c.close()\ns.recv(99)", STREAM)
        send, receive = [m for m in found if m.bytes == 77]
        self.assertEqual((send.channel, receive.channel), (0, int(inode)))
        self.assertEqual(send.position, receive.position)

    def test_datagrams_in_order_cut_and_empty(self):
        for family in ("socket.socketpair(type=socket.SOCK_DGRAM)", "socket.socketpair(type=socket.SOCK_SEQPACKET)"):
            found, _ = self.messages(
                f"a, b = {family}\na.send(b'x' * 100)\na.send(b'x' * 200)\na.send(b'')\n"
                "b.recv(500)\nb.recv(50)\nb.recv(1)", DATAGRAM, SEQPACKET)
            sends, receives = found[:3], found[3:]
            for send, receive in zip(sends, receives, strict=True):
                self.assert_pair(send, receive)
            self.assertEqual([m.bytes for m in found], [100, 200, 0, 100, 50, 0])
            self.assertEqual([m.flags & TRUNCATED for m in receives], [0, TRUNCATED, 0])

    def test_tcp_counts_the_same_bytes(self):
        for family, address in (("AF_INET", "127.0.0.1"), ("AF_INET6", "::1")):
            found, _ = self.messages(
                f"l = socket.create_server(('{address}', 0), family=socket.{family})\n"
                "c = socket.create_connection(l.getsockname()[:2])\ns, _ = l.accept()\nc.send(b'x' * 300)\n"
                "s.recv(100, socket.MSG_PEEK)\ns.recv(100)\ns.recv(500)\ns.send(b'x' * 7)\nc.recv(9)\n"
                "c.send(b'x' * 5)\nc.close()\ntime.sleep(.1)\ns.recv(9)", TCP)
            send, peek, first, second, back, got, last, end = found
            self.assertEqual(len({m.channel for m in (send, peek, first, second, last, end)}), 1)
            self.assertEqual(back.channel, got.channel)
            self.assertNotEqual(send.channel, back.channel)
            begin = send.position - 300
            self.assertEqual([m.position - begin for m in (peek, first, second, last, end)], [0, 100, 300, 305, 305])
            self.assertEqual(back.position, got.position)

    def test_udp_carries_the_datagram_and_says_what_was_dropped(self):
        for address in ("127.0.0.1", "::1"):
            family = "AF_INET6" if ":" in address else "AF_INET"
            found, _ = self.messages(
                f"s, c = (socket.socket(socket.{family}, socket.SOCK_DGRAM) for i in 'sc')\ns.bind(('{address}', 0))\n"
                "s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)\n"
                "for i in range(20): c.sendto(b'x' * (100 + i), s.getsockname()[:2])\n"
                "s.setblocking(False)\ntry:\n while True: s.recv(999)\nexcept BlockingIOError: pass", UDP)
            sends = [m for m in found if not m.flags & RECEIVE]
            drops = [m for m in found if m.flags & DROPPED]
            receives = [m for m in found if m.flags & RECEIVE and not m.flags & DROPPED]
            self.assertEqual([m.bytes for m in sends], list(range(100, 120)))
            self.assertGreater(len(drops), 0)
            self.assertEqual(len(drops) + len(receives), 20)
            for send, receive in zip(sends, receives):
                self.assert_pair(send, receive)
            self.assertEqual([m.bytes for m in drops if m.flags & POSITION], [m.bytes for m in sends[len(receives):]])

    def test_eventfd_counts(self):
        found, _ = self.messages(
            "e = os.eventfd(0)\nos.eventfd_write(e, 3)\nos.eventfd_write(e, 4)\nos.eventfd_read(e)\n"
            "s = os.eventfd(2, os.EFD_SEMAPHORE)\nos.eventfd_read(s)", EVENTFD)
        seen = [(m.flags & RECEIVE, m.bytes, m.position, m.other) for m in found]
        self.assertEqual(seen, [(0, 3, 3, 0), (0, 4, 7, 0), (1, 7, 0, 0), (1, 1, 1, 1)])
        self.assertEqual(len({m.channel for m in found[:3]}), 1)

    def test_signalfd_says_which_signal_and_from_whom(self):
        found, (pid, *_) = self.messages(
            "print(os.getpid())\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2])\n"
            "mask = (ctypes.c_uint64 * 16)(1 << signal.SIGUSR1 - 1 | 1 << signal.SIGUSR2 - 1)\n"
            "f = libc.signalfd(-1, mask, 0)\nos.kill(os.getpid(), signal.SIGUSR1)\nos.kill(os.getpid(), signal.SIGUSR2)\n"
            "os.read(f, 1024)", SIGNALFD)
        self.assertEqual([(m.other >> 32, m.other & 0xFFFFFFFF) for m in found], [(10, int(pid)), (12, int(pid))])

    def test_timerfd_names_its_timer(self):
        found, _ = self.messages(
            "f = libc.timerfd_create(1, 0)\nlibc.timerfd_settime(f, 0, struct.pack('4q', 0, 0, 0, 10000000), None)\n"
            "os.read(f, 8)", TIMERFD)
        (message,) = found
        self.assertEqual(message.bytes, 1)
        self.assertIn(message.other, {r[4][0] for r in self.trace.of(TIMER_FIRED)})

    def test_inotify_joins_writer_and_watcher(self):
        watched, inside = self.folder / "watched", self.folder / "inside"
        inside.mkdir()
        watched.write_text("")
        found, _ = self.messages(
            f"i = libc.inotify_init()\nlibc.inotify_add_watch(i, {bytes(watched)!r}, 2)\n"
            f"libc.inotify_add_watch(i, {bytes(inside)!r}, 2)\nf = open({str(watched)!r}, 'w')\nf.write('x' * 30)\n"
            f"f.flush()\ng = open({str(inside / 'file')!r}, 'w')\ng.write('x' * 40)\ng.flush()\nos.read(i, 4096)\n"
            f"open({str(self.folder / 'other')!r}, 'w').write('x' * 50)", INOTIFY)
        self.assertEqual([(m.flags & RECEIVE, m.bytes) for m in found if not m.flags & RECEIVE], [(0, 30), (0, 40)])
        self.assertEqual(found[0].other, watched.stat().st_ino)
        self.assertEqual(len({m.channel for m in found}), 1)
        self.assertTrue(found[2].flags & RECEIVE)

    def test_a_message_queue_says_priorities(self):
        found, _ = self.messages(
            "rt = ctypes.CDLL('librt.so.1', use_errno=True)\nname = b'/argus-live-%d' % os.getpid()\n"
            "q = rt.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, struct.pack('8q', 0, 4, 100, 0, 0, 0, 0, 0))\n"
            "rt.mq_unlink(name)\nfor p in (1, 5): rt.mq_send(q, b'x' * 60, ctypes.c_size_t(50 + p), p)\n"
            "buffer, got = ctypes.create_string_buffer(100), ctypes.c_uint()\n"
            "rt.mq_receive(q, buffer, ctypes.c_size_t(100), ctypes.byref(got))\n"
            "rt.mq_receive(q, buffer, ctypes.c_size_t(100), None)", MQUEUE)
        seen = [(m.flags & RECEIVE, m.bytes, m.other) for m in found]
        self.assertEqual(seen, [(0, 51, 2), (0, 55, 6), (1, 55, 6), (1, 51, 0)])

    def test_files_have_no_messages(self):
        found, _ = self.messages(
            f"f = open({str(self.folder / 'file')!r}, 'w+b', 0)\nf.write(b'x' * 4321)\nf.seek(0)\nf.read(4321)\n"
            "open('/dev/zero', 'rb', 0).read(4321)\nopen('/dev/null', 'wb', 0).write(b'x' * 4321)", *range(1, 100))
        self.assertFalse([m for m in found if m.bytes == 4321])

    def test_a_descriptor_that_was_closed_meanwhile_is_counted(self):
        self.messages(
            "r, w = os.pipe()\nkept = os.dup(r)\nt = threading.Thread(target=os.read, args=(r, 10))\nt.start()\n"
            "time.sleep(.2)\nos.close(r)\nos.write(w, b'x')\nt.join()", PIPE)
        self.assertEqual(self.trace.counters["messages_unseen"], 1)

    def test_without_messages_there_are_none(self):
        trace, _ = self.record("import os\nr, w = os.pipe()\nos.write(w, b'x')\nos.read(r, 1)\nprint(os.getpid())",
                               "--no-stacks", "--without", "messages")
        self.assertEqual(trace.of(MESSAGE), [])


if __name__ == "__main__":
    main()
