"""Withholds a resource from other programs for a while, timed by itself: hold.py KIND ARGUMENT SECONDS. Prints "holds" when it
begins."""
import ctypes
import fcntl
import os
import pathlib
import signal
import socket
import sqlite3
import struct
import sys
import threading
import time


def flock(path):
    file = open(path, "w", encoding="ascii")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def record_lock(path):
    file = open(path, "a", encoding="ascii")
    fcntl.lockf(file, fcntl.LOCK_EX)
    return file


def database(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def grab(_):
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(x11.XOpenDisplay(None))
    x11.XGrabServer(display)
    x11.XSync(display, 0)
    return display


def listen(server, take):
    """Accepts connections and reads requests in a thread, and never answers."""
    held = []

    def serve():
        while True:
            held.append(take(server))

    threading.Thread(target=serve, daemon=True).start()
    return held


def take_connection(server):
    connection = server.accept()[0]
    connection.recv(65536)
    return connection


def tcp(port):
    return listen(socket.create_server(("127.0.0.1", int(port))), take_connection)


def unix(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    return listen(server, take_connection)


def udp(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))
    return listen(server, lambda server: server.recv(4096))


def bus_call(serial, member, signature, body):
    """A method call to the message bus itself (https://dbus.freedesktop.org/doc/dbus-specification.html)."""
    def text(field, kind, value):
        data = value.encode()
        size = struct.pack("<B" if kind == "g" else "<I", len(data))
        entry = struct.pack("<BB1sB", field, 1, kind.encode(), 0) + size + data + b"\0"
        return entry

    def padded(data):
        return data + b"\0" * (-len(data) % 8)

    name = "org.freedesktop.DBus"
    fields = padded(text(1, "o", "/org/freedesktop/DBus")) + padded(text(2, "s", name)) + padded(text(3, "s", member))
    fields += padded(text(6, "s", name)) + text(8, "g", signature) if body else text(6, "s", name)
    return padded(struct.pack("<cBBBIII", b"l", 1, 0, 1, len(body), serial, len(fields)) + fields) + body


def service(name):
    """Owns a name of the session bus, and answers no call."""
    bus = socket.socket(socket.AF_UNIX)
    bus.connect(os.environ["DBUS_SESSION_BUS_ADDRESS"].partition("path=")[2].partition(",")[0])
    bus.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    bus.recv(4096)
    text = name.encode()
    request = struct.pack("<I", len(text)) + text + b"\0"
    request += b"\0" * (-len(request) % 4) + struct.pack("<I", 4)
    bus.sendall(b"BEGIN\r\n" + bus_call(1, "Hello", "", b"") + bus_call(2, "RequestName", "su", request))
    time.sleep(0.5)
    return bus


class Pipe:
    """The writer of a named pipe, which writes nothing. The pipe is removed with its writer, so that later readers do not wait for another
    one."""

    def __init__(self, path):
        self.path, self.end = path, os.open(path, os.O_RDWR)

    def __del__(self):
        os.unlink(self.path)
        os.close(self.end)


def pipe(path):
    return Pipe(path)


class LockFile:
    """A lock that is a file: the process that could create the file has it."""

    def __init__(self, path):
        self.path = path
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))

    def __del__(self):
        os.unlink(self.path)


def lock_file(path):
    return LockFile(path)


class LinkedLock(LockFile):
    """The same, made by link(2) as on NFS, in the current folder as dotlockfile(1) does."""

    def __init__(self, path):
        self.path = path
        folder, name = os.path.split(path)
        os.chdir(folder)
        pathlib.Path("own").touch()
        os.link("own", name)
        os.unlink("own")


def linked_lock(path):
    return LinkedLock(path)


class LockFolder:
    """A lock that is a folder, as shell scripts have it."""

    def __init__(self, path):
        self.path = path
        os.mkdir(path)

    def __del__(self):
        os.rmdir(self.path)


def lock_folder(path):
    return LockFolder(path)


