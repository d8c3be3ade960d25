#!/usr/bin/env python3
"""A file system in which reading the folder takes 3 s: slow_folder.py FOLDER. Says "serves" when it is mounted.

It speaks the protocol of /dev/fuse itself (include/uapi/linux/fuse.h), as far as an empty folder needs it. Needs root; the mount goes
with the mount namespace.
"""
import ctypes
import errno
import os
import struct
import sys
import time

GETATTR, INIT, OPENDIR, READDIR, RELEASEDIR, FORGET = 3, 26, 27, 28, 29, 2
IN_HEADER = struct.Struct("<IIQQIIII")
SLOW_S = 3


def attributes():
    now, mode = int(time.time()), 0o040755
    return struct.pack("<QII6Q10I", 60, 0, 0, 1, 0, 0, now, now, now, 0, 0, 0, mode, 2, 0, 0, 0, 4096, 0)


def init(_):
    return struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 1, 1, 4096, 1, 1, 0, 0, *[0] * 7)


def read_folder(_):
    time.sleep(SLOW_S)
    return b""


ANSWERS = {INIT: init, GETATTR: lambda _: attributes(), OPENDIR: lambda _: struct.pack("<QII", 1, 0, 0), READDIR: read_folder,
           RELEASEDIR: lambda _: b""}


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(15, b"slowfolder", 0, 0, 0)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"slow", sys.argv[1].encode(), b"fuse.slow", 0, options):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("serves", flush=True)
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, operation, unique, *_ = IN_HEADER.unpack_from(request)
        if operation == FORGET:
            continue
        answer = ANSWERS.get(operation)
        body = answer(request) if answer else b""
        os.write(device, struct.pack("<IiQ", 16 + len(body), 0 if answer else -errno.ENOSYS, unique) + body)


main()
