"""Rows of torture.py: real file systems whose device fails or goes away, which become read-only, or whose quota is used up. A program
may write to such a file system without an error for a while: the error comes when the system writes what it kept in memory."""
import fcntl
import os
import shutil
import signal
import struct
import subprocess
import time

import recorder_harness as harness
from torture_round import Failure, Skipped, expect, row

EXT4_IOC_SHUTDOWN = 0x8004587D


def written(path):
    """The file, unless the server ended before it had written anything of it."""
    left = list(path.parent.glob(path.name + "*"))
    return path if all(file.stat().st_size for file in left) else None


def mount_image(at, kind, megabytes, *options, folder=None):
    """A file system of this kind in a file. Returns where it is mounted."""
    disk, image = at.folder / "disk", (folder or at.folder) / "image"
    disk.mkdir()
    with open(image, "wb") as file:
        file.truncate(megabytes << 20)
    if not shutil.which(f"mkfs.{kind}") or subprocess.run([f"mkfs.{kind}", "-q", image], check=False, capture_output=True).returncode or \
            subprocess.run(["mount", "-o", ",".join(["loop", *options]), image, disk], check=False, capture_output=True).returncode:
        raise Skipped(f"no loop devices, or no {kind}")
    at.undo.append(lambda: subprocess.run(["umount", "-l", disk], check=False, stderr=subprocess.DEVNULL))
    return disk


@row
def remote_disk(at):
    """sshfs, whose server stops answering or ends. Its ssh is the server of files itself, on this machine."""
    server = "/usr/lib/openssh/sftp-server"
    if not shutil.which("sshfs") or not os.access(server, os.X_OK):
        raise Skipped("no sshfs, or no sftp-server")
    disk, far, shell = at.folder / "disk", at.folder / "far", at.folder / "ssh"
    disk.mkdir()
    far.mkdir()
    shell.write_text(f'#!/bin/sh\necho $$ >"{at.folder}/pid"\nexec {server}\n', encoding="ascii")
    shell.chmod(0o700)
    at.undo.append(lambda: subprocess.run(["umount", "-l", disk], check=False, stderr=subprocess.DEVNULL))
    if subprocess.run(["sshfs", "-o", f"ssh_command={shell}", f"here:{far}", disk], check=False, capture_output=True).returncode:
        raise Skipped("sshfs cannot mount here")
    pid = int((at.folder / "pid").read_text(encoding="ascii"))
    at.undo.append(lambda: at.kill(pid))
    front = at.record(disk / "t.argus", "sleep", "1")
    at.moment()
    if at.random.random() < 0.5:
        at.kill(pid)
        losses = ("Input/output error", "not connected", "cannot find the recording", "cannot open the finished trace")
        return expect(at.said(front, 1), *losses), written(far / "t.argus")
    at.kill(pid, signal.SIGSTOP)
    time.sleep(2)
    began = time.monotonic()
    harness.argus("status")
    if time.monotonic() - began > 15:
        raise Failure(f"argus status took {time.monotonic() - began:.0f} s")
    at.kill(at.recorder, at.random.choice([signal.SIGKILL, signal.SIGTERM]))
    at.check_detached()
    at.kill(pid)
    at.said(front)
    return "", written(far / "t.argus")


@row
def dead_disk(at):
    """The device of a real file system goes away: all that is written fails."""
    disk = mount_image(at, "ext4", 64)
    front = at.record(disk / "t.argus", "sleep", "2")
    at.moment()
    folder = os.open(disk, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, struct.pack("I", 2))  # without what was not written yet
    except OSError as error:
        raise Skipped(f"this ext4 cannot be shut down: {error}") from error
    finally:
        os.close(folder)
    return expect(at.said(front, 1), "Input/output error", "cannot find the recording"), None


@row
def failing_device(at):
    """The device takes no more blocks: its own file is on a full disk. Writing succeeds, and the file system fails later."""
    below = at.folder / "below"
    below.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "none", below], check=True)
    at.undo.append(lambda: subprocess.run(["umount", "-l", below], check=False, stderr=subprocess.DEVNULL))
    disk = mount_image(at, "ext4", 64, "errors=remount-ro", folder=below)
    (below / "rest").write_bytes(bytes(4096))
    front = at.record(disk / "t.argus", "sleep", "2")
    at.moment(0.5)
    with open(below / "rest", "ab", buffering=0) as rest:
        try:
            while rest.write(bytes(65536)):
                pass
        except OSError:
            pass
    return expect(at.said(front, 1), "Input/output error", "Read-only", "No space left"), None


@row
def read_only_disk(at):
    """The file system becomes read-only in the middle, as after an error."""
    disk = mount_image(at, "ext4", 64)
    front = at.record(disk / "t.argus", "sleep", "2")
    at.moment()
    if subprocess.run(["mount", "-o", "remount,abort", disk], check=False, capture_output=True).returncode:
        raise Skipped("this ext4 cannot be aborted")
    return expect(at.said(front, 1), "Read-only file system", "Input/output error"), None


@row
def used_up_quota(at):
    disk = mount_image(at, "btrfs", 128)
    for words in (["quota", "enable", disk], ["qgroup", "limit", f"{at.random.randint(200, 900)}K", disk]):
        if not shutil.which("btrfs") or subprocess.run(["btrfs", *words], check=False, capture_output=True).returncode:
            raise Skipped("no quota of btrfs")
    front = at.record(disk / "t.argus")
    return expect(at.said(front, 1), "Disk quota exceeded"), disk / "t.argus"
