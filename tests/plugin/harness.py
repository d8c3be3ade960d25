"""What the tests of the front ends share: running programs, a pseudo-terminal, a small trace with hangs in it."""
import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>78]|[\x00\x0f\x08]|\r")


class Failed(Exception):
    """A test found an error."""


class Skip(Exception):
    """This machine cannot run the test."""


def expect(condition, message):
    if not condition:
        raise Failed(message)


def expect_equal(what, got, wanted):
    expect(got == wanted, f"{what}: {got!r} instead of {wanted!r}")


def expect_in(needle, haystack):
    expect(needle in haystack, f"{needle!r} is not in:\n{haystack}")


class Setup:
    """The paths of the programs, and a folder for files that is removed at the end."""

    def __init__(self, build, source, folder):
        self.build = pathlib.Path(build)
        self.source = pathlib.Path(source)
        self.folder = pathlib.Path(folder)
        self.argus = self.build / "bin/argus"
        self.plugin = self.build / "lib/libargus.so"

    def run(self, *words, code=None, stdin=subprocess.DEVNULL, cwd=None, **environment):
        """Runs `argus words…`; returns the finished process, with its output as text."""
        done = subprocess.run([str(self.argus), *map(str, words)], stdin=stdin, cwd=cwd, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=120, env={**os.environ, **environment})
        if code is not None:
            expect(done.returncode == code,
                   f"exit code {done.returncode} instead of {code} from argus {' '.join(map(str, words))}\n"
                   f"{done.stdout}{done.stderr}")
        return done

    def trace(self, name, text):
        """Makes `name`.argus from mktrace's text."""
        source, path = self.folder / f"{name}.trace", self.folder / f"{name}.argus"
        source.write_text(text)
        return self.trace_of(source, path)

    def trace_of(self, source, path):
        """Makes the trace `path` from the file `source`."""
        program = next(self.build.rglob("mktrace"), None)
        expect(program is not None, "mktrace is not built")
        subprocess.run([str(program), str(source), str(path)], check=True, timeout=60)
        return path

    def lldb(self):
        """The LLDB to test with; raises Skip if there is none."""
        names = [os.environ.get("ARGUS_LLDB", ""), "lldb", *[f"lldb-{n}" for n in range(22, 13, -1)]]
        for name in names:
            path = shutil.which(name) if name else None
            if path:
                return path
        raise Skip("no lldb is installed")

    def run_lldb(self, *commands, code=0):
        """`lldb --batch` with the plugin loaded and these commands; its output without the echoed commands."""
        if b"__asan_init" in pathlib.Path(self.plugin).read_bytes():
            raise Skip("a sanitizer's runtime cannot be loaded into somebody else's LLDB")
        words = [self.lldb(), "--no-lldbinit", "--no-use-colors", "--batch", "-o", f'plugin load "{self.plugin}"']
        for command in commands:
            words += ["-o", command]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120)
        expect(done.returncode == code, f"lldb ended with {done.returncode} instead of {code}:\n{done.stdout}")
        return "\n".join(line for line in done.stdout.splitlines() if not line.startswith("(lldb) "))


def exchange(lines, editor, helper, source, cpu, at_ms, busy_ms):
    """One event: the source wakes the editor out of poll. The editor asks the helper, which is busy for `busy_ms`."""
    def add(ms, processor, thread, text):
        lines.append(f"{int(ms * 1e6)} cpu{processor} t{thread} {text}")

    add(at_ms, cpu + 1, source, f"make_runnable thread={editor} priority=120")
    add(at_ms + .01, cpu, 0, f"switch state=R next={editor}")
    add(at_ms + .02, cpu, editor, "syscall_end nr=poll result=1")
    add(at_ms + .10, cpu, editor, "syscall_start nr=write arg1=5")
    add(at_ms + .11, cpu, editor, f"make_runnable thread={helper} priority=120")
    add(at_ms + .12, cpu, editor, "syscall_end nr=write result=8")
    add(at_ms + .13, cpu, editor, "syscall_start nr=read arg1=6")
    add(at_ms + .14, cpu, editor, "switch state=S next=0")
    add(at_ms + .15, cpu + 1, 0, f"switch state=R next={helper}")
    add(at_ms + .16, cpu + 1, helper, "syscall_end nr=read result=8")
    end = at_ms + .16 + busy_ms
    add(end, cpu + 1, helper, "syscall_start nr=write arg1=6")
    add(end + .01, cpu + 1, helper, f"make_runnable thread={editor} priority=120")
    add(end + .02, cpu, 0, f"switch state=R next={editor}")
    add(end + .03, cpu + 1, helper, "syscall_end nr=write result=8")
    add(end + .04, cpu, editor, "syscall_end nr=read result=8")
    add(end + .05, cpu + 1, helper, "syscall_start nr=read arg1=5")
    add(end + .06, cpu + 1, helper, "switch state=S next=0")
    add(end + .07, cpu, editor, "syscall_start nr=poll arg1=0 arg2=2 arg3=-1")
    add(end + .08, cpu, editor, "switch state=S next=0")
    return end + 10


