"""A file system for tests. It implements the protocol of /dev/fuse itself (include/uapi/linux/fuse.h). Needs root; the mount
ends with the mount namespace.
"""
import ctypes
import errno
import os
import struct
import sys

IN_HEADER = struct.Struct("<IIQQIIII")
FORGET = 2  # requests without an answer


def serve(folder, name, answer):
    """Mounts it at `folder`, as the process `name`; prints "serves", and serves until it is unmounted. `answer(operation, node, body)`
    returns an error number, or 0, and the bytes of the answer."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(15, name.encode(), 0, 0, 0)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"slow", folder.encode(), b"fuse.slow", 0, options):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("serves", flush=True)
    while True:
        try:
            request = os.read(device, 1 << 20)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        _, operation, unique, node, *_ = IN_HEADER.unpack_from(request)
        if operation == FORGET:
            continue
        code, body = answer(operation, node, request[IN_HEADER.size:])
        os.write(device, struct.pack("<IiQ", 16 + len(body), -code, unique) + body)
