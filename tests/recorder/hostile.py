#!/usr/bin/env python3
"""What clients can and cannot do to the recorder. See recorder_harness.py; tests/fuzz/fuzz_server.c does the same with
unexpected sequences."""
import array
import ctypes
import os
import pathlib
import signal
import socket
import stat
import struct
import subprocess
import time

import recorder_harness
from recorder_harness import SWITCH, Live, Trace, argus, eventually, main, status

CALLBACK_START = 0x60030009
SOCKET = "/run/argus/recorder.socket"
START, STOP, SNAPSHOT, STATUS, NOTES, PROBE = 1, 2, 3, 4, 6, 9
STREAM, MEMORY = 1, 2
STARTER, STRANGER = 65534, 65533
PROBES = ("at_the_beginning", "inside")
PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
NO_FILE_FOR_A_TRACE = "the output is not an empty regular file open for writing"


VERSION = 9  # PROTOCOL_VERSION
KEY = bytes(range(1, 33))  # of the stacks that are copied into a file


def request(verb, mode=0, magic=0x51475241, version=VERSION):
    body = b""
    if verb == START:
        body = struct.pack("=IIQQIIIII", mode, 0, 1 << 20, 0, 0x3FF, 0, 0, 0, 0).ljust(408, b"\0") + KEY
    elif verb in (STOP, SNAPSHOT):
        body = KEY
    return struct.pack("=IHHII", magic, version, verb, 0, 0) + body.ljust(1008, b"\0")


class Client:
    """A client that speaks to the recorder without Argus's code."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(SOCKET)
        self.socket.settimeout(10)

    def __del__(self):
        self.socket.close()

    def send(self, message, *fds):
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        self.socket.sendmsg([message], control)

    def reply(self):
        """(error, text) of the next reply."""
        message = self.socket.recv(1 << 16)
        error, = struct.unpack_from("=I", message, 8)
        return error, message[512:].split(b"\0")[0].decode()

    def ask(self, message, *fds):
        self.send(message, *fds)
        return self.reply()


def as_user(uid, function):
    """Runs the function in a process of this user; returns its result as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        try:
            text = str(function())
        except Exception as error:  # pylint: disable=broad-except
            text = repr(error)
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader) as answer:
        return answer.read()


def place_of(function):
    """Where a function of the C library is in its file, and the file."""
    address = ctypes.cast(getattr(ctypes.CDLL("libc.so.6"), function), ctypes.c_void_p).value
    for line in pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        span, _, offset, _, _, path = (line + " ?").split(maxsplit=5)
        first, end = (int(number, 16) for number in span.split("-"))
        if first <= address < end:
            return address - first + int(offset, 16), open(path.rsplit(" ?", 1)[0], "rb")
    raise LookupError(function)


def send_probe(client, number, place, file, name, shape=1, values=b""):
    """The error, 0: none. `values`: those of the probe, its key first."""
    spec = (struct.pack("=IIIIII", shape, 0, 0, 0, 0, 0) + values).ljust(312, b"\0")
    probe = struct.pack("=QII", place, number, 0) + spec + b"libc".ljust(400, b"\0") + name.encode().ljust(272, b"\0")
    return client.ask(request(PROBE)[:16] + probe.ljust(1008, b"\0"), file.fileno())[0]


def place_probes():
    """Places a probe at the beginning of a function of the C library, and one a byte behind it. Returns the errors."""
    client, (place, file) = Client(), place_of("qsort")
    return [send_probe(client, number, place + number, file, name) for number, name in enumerate(PROBES)]


def begin_with_probes():
    """Which of the probes that were placed are left out?"""
    client = Client()
    error = client.ask(request(START, MEMORY))[0]
    notes = client.ask(request(NOTES))[1]
    return "%d %s" % (error, ", ".join(f"{name}: {name + ' in libc is left out' in notes}" for name in PROBES))


def read_arguments():
    """Records the text of which getenv() is asked: the 8 bytes at its first argument."""
    client, (place, file) = Client(), place_of("getenv")
    text = struct.pack("=BBBBiii", 1, 1, 8, 0, 0, 0, 0)
    return [send_probe(client, 0, place, file, "getenv", 3, text), client.ask(request(START, MEMORY))[0]]


