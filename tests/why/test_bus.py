#!/usr/bin/env python3
"""What `argus why` says about D-Bus calls through a daemon that starts services, and through dbus-broker:
test_bus.py ARGUS STUCK SCHEMA [CASE…].
"""
import ctypes
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time
import unittest

from asking import STUCK, Started, settled

PROGRAM = pathlib.Path(STUCK).resolve()
BUS_PROGRAM = PROGRAM.with_name("stuck_bus")

BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" \
"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type><listen>unix:tmpdir=/tmp</listen>{0}
  <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
  <limit name="service_start_timeout">600000</limit>
</busconfig>
"""
CLONE_NEWNS = 0x20000
MS_PRIVATE_ALL = 0x44000  # MS_REC | MS_PRIVATE


def give_journal_and_socket(bus):
    """The launcher wants the journal's socket, and its bus at descriptor 3, as systemd passes it. In the child."""
    libc = ctypes.CDLL(None)
    if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_PRIVATE_ALL, None) or \
            libc.mount(b"none", b"/run", b"tmpfs", 0, None):
        raise OSError("no mount namespace can be made here")
    os.makedirs("/run/systemd/journal")
    journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    journal.bind("/run/systemd/journal/socket")
    os.set_inheritable(journal.detach(), True)
    os.dup2(bus.fileno(), 3)
    os.environ["LISTEN_PID"] = str(os.getpid())


