"""A private desktop: X server, session bus, window manager and home folder. Its processes are ended with it, by process ID."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import machine  # noqa: E402

NAMESPACE = os.readlink("/proc/self/ns/mnt")
PYTHON = "/usr/bin/python3"  # Debian's Python, for which Debian's modules are installed


def our_processes():
    """All processes of this mount namespace: the desktop, the recorder, and the tests that started them."""
    return set(machine.processes_of_namespace(NAMESPACE))


def wait_for(condition, seconds, what=""):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    if what:
        raise TimeoutError(f"{what}: nothing in {seconds} s")
    return None


def parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def descends(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = parent(pid)
    return pid == ancestor


class Session:
    """The desktop of one run. `folder` is private to it, and contains the home folder."""

    def __init__(self, folder):
        self.folder = folder
        self.before = our_processes()
        self.programs = []
        self.server = self.bus = None

    def __enter__(self):
        home = self.folder / "home"
        (home / "run").mkdir(parents=True)
        (home / "run").chmod(0o700)
        self.environment = {
            "HOME": str(home), "XDG_RUNTIME_DIR": str(home / "run"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "QT_QPA_PLATFORM": "xcb", "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "LIBGL_ALWAYS_SOFTWARE": "1", "NO_AT_BRIDGE": "1",
            "GTK_A11Y": "none", "SAL_USE_VCLPLUGIN": "gtk3"}
        read, write = os.pipe()
        self.server = self.start("Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp", pass_fds=[write])
        os.close(write)
        with os.fdopen(read) as number:
            self.environment["DISPLAY"] = ":" + number.readline().strip()
        self.bus = self.start("dbus-daemon", "--session", "--print-address", "--nofork", stdout=subprocess.PIPE, text=True)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().strip()
        self.start("openbox")
        time.sleep(0.5)
        return self

    def __exit__(self, *_):
        """The X server ends last, because programs that lose it print errors for a long time."""
        for program in reversed(self.programs):
            for signum in (signal.SIGTERM, signal.SIGCONT):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signum)
            if program is not self.programs[0]:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    program.wait(0.3)
        for program in self.programs:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        for pid in our_processes() - self.before - {os.getpid()}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
            if line.split()[1].startswith(f"{self.folder}/"):
                subprocess.run(["umount", "--lazy", line.split()[1]], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *words, extra=None, **options):
        """A program with a process group of its own, silent unless `options` say otherwise."""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options}
        program = subprocess.Popen([str(word) for word in words], env={**self.environment, **(extra or {})}, cwd=self.folder,
                                   start_new_session=True, **options)
        self.programs.append(program)
        return program

    def end(self, program):
        """Ends a program with its children, kindly at first."""
        for signum in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(program.pid, signum)
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(3)
        self.programs.remove(program)

    def helper(self, name, *words):
        """Starts one of programs/, and returns when it has said that it is ready."""
        program = self.start(PYTHON, HERE / "programs" / name, *words, stdout=subprocess.PIPE, text=True)
        if not program.stdout.readline().strip():
            raise RuntimeError(f"{name} {words}: it did not begin")
        return program

    def x(self, *words):
        done = subprocess.run(["xdotool", *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=60)
        return done.stdout.split()

    def copy(self, path):
        """Puts a file on the clipboard. Returns the process that owns the clipboard."""
        owner = self.start("xclip", "-quiet", "-selection", "clipboard", "-i", path)
        time.sleep(0.5)
        return owner

    def windows(self, program):
        """The visible windows of a program and its children, with the process of each. Not all toolkits tell the process of a window."""
        pids = {window: int((self.x("getwindowpid", window) or [0])[0]) for window in self.x("search", "--onlyvisible", "--name", ".")}
        return [(window, pid or program.pid) for window, pid in pids.items() if not pid or descends(pid, program.pid)]

    def focus(self, window):
        self.x("windowactivate", "--sync", window)
        self.x("windowfocus", window)
        self.x("mousemove", "--window", window, 150, 150)