def freezes(*hangs_ms):
    """mktrace text: for each number a program whose helper lets it hang for so long, after 30 quick events."""
    lines = [f"cpus {2 * len(hangs_ms)}"]
    for index, hang_ms in enumerate(hangs_ms):
        editor, helper, source = 100 + 10 * index, 101 + 10 * index, 102 + 10 * index
        for tid, name in (editor, "editor"), (helper, "helper"), (source, "input"):
            lines.append(f"thread {tid} pid {tid} ppid 1 name {name}{index}")
        at_ms = 1 + index
        for busy_ms in [1] * 30 + [hang_ms] + [1] * 5:
            at_ms = exchange(lines, editor, helper, source, 2 * index, at_ms, busy_ms)
    return "\n".join(lines) + "\n"


class Terminal:
    """A program under a pseudo-terminal."""

    def __init__(self, words, **environment):
        self.text = ""
        self.code = None
        pid, self.fd = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test in the background inherits that it is ignored
            os.execve(words[0], [str(word) for word in words],
                      {**os.environ, "TERM": "vt100", "NO_COLOR": "1", **environment})
        self.pid = pid
        termios.tcsetwinsize(self.fd, (50, 200)) if hasattr(termios, "tcsetwinsize") else None

    def _read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            piece = b""
        self.text += ESCAPES.sub("", piece.decode(errors="replace"))
        return bool(piece)

    def wait_for(self, *needles, count=1, seconds=60):
        """Waits until one of the texts has been shown `count` times in all."""
        end = time.monotonic() + seconds
        while all(self.text.count(needle) < count for needle in needles):
            left = end - time.monotonic()
            expect(left > 0, f"{needles} did not come; the terminal shows:\n{self.text}")
            if not self._read(min(left, 1)) and self._ended():
                raise Failed(f"the program ended before {needles} came; the terminal shows:\n{self.text}")

    def _ended(self):
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def send(self, text):
        os.write(self.fd, text.encode())

    def end(self, seconds=60):
        """Waits until the program has ended by itself; returns its exit code."""
        limit = time.monotonic() + seconds
        while not self._ended():
            expect(time.monotonic() < limit, f"the program does not end; the terminal shows:\n{self.text}")
            self._read(0.1)
        while self._read(0):
            pass
        return self.code

    def end_with_defaults(self, prompt, answered, seconds=60):
        """Answers each further question with Enter until the program ends: `answered` prompts are already answered. Returns the exit
        code."""
        limit = time.monotonic() + seconds
        while not self._ended():
            expect(time.monotonic() < limit, f"the program does not end; the terminal shows:\n{self.text}")
            if self.text.count(prompt) > answered:
                answered += 1
                self.send("\r")
            self._read(0.1)
        return self.end()

    def close(self):
        if not self._ended():
            os.kill(self.pid, 9)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


def tests_of_main():
    """The functions test_… of the program, in their order, so that none is left out."""
    return [value for name, value in vars(sys.modules["__main__"]).items() if name.startswith("test_")]


def main():
    """Runs the functions of a test file, each with the setup; prints those that failed."""
    tests = tests_of_main()
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    arguments = parser.parse_args()
    failed = skipped = 0
    with tempfile.TemporaryDirectory(prefix="argus-test-") as folder:
        setup = Setup(arguments.build, arguments.source, folder)
        for test in tests:
            try:
                test(setup)
                print(f"ok {test.__name__}")
            except Skip as reason:
                skipped += 1
                print(f"skipped {test.__name__}: {reason}")
            except Exception as reason:  # an answer that is no JSON or lacks a key is a failure like any other
                failed += 1
                print(f"FAILED {test.__name__}: {type(reason).__name__}: {reason}")
    sys.exit(1 if failed else 77 if skipped == len(tests) else 0)