def ask_for_ever(text, uid):
    """A process of this user that asks getenv() for the text. Returns its ID."""
    parent, child = os.getpid(), os.fork()
    if child:
        return child
    try:
        os.setgroups([])
        os.setresuid(uid, uid, uid)
        library = ctypes.CDLL(None)
        library.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # without exec, it would still have secrets of root
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # a change of the user takes it back
        while os.getppid() == parent:
            library.getenv(text)
            time.sleep(0.01)
    finally:
        os._exit(1)  # else the child would go on as a second run of the tests


class Hostile(Live):
    def start(self, **environment):
        done = argus("start", *self.backend, "--ring-size", "8M", env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.recorder()

    def assert_records(self, pid):
        """The same recorder still runs, and still records."""
        self.assertEqual(status()["recorder_pid"], pid)
        before = status()["emitted"]
        time.sleep(0.1)
        self.assertGreater(status()["emitted"], before)

    def descriptors(self, pid):
        return len(os.listdir(f"/proc/{pid}/fd"))


class Messages(Hostile):
    def test_garbage(self):
        pid = self.start()
        before = self.descriptors(pid)
        for message in (b"x", b"GET / HTTP/1.0\r\n\r\n", request(STATUS)[:-1], request(STATUS) + b"x", request(STATUS, magic=1),
                        request(STATUS, version=VERSION - 1), request(0), request(200), os.urandom(1024), b"\xff" * 100000):
            error, text = Client().ask(message)
            self.assertNotEqual(error, 0)
            self.assertTrue(text)
        self.assert_records(pid)
        self.assertTrue(eventually(lambda: self.descriptors(pid) <= before))

    def test_hundreds_of_connections(self):
        pid = self.start()
        clients = [Client() for _ in range(300)]
        for client in clients:
            try:
                client.send(request(STATUS)[:100])
            except OSError:
                pass  # another client has its place
        self.assert_records(pid)
        self.assertLess(self.descriptors(pid), 200)
        newest = Client()
        self.assertEqual(newest.ask(request(STATUS))[0], 0)

    def test_a_client_that_never_reads(self):
        pid = self.start()
        deaf = Client()
        deaf.socket.setblocking(False)
        for _ in range(5000):
            try:
                deaf.send(request(STATUS))
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break  # the recorder drops the client after some time
        else:
            self.fail("the recorder keeps a client that does not read")
        self.assert_records(pid)

    def test_clients_that_go_in_the_middle(self):
        pid = self.start()
        for verb in (STATUS, SNAPSHOT, START):
            for _ in range(50):
                client = Client()
                client.send(request(verb, MEMORY))
                client.socket.close()
        self.assert_records(pid)

    def test_seven_descriptors_and_an_empty_message(self):
        pid = self.start()
        before = self.descriptors(pid)
        with open(self.path, "wb") as file:
            for _ in range(100):
                Client().send(request(STATUS), *[file.fileno()] * 7)
                Client().send(b"", file.fileno())
        self.assert_records(pid)
        self.assertTrue(eventually(lambda: self.descriptors(pid) <= before))
        self.assertEqual(self.path.stat().st_size, 0)


class Descriptors(Hostile):
    def offered(self):
        """Descriptors that are not an empty regular file, each with its description."""
        regular = self.folder / "regular"
        regular.write_bytes(b"")
        full = self.folder / "full"
        full.write_bytes(b"precious")
        program = self.folder / "program"
        program.write_bytes(b"")
        program.chmod(0o4777)
        os.mkfifo(self.folder / "fifo")
        flags = {
            "read-only": (regular, os.O_RDONLY), "append": (regular, os.O_WRONLY | os.O_APPEND),
            "path only": (regular, os.O_PATH), "not empty": (full, os.O_RDWR), "set-user-ID": (program, os.O_RDWR),
            "FIFO": (self.folder / "fifo", os.O_RDWR), "directory": (self.folder, os.O_RDONLY), "device": ("/dev/null", os.O_RDWR),
            "disk": ("/dev/zero", os.O_RDWR), "proc": ("/proc/self/oom_score_adj", os.O_RDWR),
            "memory": ("/proc/self/mem", os.O_RDWR),
        }
        for what, (path, flag) in flags.items():
            yield what, os.open(path, flag)
        yield "socket", socket.socketpair()[0].detach()
        yield "pipe", os.pipe()[1]
        yield "sysfs", os.open("/sys/kernel/uevent_seqnum", os.O_RDONLY)
        if os.path.exists("/sys/fs/cgroup/cgroup.procs"):
            yield "cgroup", os.open("/sys/fs/cgroup/cgroup.procs", os.O_WRONLY)

    def test_what_is_no_file_for_a_trace(self):
        pid = self.start()
        for what, fd in self.offered():
            with self.subTest(what):
                error, text = Client().ask(request(SNAPSHOT), fd)
                self.assertNotEqual(error, 0)
                self.assertEqual(text, NO_FILE_FOR_A_TRACE)
                before = os.fstat(fd)
                error, text = Client().ask(request(STOP), fd)
                self.assertEqual(text, NO_FILE_FOR_A_TRACE)
                self.assertEqual(os.fstat(fd).st_size, before.st_size)
            os.close(fd)
        self.assertEqual((self.folder / "full").read_bytes(), b"precious")
        self.assert_records(pid)
        with open(self.path, "w+b") as good:
            self.assertEqual(Client().ask(request(SNAPSHOT), good.fileno())[0], 0)
        self.assertTrue(Trace(self.path).of(SWITCH))


class Users(Hostile):
    def test_who_did_not_start_it_cannot_even_connect(self):
        pid = self.start(SUDO_UID=str(STARTER), SUDO_GID=str(STARTER))
        mode = os.stat(SOCKET)
        self.assertEqual((mode.st_uid, stat.S_IMODE(mode.st_mode)), (STARTER, 0o600))
        self.assertIn("PermissionError", as_user(STRANGER, Client))
        self.assertEqual(as_user(STARTER, lambda: Client().ask(request(STATUS))[0]), "0")
        self.assert_records(pid)

    def test_rights_that_no_recording_needs_are_given_up(self):
        text = pathlib.Path(f"/proc/{self.start()}/status").read_text(encoding="ascii")
        status = dict(line.split(":\t") for line in text.splitlines() if ":\t" in line)
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        for name in ("CapPrm", "CapEff", "CapInh", "CapBnd"):
            held = int(status[name], 16)
            for capability in (12, 16, 17, 22, 25, 27, 33):  # NET_ADMIN, SYS_MODULE, _RAWIO, _BOOT, _TIME, MKNOD, MAC_ADMIN
                self.assertFalse(held >> capability & 1, (name, capability))
        if int(status["Seccomp"]):  # not under a sanitizer
            self.assertEqual(status["Seccomp"].strip(), "2")
        for capability in (0, 1, 3, 4, 24):  # CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SYS_RESOURCE: only until all is attached
            self.assertFalse(int(status["CapEff"], 16) >> capability & 1, capability)

    def serve_starter(self):
        """A recorder that waits for its START, as sudo starts it for a user."""
        recorder = str(pathlib.Path(recorder_harness.ARGUS).with_name("argus-recorder"))
        done = subprocess.run([recorder, "serve"], env={**os.environ, "SUDO_UID": str(STARTER)}, capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.stdout, "ready\n")

    def test_a_starter_without_descriptors(self):
        """With 0, 1 and 2 closed, what the recorder opens next must not become its output: it serves as ever."""
        recorder = str(pathlib.Path(recorder_harness.ARGUS).with_name("argus-recorder"))
        done = subprocess.run(["sh", "-c", 'exec "$0" serve <&- >&- 2>&-', recorder], env={**os.environ, "SUDO_UID": str(STARTER)},
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(eventually(lambda: os.path.exists(SOCKET)))
        self.assertEqual(as_user(STARTER, lambda: Client().ask(request(STATUS))[0]), "0")

    def test_a_probe_inside_an_instruction_is_left_out(self):
        """It would change what the programs of root do. At the beginning of a function it only costs time."""
        self.serve_starter()
        self.assertEqual(as_user(STARTER, lambda: (place_probes(), begin_with_probes())),
                         "([0, 0], '0 at_the_beginning: False, inside: True')")
        self.assertTrue(status()["recording"])

    def test_a_probe_of_a_user_stays_so_if_root_starts(self):
        self.serve_starter()
        self.assertEqual(as_user(STARTER, place_probes), "[0, 0]")
        self.assertEqual(begin_with_probes(), "0 at_the_beginning: False, inside: True")

    def test_a_probe_reads_only_the_users_own_processes(self):
        """The client chooses what a probe reads: a text of a program of root would be in its trace."""
        self.serve_starter()
        self.assertEqual(as_user(STARTER, read_arguments), "[0, 0]")
        for text, user in (b"of_root!", 0), (b"its_own!", STARTER):
            asking = ask_for_ever(text, user)
            self.addCleanup(lambda asking=asking: (os.kill(asking, signal.SIGKILL), os.waitpid(asking, 0)))

        def texts():
            self.path.unlink(missing_ok=True)
            self.assertEqual(argus("snapshot", "-o", str(self.path), "--no-symbols").returncode, 0)
            return {arguments[0].to_bytes(8, "little") for *_, arguments in Trace(self.path).of(CALLBACK_START)}
        self.assertIn(f"only of processes that user {STARTER} may inspect", argus("status").stdout)
        self.assertTrue(eventually(lambda: b"its_own!" in texts(), 60))
        self.assertNotIn(b"of_root!", texts())

    def test_the_mask_of_the_starter_locks_nobody_out(self):
        """An empty /run, in this test's mount namespace only."""
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", "/run"], check=True)
        before = os.umask(0o777)
        try:
            self.serve_starter()
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(pathlib.Path(SOCKET).parent.stat().st_mode), 0o755)
        self.assertEqual(as_user(STARTER, lambda: (place_probes(), begin_with_probes())),
                         "([0, 0], '0 at_the_beginning: False, inside: True')")
        self.assertEqual(argus("stop").returncode, 0)

    def test_status_says_what_is_left(self):
        self.start()
        rights = status()["rights"]
        self.assertEqual(rights["uid"], 0)
        self.assertIn("sys_ptrace", rights["capabilities"])
        self.assertNotIn("dac_override", rights["capabilities"])
        filtered = "system calls are filtered" if rights["calls_filtered"] else "system calls are not filtered"
        self.assertIn(filtered, argus("status").stdout)

    def test_argus_says_whom_it_serves(self):
        self.start(SUDO_UID=str(STARTER), SUDO_GID=str(STARTER))
        program = self.copy_of_argus()
        for command in ("stop", "status", "snapshot"):
            output = ["-o", str(self.folder / "x")] if command == "snapshot" else []
            answer = as_user(STRANGER, lambda words=(command, *output): subprocess.run(
                [program, *words], capture_output=True, text=True, check=False, cwd="/").stderr)
            self.assertIn(f"serves only root and uid {STARTER}", answer)
        self.assertTrue(status()["recording"])

    def test_the_starter_gets_a_file_of_his_own(self):
        self.start(SUDO_UID=str(STARTER), SUDO_GID=str(STARTER))
        os.chmod(self.folder, 0o777)
        program = self.copy_of_argus()
        answer = as_user(STARTER, lambda: subprocess.run([program, "snapshot", "-o", str(self.path)], capture_output=True, text=True,
                                                         check=False, cwd="/").returncode)
        self.assertEqual(answer, "0")
        mode = self.path.stat()
        self.assertEqual((mode.st_uid, stat.S_IMODE(mode.st_mode)), (STARTER, 0o600))
        self.assertTrue(Trace(self.path).of(SWITCH))

    def copy_of_argus(self):
        """A copy that another user can run: only root may have access to the build folder."""
        os.chmod(self.folder, 0o777)
        copy = self.folder / "argus"
        copy.write_bytes(pathlib.Path(recorder_harness.ARGUS).read_bytes())
        copy.chmod(0o755)
        return str(copy)


if __name__ == "__main__":
    main()
