"""A file system that delays access to one folder: slow_files.py MOUNT FOLDER OPERATION SECONDS [busy]. Prints "serves" when it
is mounted.

The files of the folder are read-only; new files accept any data. From the first OPERATION (read, open,
readdir) on a file or folder whose name begins with "slow", or the first write or fsync of any, all operations wait for SECONDS,
once. "busy": it computes meanwhile. Needs root (tests/e2e/fuse_server.py).
"""
import errno
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
import fuse_server  # noqa: E402

OPERATIONS = {1: "lookup", 3: "getattr", 4: "setattr", 14: "open", 15: "read", 16: "write", 17: "statfs", 18: "release",
              20: "fsync", 25: "flush", 26: "init", 27: "opendir", 28: "readdir", 29: "releasedir", 34: "access", 35: "create",
              12: "rename", 10: "unlink"}
ROOT = 1
WRITING = ("write", "fsync")  # of any file: many programs write to a temporary name first


class Error(Exception):
    pass


class Files:
    def __init__(self, folder, slow, seconds, busy):
        self.files = {path.name: bytearray(path.read_bytes()) for path in sorted(pathlib.Path(folder).iterdir())}
        self.names = {ROOT: "slow-root"}
        self.slow, self.seconds, self.busy, self.served = slow, seconds, busy, False

    def delay(self, operation, node):
        """The delay happens once: a program that reads in pieces waits no longer than one that reads everything at once."""
        name = self.names.get(node, "")
        if operation != self.slow or self.served or not (name.startswith("slow") or operation in WRITING):
            return
        self.served = True
        until = time.monotonic() + self.seconds
        if not self.busy:
            time.sleep(self.seconds)
        while time.monotonic() < until:
            sum(range(1000))

    def node(self, name):
        for node, known in self.names.items():
            if known == name:
                return node
        self.names[len(self.names) + 1] = name
        return len(self.names)

    def data(self, node):
        if self.names.get(node) not in self.files:
            raise Error(errno.ENOENT)
        return self.files[self.names[node]]

    def attributes(self, node):
        mode, size = (0o040777, 0) if node == ROOT else (0o100666, len(self.data(node)))
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def entry(self, name):
        node = self.node(name)
        return struct.pack("<QQQQII", node, 0, 60, 60, 0, 0) + self.attributes(node)

    def do_lookup(self, _, body):
        name = body.rstrip(b"\0").decode()
        if name not in self.files:
            raise Error(errno.ENOENT)
        return self.entry(name)

    def do_getattr(self, node, _):
        return struct.pack("<QII", 60, 0, 0) + self.attributes(node)

    def do_setattr(self, node, body):
        valid, _, _, size = struct.unpack_from("<IIQQ", body)
        if valid & 8:
            del self.data(node)[size:]
        return self.do_getattr(node, body)

    def do_open(self, *_):
        return struct.pack("<QII", 1, 0, 0)

    do_opendir = do_open

    def do_create(self, _, body):
        name = body[16:].rstrip(b"\0").decode()
        self.files[name] = bytearray()
        return self.entry(name) + self.do_open()

    def do_read(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        return bytes(self.data(node)[offset:offset + size])

    def do_write(self, node, body):
        _, offset, size = struct.unpack_from("<QQI", body)
        self.data(node)[offset:offset + size] = body[40:40 + size]
        return struct.pack("<II", size, 0)

    def do_rename(self, _, body):
        old, new = body[8:].split(b"\0")[:2]
        self.files[new.decode()] = self.files.pop(old.decode())
        self.names = {node: name for node, name in self.names.items() if name != new.decode()}
        self.names = {node: new.decode() if name == old.decode() else name for node, name in self.names.items()}
        return b""

    def do_unlink(self, _, body):
        self.files.pop(body.rstrip(b"\0").decode(), None)
        return b""

    def do_readdir(self, _, body):
        offset = struct.unpack_from("<QQ", body)[1]
        listing = b""
        for index, name in enumerate(list(self.files)[offset:], offset + 1):
            text = name.encode()
            entry = struct.pack("<QQII", self.node(name), index, len(text), 8) + text
            listing += entry + b"\0" * (-len(entry) % 8)
        return listing[:4096] if len(listing) <= 4096 else b""

    def do_statfs(self, *_):
        return struct.pack("<QQQQQIIII6I", 1 << 20, 1 << 19, 1 << 19, 1000, 1000, 4096, 255, 4096, 0, *[0] * 6)

    def do_init(self, *_):
        return struct.pack("<IIIIHHIIHHI7I", 7, 31, 65536, 0, 1, 1, 65536, 1, 16, 0, 0, *[0] * 7)

    def do_nothing(self, *_):
        return b""

    do_release = do_releasedir = do_flush = do_fsync = do_access = do_nothing

    def answer(self, operation, node, body):
        self.delay(operation, node)
        method = getattr(self, "do_" + operation, None)
        if not method:
            return errno.ENOSYS, b""
        try:
            return 0, method(node, body)
        except Error as error:
            return error.args[0], b""


def main():
    mount, folder, operation, seconds, *rest = sys.argv[1:]
    files = Files(folder, operation, float(seconds), "busy" in rest)
    fuse_server.serve(mount, "slowfiles", lambda number, node, body: files.answer(OPERATIONS.get(number, "unknown"), node, body))


if __name__ == "__main__":
    main()
