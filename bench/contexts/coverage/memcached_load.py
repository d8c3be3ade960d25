"""Runs memcached with some threads, and clients that set and get for some seconds: memcached_load.py PROGRAM SECONDS"""
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

THREADS, CLIENTS, KEYS = 4, 6, 500


def connect(path):
    for _ in range(200):
        try:
            client = socket.socket(socket.AF_UNIX)
            client.connect(path)
            return client
        except OSError:
            client.close()
            time.sleep(0.02)
    sys.exit("memcached does not answer")


def ask(client, words, end):
    client.sendall(words)
    answer = b""
    while not answer.endswith(end):
        more = client.recv(65536)
        if not more:
            return
        answer += more


def load(path, seconds, seed):
    chance = random.Random(seed)
    until = time.monotonic() + seconds
    with connect(path) as client:
        while time.monotonic() < until:
            key = f"key{chance.randrange(KEYS)}"
            if chance.random() < 0.3:
                value = b"x" * chance.choice((10, 100, 1000, 50000))
                ask(client, b"set %s 0 %d %d\r\n%s\r\n" % (key.encode(), chance.choice((0, 1)), len(value), value), b"\r\n")
            elif chance.random() < 0.05:
                ask(client, b"stats\r\n", b"END\r\n")
            else:
                ask(client, b"get %s\r\n" % key.encode(), b"END\r\n")


def main():
    program, seconds = sys.argv[1], float(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "socket")
        server = subprocess.Popen([program, "-u", "root", "-t", str(THREADS), "-m", "16", "-s", path])
        clients = [threading.Thread(target=load, args=(path, seconds, seed)) for seed in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main()