class Stop:
    """Stops a process."""

    def __init__(self, pid):
        self.pid = pid
        os.kill(pid, signal.SIGSTOP)

    def __del__(self):
        os.kill(self.pid, signal.SIGCONT)


def stop(pid):
    return Stop(int(pid))


class Freezer:
    """Freezes a process by a control group, as containers are paused."""

    def __init__(self, pid):
        self.pid, self.group = pid, pathlib.Path(f"/sys/fs/cgroup/freezer/argus-desktop-{os.getpid()}")
        self.group.mkdir()
        (self.group / "cgroup.procs").write_text(pid, encoding="ascii")
        (self.group / "freezer.state").write_text("FROZEN", encoding="ascii")

    def __del__(self):
        (self.group / "freezer.state").write_text("THAWED", encoding="ascii")
        (self.group.parent / "cgroup.procs").write_text(self.pid, encoding="ascii")
        self.group.rmdir()


def freezer(pid):
    return Freezer(pid)


def lease(path):
    """A lease of a file: who opens the file waits until the lease is given back."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    file = open(path, "r+", encoding="ascii")
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    return file


def scanner(path):
    """Has to allow each open() of a file, as scanners for viruses do."""
    library = ctypes.CDLL(None, use_errno=True)
    watch = library.fanotify_init(4, os.O_RDONLY)
    library.fanotify_mark.argtypes = [ctypes.c_int, ctypes.c_uint, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
    if watch < 0 or library.fanotify_mark(watch, 1, 0x10000, -100, path.encode()):
        raise OSError(ctypes.get_errno(), "fanotify")
    return os.fdopen(watch)


class Semaphore:
    """A System V semaphore."""

    def __init__(self, key):
        self.library = ctypes.CDLL(None, use_errno=True)
        self.id = self.library.semget(key, 1, 0o1600)
        self.library.semctl(self.id, 0, 16, 1)
        self.change(-1)

    def change(self, by):
        operation = struct.pack("=Hhh", 0, by, 0)
        if self.library.semop(self.id, operation, 1):
            raise OSError(ctypes.get_errno(), "semop")

    def __del__(self):
        self.change(1)
        time.sleep(0.5)
        self.library.semctl(self.id, 0, 0)


def semaphore(key):
    return Semaphore(int(key))


class Queue:
    """A System V message queue, to which it sends something at the end."""

    def __init__(self, key):
        self.library = ctypes.CDLL(None, use_errno=True)
        self.id = self.library.msgget(key, 0o1600)

    def __del__(self):
        self.library.msgsnd(self.id, struct.pack("=q4s", 1, b"text"), 4, 0)
        time.sleep(0.5)
        self.library.msgctl(self.id, 0, 0)


def queue(key):
    return Queue(int(key))


class PosixSemaphore:
    """A named POSIX semaphore: a word in memory that processes share."""

    def __init__(self, name):
        self.library, self.name = ctypes.CDLL(None, use_errno=True), name.encode()
        self.library.sem_open.restype = ctypes.c_void_p
        self.semaphore = ctypes.c_void_p(self.library.sem_open(self.name, os.O_CREAT, 0o600, 1))
        self.library.sem_wait(self.semaphore)

    def __del__(self):
        self.library.sem_post(self.semaphore)
        self.library.sem_unlink(self.name)


def posix_semaphore(name):
    return PosixSemaphore(name)


class Reader:
    """The reader of a named pipe, which reads nothing at first."""

    def __init__(self, path):
        self.pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def __del__(self):
        os.set_blocking(self.pipe, True)
        while os.read(self.pipe, 1 << 16):
            pass


def reader(path):
    return Reader(path)


def nothing(path):
    """Only tells its ID."""
    pathlib.Path(path).write_text(str(os.getpid()), encoding="ascii")


def main():
    kind, argument, seconds = sys.argv[1:]
    ctypes.CDLL(None).prctl(15, f"hold-{kind}".encode()[:15], 0, 0, 0)
    held = globals()[kind](argument)
    print("holds", flush=True)
    time.sleep(float(seconds))
    del held


main()
