"""Answers about freezes that kernel_model.py makes: test_kernel_model.py ARGUS SCRATCH MACOS_MD. The last is the page that shows one."""
import json
import pathlib
import subprocess
import sys
import unittest

from kernel_model import EJUSTRETURN, GEN_EVENT, KERNEL_TASK, TH_TERMINATE, TH_UNINT, TH_WAIT, THREAD_TERMINATE, Kernel, disk

ARGUS = ""
SCRATCH = PAGE = pathlib.Path()

READ, WRITE, RECVFROM, CVSIGNAL, CVWAIT, TERMINATE, WORKQ, KEVENT_QOS, KEVENT_ID, ULOCK_WAIT, ULOCK_WAKE = \
    3, 4, 29, 304, 305, 361, 368, 374, 375, 515, 516
EAGAIN = 35  # bsd/sys/errno.h
ASKS, ANSWERS = 0x1513, 18  # mach/message.h: a send right and a reply port; a send-once right
DISK0S2 = 1 << 24 | 4  # makedev()
DONE, READS = 1, 2  # bsd/sys/kdebug.h: DKIO_DONE, DKIO_READ


def argus(*words, status=0):
    done = subprocess.run([ARGUS, *map(str, words)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def trace_of(name, kernel):
    raw, trace = SCRATCH / name, SCRATCH / f"{name}.argus"
    kernel.write(raw)
    argus("import", "--timebase=125/3", raw, "-o", trace)
    return trace


def diagnosis(name, kernel, *words):
    """The answer in one line."""
    return " ".join(argus("diagnose", trace_of(name, kernel), *words).split())


def network(name, late_ms):
    kernel = Kernel()
    for tid, pid, process in ((90, KERNEL_TASK, "kernel_task"), (501, 500, "Mail"), (502, 500, "Mail")):
        kernel.thread(tid, pid, process)
    kernel.names(90, name, 1)
    kernel.runs(501)
    kernel.receives(501)
    kernel.runs(502, 1)
    kernel.call(502, CVWAIT, 0x100)
    kernel.sleeps(502)
    for ms in (20, late_ms):
        kernel.ms(100)
        kernel.event(501)
        kernel.call(501, CVSIGNAL, 0x100)
        kernel.wakes(0, 502)
        kernel.returns(501, CVSIGNAL)
        kernel.call(501, CVWAIT, 0x200)
        kernel.sleeps(501)
        kernel.runs(502, 1)
        kernel.returns(502, CVWAIT)
        kernel.call(502, RECVFROM, 7, 0x16000, 4096)
        kernel.sleeps(502)
        kernel.ms(ms)
        kernel.interrupt(1, 90)
        kernel.runs(90, 1)
        kernel.wakes(1, 502)
        kernel.sleeps(90, continuation=True)
        kernel.runs(502, 1)
        kernel.returns(502, RECVFROM, 0, 512)
        kernel.call(502, CVSIGNAL, 0x200)
        kernel.wakes(1, 501)
        kernel.returns(502, CVSIGNAL)
        kernel.call(502, CVWAIT, 0x100)
        kernel.sleeps(502)
        kernel.runs(501)
        kernel.returns(501, CVWAIT)
        kernel.receives(501)
    return kernel


def server(requests, late_ms):
    """An XPC server whose workers leave workq_kernreturn() by EJUSTRETURN, and call kevent_id() between."""
    kernel = Kernel()
    for tid, pid, process in ((101, 100, "Safari"), (301, 300, "xpcd"), (302, 300, "xpcd")):
        kernel.thread(tid, pid, process)
    kernel.runs(101)
    kernel.receives(101)
    for worker in (301, 302):
        kernel.runs(worker, 1)
        kernel.call(worker, WORKQ, 0x100)
        kernel.sleeps(worker, continuation=True)
    for number in range(requests):
        worker = 301 + number % 2
        kernel.ms(20)
        kernel.event(101)
        kernel.sends(101, 3, ASKS, 0x501, 0x707)
        kernel.wakes(0, worker)
        kernel.sleeps(101, continuation=True)
        kernel.runs(worker, 1)
        kernel.returns(worker, WORKQ, EJUSTRETURN)
        kernel.ms(late_ms if number + 1 == requests else 8)
        kernel.sends(worker, 1, ANSWERS, 0x1703)
        kernel.wakes(1, 101)
        kernel.sent(worker)
        if number % 3 == 0:
            kernel.call(worker, KEVENT_ID, 0x77)
            kernel.returns(worker, KEVENT_ID)
        kernel.call(worker, WORKQ, 0x100)
        kernel.sleeps(worker, continuation=True)
        kernel.runs(101)
        kernel.sent(101)
        kernel.receives(101)
    return kernel


def busy_disk(writes):
    """A read that a disk answers late: it is busy with another program's writes, or with nothing."""
    kernel = Kernel(3)
    for tid, pid, process in ((91, KERNEL_TASK, "kernel_task"), (501, 500, "Photos"), (701, 700, "backupd")):
        kernel.thread(tid, pid, process)
    kernel.names(91, "AppleANS3NVMeController", 2)
    kernel.runs(501)
    kernel.receives(501)
    kernel.runs(701, 1)
    kernel.ms(100)
    kernel.event(501)
    kernel.call(501, READ, 9, 0x1000, 65536)
    kernel.say(0, disk(READS), 0xFFFFFE1000000000, DISK0S2, 1000, 65536)
    kernel.sleeps(501, state=TH_WAIT | TH_UNINT)
    kernel.call(701, WRITE, 5, 0x2000, 1 << 20)
    for number in range(1, writes + 1):
        kernel.say(1, disk(0), 0xFFFFFE1000000000 + 256 * number, DISK0S2, 256 * number, 1 << 20)
        kernel.sleeps(701, state=TH_WAIT | TH_UNINT)
        kernel.ms(12)
        kernel.interrupt(2, 91)
        kernel.runs(91, 2)
        kernel.say(2, disk(DONE), 0xFFFFFE1000000000 + 256 * number, 0xFFFFFE20, 0, 0)
        kernel.wakes(2, 701)
        kernel.sleeps(91, continuation=True)
        kernel.runs(701, 1)
    kernel.sleeps(701)
    kernel.ms(2500 - 12 * writes)
    kernel.interrupt(2, 91)
    kernel.runs(91, 2)
    kernel.say(2, disk(DONE | READS), 0xFFFFFE1000000000, 0xFFFFFE21, 0, 0)
    kernel.wakes(2, 501)
    kernel.sleeps(91, continuation=True)
    kernel.runs(501)
    kernel.returns(501, READ, 0, 65536)
    for _ in range(2):
        kernel.receives(501)
        kernel.ms(50)
        kernel.event(501)
    return kernel


def joined():
    """The main thread waits for the end of a thread, which leaves by bsdthread_terminate(): no end record."""
    kernel = Kernel()
    for tid in (501, 502):
        kernel.thread(tid, 500, "Notes")
    kernel.runs(501)
    kernel.receives(501)
    kernel.runs(502, 1)
    kernel.call(502, ULOCK_WAIT, 1, 2, 3)
    kernel.sleeps(502)
    kernel.ms(100)
    kernel.event(501)
    kernel.call(501, ULOCK_WAKE, 1, 2)
    kernel.wakes(0, 502)
    kernel.returns(501, ULOCK_WAKE)
    kernel.call(501, ULOCK_WAIT, 9, 8, 7)
    kernel.sleeps(501)
    kernel.runs(502, 1)
    kernel.returns(502, ULOCK_WAIT)
    kernel.ms(2500)
    kernel.call(502, TERMINATE, 0, 0, 0x1203)
    kernel.wakes(1, 501)
    kernel.say(1, THREAD_TERMINATE, 502)
    kernel.sleeps(502, state=TH_WAIT | TH_TERMINATE)
    kernel.runs(501)
    kernel.returns(501, ULOCK_WAIT)
    kernel.receives(501)
    return kernel


def kevents():
    """An event loop in kevent_qos(), which ends by a continuation; one turn takes long."""
    kernel = Kernel()
    kernel.thread(501, 500, "node")
    kernel.runs(501)
    for ms in (2, 2, 2200, 2):
        kernel.call(501, KEVENT_QOS, 5)
        kernel.sleeps(501, continuation=True)
        kernel.ms(50)
        kernel.interrupt(0, 501)
        kernel.runs(501)
        kernel.returns(501, KEVENT_QOS, 0, 1)
        kernel.ms(ms)
    kernel.call(501, KEVENT_QOS, 5)
    kernel.sleeps(501, continuation=True)
    return kernel


def time_out():
    """A socket with SO_RCVTIMEO, on which nothing comes."""
    kernel = Kernel()
    kernel.thread(501, 500, "Mail")
    kernel.runs(501)
    for ms in (5, 5, 2500, 5):
        kernel.receives(501)
        kernel.ms(50)
        kernel.event(501)
        kernel.call(501, RECVFROM, 7, 0x1000)
        kernel.sleeps(501)
        kernel.ms(ms)
        kernel.times_out(0, 501)
        kernel.runs(501)
        kernel.returns(501, RECVFROM, EAGAIN)
    kernel.receives(501)
    return kernel


def samples_alone():
    """kperf alone: the editor's main thread runs 5 ms of each 100 ms, the rest of the time the idle threads."""
    kernel = Kernel(2, scheduler=False)
    kernel.thread(501, 500, "editor")
    kernel.thread(70, KERNEL_TASK, "kernel_task")
    for number in range(20):
        kernel.runs(501)
        kernel.sample(501)
        kernel.ms(5)
        kernel.sleeps(501)
        kernel.runs(70, 1)
        kernel.sample(70)
        kernel.ms(1)
        kernel.sleeps(70, continuation=True)
        kernel.ms(94 if number != 10 else 3094)
    return kernel


class Answers(unittest.TestCase):
    def test_network(self):
        for name, what in (("dlil_input_en0", "the network interface en0"), ("IOUSBHostInterface", "the driver IOUSBHostInterface")):
            answer = diagnosis("network", network(name, 3000))
            self.assertIn("because it waited for its thread 502, which waited for " + what, answer)
            self.assertIn(f"thread {name} of kernel_task ended the wait", answer)
            self.assertNotIn("did not come", answer)

    def test_cut(self):
        """A file that ends between two records looks whole, one that ends in a record does not; the processes are counted alike."""
        whole = SCRATCH / "whole"
        server(4, 8).write(whole)
        data = whole.read_bytes()
        for name, part, what, status in (("whole", data, "complete as far as this format can tell", 0),
                                         ("between", data[:-64], "complete as far as this format can tell", 0),
                                         ("within", data[:-13], "cut off or damaged", 4)):
            (SCRATCH / name).write_bytes(part)
            text = argus("info", SCRATCH / name, status=status)
            self.assertIn(what, text, name)
            self.assertIn("threads    5 in 3 processes", text)

    def test_page(self):
        """docs/macos.md shows what is printed."""
        shown = PAGE.read_text(encoding="utf-8").split("<!-- diagnose -->")[1].split("<!-- end of diagnose -->")[0]
        self.assertIn(" ".join(shown.split()), diagnosis("page", network("dlil_input_en0", 3000)))

    def test_workers_receive(self):
        kernel = server(19, 3000)
        answer = diagnosis("server", kernel)
        self.assertIn("because it waited for xpcd's main thread, which was busy on the cpu", answer)
        self.assertIn("xpcd [300], thread xpcd [301]", answer)
        channels = argus("messages", trace_of("server", kernel))
        self.assertIn("38 sent (4864 bytes), 38 received", channels)

    def test_disk(self):
        answer = diagnosis("busy_disk", busy_disk(200))
        self.assertIn("because it waited for the disk, which was busy for backupd.", answer)
        self.assertIn("disk 1:4, read of 65536 bytes", answer)
        self.assertIn("thread AppleANS3NVMeController of kernel_task ended its wait for the disk, of whose requests then were 100 % writes by backupd",
                      answer)
        answer = diagnosis("quiet_disk", busy_disk(0))
        self.assertIn("because it waited for the disk.", answer)
        self.assertNotIn("backupd", answer)

    def test_end_of_a_thread(self):
        answer = diagnosis("joined", joined(), "--process", "Notes")
        self.assertIn("because it waited for its thread 502, which was busy on the cpu", answer)

    def test_time_out(self):
        answer = diagnosis("time_out", time_out())
        self.assertIn("because it waited for something that did not come.", answer)
        self.assertNotIn("a device", answer)

    def test_kevents(self):
        self.assertIn("node's main thread was frozen for 2.20 s because it was busy on the cpu", diagnosis("kevents", kevents()))

    def test_samples_alone(self):
        """No wake-ups and no system calls: nothing is said of causes, and the idle threads did not run."""
        kernel = samples_alone()
        self.assertIn(GEN_EVENT | 1, [record[6] for record in kernel.records])
        trace = trace_of("samples_alone", kernel)
        listed = " ".join(argus("hangs", trace).split())
        self.assertNotIn("No hangs", listed)
        self.assertIn("no records of", listed)
        stats = json.loads(argus("graph", "find", "--json", trace))
        ran = {}
        for row in stats["vertices"]:
            vertex = json.loads(argus("graph", "show", "--json", trace, row["id"]))
            ran[vertex["tid"]] = ran.get(vertex["tid"], 0) + vertex["run_ns"]
        self.assertEqual([tid for tid in kernel.idle if ran.get(tid)], [])
        self.assertAlmostEqual(ran[501] / 1e6, 100, delta=5)


if __name__ == "__main__":
    ARGUS, SCRATCH, PAGE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    SCRATCH.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
