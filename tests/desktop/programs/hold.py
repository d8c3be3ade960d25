"""Withholds a resource from other programs for a while, timed by itself: hold.py KIND ARGUMENT SECONDS. Prints "holds" when it
begins."""
import ctypes
import fcntl
import os
import pathlib
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
