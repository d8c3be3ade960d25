"""The means of freezing a program from outside, one class each. To add one, write a class here and name it in a row of cases.py.

A means is made before the program starts. `values` are what commands and actions of the row may name in braces. begin() creates
the cause just before the program meets it, end() removes it. `culprits` are the IDs of the processes that may be blamed for
the freeze; they are known only then, because they are started here. `victims` are other processes that freeze as well.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

from session import HERE, PYTHON, descends, our_processes

SECONDS = 5  # how long a program is frozen, if the means decides it


class Means:
    blames_itself = False  # the frozen thread is its own culprit
    everybody = False  # all programs of the desktop freeze
    says = ""  # where no process is the culprit: what the first root cause has to say (a regular expression)
    headline = ""  # the same for the first line of the answer

    def __init__(self, session, *arguments):
        self.session, self.values, self.culprits = session, {}, set()
        self.prepare(*arguments)

    def prepare(self, *arguments):
        pass

    def find(self, program):
        """Finds the culprits that exist only once the program runs."""

    def begin(self):
        pass

    def end(self):
        pass


class Itself(Means):
    """No outside cause: the program computes by itself."""

    blames_itself = True


class SlowFiles(Means):
    """A folder in which one operation on a file named slow… takes long: a FUSE file system."""

    def prepare(self, operation="read", *words):
        source, mount = self.session.folder / "source", self.session.folder / "mnt"
        source.mkdir()
        mount.mkdir()
        (source / "slow.txt").write_text("".join(f"line {i} of a text with words\n" for i in range(300)))
        (source / "slow.c").write_text("".join(f"int value_{i} = {i};\n" for i in range(300)))
        (source / "slow.js").write_text("1\n")
        (source / "slow.xml").write_text("<?xml version=\"1.0\"?><Configuration/>\n")
        (source / "slow.ts").write_text('<?xml version="1.0"?><!DOCTYPE TS><TS version="2.1" language="de"></TS>')
        (source / "slow.wav").write_bytes(pathlib.Path(self.session.sound).read_bytes())
        (source / "slow.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50"><rect width="9" height="9"/></svg>')
        (source / "slow.png").write_bytes(pathlib.Path(self.session.picture).read_bytes())
        (source / "slow.pdf").write_bytes(pathlib.Path(self.session.document).read_bytes())
        subprocess.run(["sqlite3", source / "slow.db", "create table t(a); insert into t values(1)"], check=True)
        server = self.session.helper("slow_files.py", mount, source, operation, SECONDS, *words)
        self.values, self.culprits = {"slow": str(mount)}, {server.pid}


class Stopped(Means):
    """A process that the program needs is stopped (SIGSTOP)."""

    def pids(self):
        return self.culprits

    def begin(self):
        for pid in self.pids():
            os.kill(pid, signal.SIGSTOP)

    def end(self):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


class StoppedClipboard(Stopped):
    """The program that owns the clipboard."""

    def prepare(self):
        text = self.session.folder / "clip.txt"
        text.write_text("some text to be pasted\n")
        self.culprits = {self.session.copy(text).pid}


class StoppedServer(Stopped):
    """The X server itself."""

    everybody = True

    def prepare(self):
        self.culprits = {self.session.server.pid}


class StoppedBus(Stopped):
    """The session's message bus."""

    def prepare(self):
        self.culprits = {self.session.bus.pid}


class StoppedAccessibility(Stopped):
    """The service that knows the address of the accessibility bus: programs with the bridge ask it when they start."""

    def prepare(self):
        launcher = self.session.start("/usr/libexec/at-spi-bus-launcher")
        time.sleep(1)
        self.culprits = {launcher.pid}


class StoppedSettings(Stopped):
    """The service of Xfce's settings."""

    def prepare(self):
        service = self.session.start("/usr/lib/x86_64-linux-gnu/xfce4/xfconf/xfconfd")
        time.sleep(1)
        self.culprits = {service.pid}


class Held(Means):
    """A lock, a silent server or the like, of hold.py, which ends after a fixed time. `where` may name {folder}."""

    def prepare(self, kind, where=""):
        self.kind, self.where = kind, where.format(folder=self.session.folder)
        self.values = {"held": self.where}
        pathlib.Path(self.where).parent.mkdir(parents=True, exist_ok=True)
        if kind in ("pipe", "reader"):
            os.mkfifo(self.where)

    def begin(self):
        holder = self.session.helper("hold.py", self.kind, self.where, SECONDS + 1)
        self.culprits.add(holder.pid)


class HeldProgram(Held):
    """hold.py stops the program itself."""

    blames_itself = True

    def prepare(self, kind, headline):
        super().prepare(kind)
        self.headline = headline

    def find(self, program):
        self.where = str(program.pid)


class Debugger(Means):
    """A debugger has stopped the program."""

    blames_itself = True
    headline = "was stopped"

    def find(self, program):
        self.program = program

    def begin(self):
        self.debugger = self.session.start("gdb", "-q", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-solib-add off",
                                           "-p", self.program.pid, "-ex", f"shell sleep {SECONDS}", "-ex", "detach")
        self.culprits = {self.debugger.pid}

    def end(self):
        self.culprits |= {pid for pid in our_processes() if descends(pid, self.debugger.pid)}


