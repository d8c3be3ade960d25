"""A file system that can be stopped: stuck_files.py MOUNT SWITCH OPERATION... Prints "serves" when it is mounted.

Files can be written as in slow_files.py. While a file SWITCH exists, the named operations (write, flush, statfs ...) wait, and with
them all that follow. An operation written "fail:write" fails then, as that of a broken disk. Needs root.
"""
import errno
import pathlib
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(TESTS / "e2e"), str(TESTS / "desktop/programs")]
import fuse_server  # noqa: E402
import slow_files  # noqa: E402


class StuckFiles(slow_files.Files):
    def __init__(self, folder, switch, operations):
        super().__init__(folder, "", 0, False)
        self.switch, self.operations = pathlib.Path(switch), operations

    def delay(self, operation, node):
        while operation in self.operations and self.switch.exists():
            time.sleep(0.02)

    def answer(self, operation, node, body):
        if f"fail:{operation}" in self.operations and self.switch.exists():
            return errno.EIO, b""
        return super().answer(operation, node, body)


def main():
    mount, switch, *operations = sys.argv[1:]
    with tempfile.TemporaryDirectory() as empty:
        files = StuckFiles(empty, switch, operations)
    fuse_server.serve(mount, "stuckfiles",
                      lambda number, node, body: files.answer(slow_files.OPERATIONS.get(number, "unknown"), node, body))


if __name__ == "__main__":
    main()
