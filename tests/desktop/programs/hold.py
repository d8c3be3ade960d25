"""Withholds a resource from other programs for a while, timed by itself: hold.py KIND ARGUMENT SECONDS. Prints "holds" when it
begins."""
import ctypes
import fcntl
import os
import socket
import sqlite3
import sys
import threading
import time


def flock(path):
    file = open(path, "w", encoding="ascii")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def record_lock(path):
    file = open(path, "w", encoding="ascii")
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


def main():
    kind, argument, seconds = sys.argv[1:]
    ctypes.CDLL(None).prctl(15, f"hold-{kind}".encode()[:15], 0, 0, 0)
    held = globals()[kind](argument)
    print("holds", flush=True)
    time.sleep(float(seconds))
    del held


main()