class SleepingChild(Means):
    """A command that the program runs itself, and that does nothing for a while."""

    def prepare(self):
        self.id = self.session.folder / "child"
        self.values = {"child": f"{PYTHON} {HERE / 'programs/hold.py'} nothing {self.id} {SECONDS + 1}"}

    def end(self):
        self.culprits = {int(self.id.read_text())}


class Server(Held):
    """A server that answers only after it has read a named pipe, whose writer writes nothing."""

    def prepare(self, *command):
        super().prepare("pipe", "{folder}/fifo")
        self.session.start(*(word.replace("{fifo}", self.where).replace("{programs}", str(HERE / "programs")) for word in command))
        time.sleep(4)


class Grab(Held):
    """Another program has grabbed the X server."""

    everybody = True

    def prepare(self):
        super().prepare("grab")


class Resolver(Held):
    """The name server in /etc/resolv.conf does not answer. Only in this mount namespace."""

    ADDRESS = "127.9.9.9"

    def prepare(self):
        file = self.session.folder / "resolv.conf"
        file.write_text(f"nameserver {self.ADDRESS}\noptions timeout:5 attempts:1\n")
        subprocess.run(["mount", "--bind", file, "/etc/resolv.conf"], check=True)
        super().prepare("udp", self.ADDRESS)

    def end(self):
        subprocess.run(["umount", "/etc/resolv.conf"], check=False)


class NoCpu(Means):
    """The program's control group has a share of the CPUs, and another program of the group uses it up."""

    GROUP = pathlib.Path("/sys/fs/cgroup/cpu")

    def prepare(self):
        self.group = self.GROUP / f"argus-desktop-{os.getpid()}"
        self.group.mkdir()
        (self.group / "cpu.cfs_period_us").write_text("1000000")
        (self.group / "cpu.cfs_quota_us").write_text("5000")

    def find(self, program):
        self.program = program

    def begin(self):
        (self.group / "cgroup.procs").write_text(str(self.program.pid))
        self.hogs = [self.session.start("sh", "-c", f"echo $$ > {self.group}/cgroup.procs; while :; do :; done") for _ in range(8)]
        self.culprits = {hog.pid for hog in self.hogs}

    def end(self):
        (self.group / "cpu.cfs_quota_us").write_text("-1")
        for hog in self.hogs:
            hog.kill()
            hog.wait()
        (self.GROUP / "cgroup.procs").write_text(str(self.program.pid))
        self.group.rmdir()


class FullCpu(Means):
    """The program may use one CPU only, where another one computes at real-time priority."""

    says = "cpu|CPU"

    def find(self, program):
        self.program = program

    def begin(self):
        hog = self.session.start("taskset", "-c", "0", "chrt", "--fifo", "50", "timeout", str(SECONDS), "sh", "-c", "while :; do :; done")
        self.culprits = {hog.pid}

    def end(self):
        self.culprits |= {pid for pid in our_processes() if descends(pid, next(iter(self.culprits)))}


class LowPriority(Means):
    """The program may use one CPU only and has the lowest priority, and four others compute there with the highest."""

    says = "cpu|CPU"

    def find(self, program):
        subprocess.run(["renice", "-n", "19", "-g", str(program.pid)], check=True, capture_output=True)

    def begin(self):
        self.hogs = [self.session.start("taskset", "-c", "0", "nice", "-n", "-20", "sh", "-c", "while :; do :; done") for _ in range(4)]
        self.culprits = {hog.pid for hog in self.hogs}

    def end(self):
        for hog in self.hogs:
            hog.kill()
            hog.wait()


class BusyDisk(Means):
    """A slow disk, to which another program writes a lot, so that a file is on the disk only after the other one's data."""

    LIMIT = pathlib.Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")

    def prepare(self):
        image, mount = self.session.folder / "disk.img", self.session.folder / "disk"
        mount.mkdir()
        subprocess.run(["truncate", "-s", "200M", image], check=True)
        subprocess.run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image], check=True)
        self.device = subprocess.run(["losetup", "--find", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(["mount", self.device, mount], check=True)
        number = os.stat(self.device).st_rdev
        self.number = f"{os.major(number)}:{os.minor(number)}"
        self.mount, self.values = mount, {"disk": str(mount)}

    def begin(self):
        self.LIMIT.write_text(f"{self.number} {2 << 20}")
        writer = self.session.start("dd", "if=/dev/zero", f"of={self.mount}/large", "bs=1M", f"count={2 * SECONDS + 6}", "conv=fsync")
        self.culprits = {writer.pid}
        time.sleep(1)

    def end(self):
        time.sleep(2)
        self.LIMIT.write_text(f"{self.number} 0")
        subprocess.run(["umount", "--lazy", self.mount], check=False)
        subprocess.run(["losetup", "--detach", self.device], check=False)


class Quota(Means):
    """The program's control group may use only 0.1 % of a CPU."""

    blames_itself = True
    says = "quota|throttl|control group|cgroup"

    def find(self, program):
        self.program = program

    def begin(self):
        self.group = NoCpu.GROUP / f"argus-desktop-{os.getpid()}"
        self.group.mkdir()
        (self.group / "cpu.cfs_period_us").write_text("1000000")
        (self.group / "cpu.cfs_quota_us").write_text("1000")
        (self.group / "cgroup.procs").write_text(str(self.program.pid))

    def end(self):
        (NoCpu.GROUP / "cgroup.procs").write_text(str(self.program.pid))
        self.group.rmdir()
