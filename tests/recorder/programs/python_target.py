"""Waits in every way that python_frames.py tests, which depends on the line numbers here. With an argument it freezes in one way, or waits
for its input at the end."""
import asyncio
import multiprocessing
import subprocess
import sys
import threading
import time


def recurse(depth):
    if depth == 0:
        time.sleep(0.03)
        return
    recurse(depth - 1)


def generate():
    time.sleep(0.03)
    yield 1


async def cooperate():
    time.sleep(0.03)
    await asyncio.sleep(0.01)


def in_child():
    time.sleep(0.03)


def key(number):
    time.sleep(
        0.03)
    return number


class Ümlaut:
    def größe(self):
        time.sleep(0.03)


class Worker:
    def run(self):
        self.step()

    def step(self):
        time.sleep(0.03)


def blocked(event):
    event.wait(100)


def read_input():
    sys.stdin.readline()


def load_settings():
    time.sleep(2.5)


def convert():
    subprocess.run(["sleep", "2.5"], check=True)


def crunch():
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        sum(number * number for number in range(300))


def use_again():
    """Functions of which each gets the memory of the one before."""
    time.sleep(0.5)
    for number in range(10):
        names = {"time": time}
        text = number * "\n" + f"def again{number}():\n    time.sleep(0.02)\n"
        exec(compile(text, __file__, "exec"), names)
        names.pop(f"again{number}")()


def freeze(how):
    {"nap": load_settings, "again": use_again, "child": convert, "busy": crunch}[how]()
    sys.exit()


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] != "wait":
        freeze(sys.argv[1])
    time.sleep(0.5)  # the recorder reads a new process's mappings within 0.2 s on a quiet machine
    recurse(3)
    recurse(200)
    list(generate())
    asyncio.run(cooperate())
    child = multiprocessing.get_context("fork").Process(target=in_child)
    child.start()
    child.join()
    sorted([1], key=key)
    Ümlaut().größe()
    thread = threading.Thread(target=Worker().run)
    thread.start()
    thread.join()
    if len(sys.argv) > 1:
        threading.Thread(target=blocked, args=(threading.Event(),), daemon=True).start()
        print("ready", flush=True)
        read_input()
        recurse(3)
        read_input()