class Groups:
    """Control groups of these names, as systemd makes them; of none if that is not allowed."""

    def __init__(self, *names):
        self.paths = {}
        for top in ("/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
            try:
                for name in names:
                    path = pathlib.Path(top, f"{os.getpid()}-{name}")
                    path.mkdir()
                    self.paths[name] = path
                    if not path.joinpath("cgroup.procs").exists():
                        raise OSError
                return
            except OSError:
                self.remove()

    def within(self, name):
        """What begins a program in this group."""
        return "sh", "-c", 'echo 0 > "$0/cgroup.procs" && exec "$@"', str(self.paths[name])

    def remove(self):
        for path in self.paths.values():
            for _ in range(100):
                try:
                    path.rmdir()
                    break
                except OSError:
                    time.sleep(0.1)  # until its last process has ended
        self.paths = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Broker:
    """dbus-broker, with a dbus-daemon where the launcher looks for systemd."""

    def __init__(self, folder, daemon):
        config, path = pathlib.Path(folder, "bus.conf"), pathlib.Path(folder, "bus")
        config.write_text(BUS.format(""))
        with socket.socket(socket.AF_UNIX) as bus:
            bus.bind(str(path))
            bus.listen(16)
            pid = os.fork()
            if pid == 0:
                try:
                    os.environ.update(DBUS_SESSION_BUS_ADDRESS=daemon.line, LISTEN_FDS="1")
                    give_journal_and_socket(bus)
                    os.execvp("dbus-broker-launch", ["dbus-broker-launch", "--scope", "user", "--config-file", str(config)])
                finally:
                    os._exit(77)  # else the child would go on as a second run of the tests
        self.pid, self.address = pid, f"unix:path={path}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if not self.has_ended():
            os.kill(self.pid, 15)
            os.waitpid(self.pid, 0)

    def has_ended(self):
        return os.waitpid(self.pid, os.WNOHANG)[0] != 0


class WhyBus(unittest.TestCase):
    def test_service_that_is_starting(self):
        """The daemon keeps a call until the process that it has started takes the name: that process, whether it has
        connected or not, and none that has a name, nor the daemon, for whose next message a process may wait."""
        programs = {"org.argus.Early": f"{PROGRAM} sleeps", "org.argus.Late": f"{BUS_PROGRAM} begin it",
                    "org.argus.Ready": f"{BUS_PROGRAM} answer org.argus.Ready"}
        for wanted, end in (("org.argus.Early", "sleeps"), ("org.argus.Late", "idle")):
            command = programs[wanted]
            with tempfile.TemporaryDirectory() as folder, self.subTest(wanted):
                for name, program in programs.items():
                    pathlib.Path(folder, f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={program}\n")
                config = pathlib.Path(folder, "bus.conf")
                config.write_text(BUS.format(f"<servicedir>{folder}</servicedir>"))
                with Started("dbus-daemon", f"--config-file={config}", "--nofork", "--print-address") as daemon:
                    environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": daemon.line}
                    with Started(BUS_PROGRAM, "ask", "org.argus.Ready", wanted, env=environment) as client:
                        answer = settled(client.process.pid, lambda path: len(path) == 2 and
                                         path[0]["wait"]["path"] == wanted, end)
                        path = answer["path"]
                        executable = pathlib.Path(f"/proc/{path[-1]['pid']}/cmdline").read_text().split("\0")[:-1]
                        self.assertEqual((len(path), executable, path[0]["link"], path[0]["guess"], answer["end"]),
                                         (2, command.split(), "bus", True, end), answer["summary"])

    def test_service_that_systemd_starts(self):
        """systemd begins daemon and service, each in a control group of its own: the service that has begun since the call, and
        none that was there before. The test stands for systemd."""
        wanted = "org.argus.Unit"
        with tempfile.TemporaryDirectory() as folder, Groups("argus-dbus.service", "argus-old.service", "argus-new.service") as groups:
            if not groups.paths or not os.path.exists("/proc/self/sched"):
                self.skipTest("no control group can be made here, or the kernel does not tell when a thread has run last")
            for name, unit in ((wanted, "argus-new.service"), ("org.freedesktop.systemd1", "")):
                pathlib.Path(folder, f"{name}.service").write_text(
                    f"[D-BUS Service]\nName={name}\nExec=/bin/false\n" + (f"SystemdService={unit}\n" if unit else ""))
            config = pathlib.Path(folder, "bus.conf")
            config.write_text(BUS.format(f"<servicedir>{folder}</servicedir>"))
            with Started(*groups.within("argus-dbus.service"), "dbus-daemon", f"--config-file={config}", "--nofork", "--print-address",
                         "--systemd-activation") as daemon:
                environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": daemon.line}
                with Started(*groups.within("argus-old.service"), PROGRAM, "sleeps"), \
                        Started(BUS_PROGRAM, "serve", "org.freedesktop.systemd1", env=environment):
                    time.sleep(1)  # longer ago than the clocks are exact
                    with Started(BUS_PROGRAM, "ask", wanted, env=environment) as client, \
                            Started(*groups.within("argus-new.service"), PROGRAM, "sleeps") as service:
                        answer = settled(client.process.pid, lambda path: len(path) == 2, "sleeps")
        path = answer["path"]
        self.assertEqual(([step["pid"] for step in path], path[0]["link"], path[0]["wait"]["path"], path[0]["guess"], answer["end"]),
                         ([client.process.pid, service.process.pid], "bus", wanted, True, "sleeps"), answer["summary"])

    def test_broker(self):
        """As with dbus-daemon: the service that has to answer."""
        if os.geteuid() != 0 or not shutil.which("dbus-broker-launch"):
            self.skipTest("dbus-broker is not installed, or this is not root")
        name = "org.argus.Second"
        with tempfile.TemporaryDirectory() as folder, Started("dbus-daemon", "--session", "--nofork", "--print-address") as daemon, \
                Broker(folder, daemon) as broker:
            environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": broker.address}
            with Started(BUS_PROGRAM, "serve", name, env=environment) as service:
                if service.line != "ready":
                    self.skipTest("dbus-broker does not run here")
                with Started(BUS_PROGRAM, "ask", name, name, env=environment) as client:
                    answer = settled(client.process.pid, lambda path: path[-1]["wait"]["kind"] == "sleep" and
                                     path[0]["wait"]["unread_there"])
        path = answer["path"]
        self.assertEqual(([step["pid"] for step in path], path[0]["wait"]["kind"], path[0]["wait"]["path"], answer["end"]),
                         ([client.process.pid, service.process.pid], "dbus", name, "sleeps"), answer["summary"])


if __name__ == "__main__":
    if not BUS_PROGRAM.exists() or not shutil.which("dbus-daemon"):
        print("no dbus-daemon, or built without libdbus")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *(f"WhyBus.{name}" for name in sys.argv[4:])])
