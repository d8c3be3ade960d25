#!/usr/bin/env python3
"""A file system in which reading the folder takes 3 s: slow_folder.py FOLDER. Prints "serves" when mounted (tests/e2e/fuse_server.py).

It has an empty folder, and needs root.
"""
import errno
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import fuse_server  # noqa: E402

GETATTR, INIT, OPENDIR, READDIR, RELEASEDIR = 3, 26, 27, 28, 29
SLOW_S = 3


def attributes():
    now, mode = int(time.time()), 0o040755
    return struct.pack("<QII6Q10I", 60, 0, 0, 1, 0, 0, now, now, now, 0, 0, 0, mode, 2, 0, 0, 0, 4096, 0)


def init():
    return struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 1, 1, 4096, 1, 1, 0, 0, *[0] * 7)


def read_folder():
    time.sleep(SLOW_S)
    return b""


ANSWERS = {INIT: init, GETATTR: attributes, OPENDIR: lambda: struct.pack("<QII", 1, 0, 0), READDIR: read_folder, RELEASEDIR: lambda: b""}


def answer(operation, *_):
    return (0, ANSWERS[operation]()) if operation in ANSWERS else (errno.ENOSYS, b"")


fuse_server.serve(sys.argv[1], "slowfolder", answer)
