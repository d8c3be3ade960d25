"""Boots a kernel in QEMU with a small root file system in memory, runs a script in it, and fetches what that leaves behind.

The root file system is a cpio archive: busybox, the programs under test with the libraries that they need, and the kernel's modules
for disks. The guest has two disks: one to make a file system on, and one onto which it writes its results as a tar archive.
"""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tarfile
import time

import kernels

DISK_BYTES = 64 << 20
RESULT_BYTES = 512 << 20
MEMORY_MIB = 1536
# An emulated disk answers before the emulated thread has gone to sleep, so nothing waits for it. This one takes 100 ms when it is busy: QEMU
# lets a tenth of a second's requests pass without a delay, which is one of them.
SLOW_DISK = "throttling.iops-total=10"
PR_SET_PDEATHSIG = 1

# To add an architecture, add a row: QEMU's program and machine, the console, and the folders of libraries below the sysroot.
MACHINES = {
    "amd64": {
        "program": "qemu-system-x86_64",
        "arguments": ["-cpu", "max,la57=off"],
        "console": "ttyS0",
        # no_timer_check: on a busy machine QEMU's timer comes too late for that check, and the kernel panics
        "command_line": "tsc=reliable clocksource=tsc no_timer_check",
        "libraries": ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64", "usr/local/lib"],
    },
    "arm64": {
        "program": "qemu-system-aarch64",
        "arguments": ["-M", "virt", "-cpu", "max,pauth-impdef=on"],
        "console": "ttyAMA0",
        "command_line": "",
        "libraries": ["lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib", "usr/lib"],
    },
}

# What a distribution may have as modules: the disks of QEMU and a file system.
MODULES = ["virtio_pci", "virtio_mmio", "virtio_blk", "ext4", "crc32c_generic", "fuse", "loop"]

INIT = r"""#!/bin/busybox sh
/bin/busybox mkdir -p /bin /sbin /usr/bin /usr/sbin /proc /sys /dev /run /tmp /var/tmp /disk /results
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug
mount -t securityfs securityfs /sys/kernel/security
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup2 /sys/fs/cgroup
ip link set lo up
for module in $(cat /modules.order); do insmod /modules/$module; done
sleep 1
sh /job > /results/log 2>&1
echo "guest: job ended with $?" >> /results/log
tail -c 20000 /results/log
tar -C /results -cf - . > /dev/vdb
sync
echo "guest: done"
poweroff -f
"""


class Failed(Exception):
    """The guest did not do what it was started for."""


def needed_libraries(program):
    done = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=False)
    loader = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=False)
    names = re.findall(r"\(NEEDED\).*\[(.+?)\]", done.stdout)
    return names, re.findall(r"program interpreter: (.+?)\]", loader.stdout)


class Root:
    """A root file system that grows in a folder."""

    def __init__(self, folder, architecture, sysroot="/", own_libraries=()):
        self.folder = pathlib.Path(folder)
        self.sysroot = pathlib.Path(sysroot)
        self.places = MACHINES[architecture]["libraries"]
        self.own_libraries = [pathlib.Path(folder) for folder in own_libraries]  # of the build, found by their run path
        self.architecture = architecture
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def path(self, place):
        target = self.folder / str(place).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def add_text(self, place, text, mode=0o644):
        self.path(place).write_text(text, encoding="utf-8")
        self.path(place).chmod(mode)

    def add_file(self, source, place=None, strip=False):
        target = self.path(place or source)
        if target.exists():
            return
        shutil.copy(source, target)
        if strip and self.architecture == "amd64":
            subprocess.run(["strip", "--strip-debug", target], check=False, stderr=subprocess.DEVNULL)

    def add_program(self, source, place=None, strip=True):
        """With its libraries and the loader."""
        if self.path(place or source).exists():
            return
        self.add_file(source, place, strip)
        names, loaders = needed_libraries(source)
        for loader in loaders:
            self.add_file((self.sysroot / loader.lstrip("/")).resolve(), loader)
        for name in names:
            self.add_library(name)

    def add_library(self, name):
        for folder in self.own_libraries:
            if (folder / name).exists():
                self.add_program(folder / name)
                return
        for place in self.places:
            source = self.sysroot / place / name
            if source.exists() and not (self.folder / place / name).exists():
                self.add_program(source.resolve(), f"/{place}/{name}")
                return
            if source.exists():
                return
        raise Failed(f"no library {name} below {self.sysroot}")

    def add_modules(self, unpacked):
        order = kernels.module_order(unpacked, MODULES)
        for path in order:
            name = re.sub(r"\.ko.*", ".ko", path.name)
            self.path(f"/modules/{name}").write_bytes(kernels.read_module(path))
        self.add_text("/modules.order", "".join(re.sub(r"\.ko.*", ".ko", p.name) + "\n" for p in order))

    def pack(self, archive):
        with open(archive, "wb") as output:
            names = subprocess.run(["find", ".", "-print0"], cwd=self.folder, capture_output=True, check=True).stdout
            subprocess.run(["cpio", "--quiet", "-0", "-o", "-H", "newc", "-R", "0:0"], cwd=self.folder, input=names,
                           stdout=output, check=True)


def busybox(architecture, sysroot):
    for path in (pathlib.Path(sysroot) / "bin/busybox", pathlib.Path(sysroot) / "usr/bin/busybox"):
        if path.exists():
            return path
    raise Failed(f"no busybox for {architecture} below {sysroot}: install busybox-static")


def accelerators(architecture):
    """What to try, one after the other. KVM only where it was asked for: in a nested guest its device can be there and not work.

    With a thread for each cpu, QEMU's emulation of x86-64 can lock up while the kernel patches its own code, which it does whenever a
    tracepoint is switched on: both cpus then stay at that instruction, or the kernel panics there. On a busy machine, where QEMU's
    threads wait for each other, that is usual. One thread for all cpus is slower where nothing else runs, and does not."""
    chosen = os.environ.get("ARGUS_QEMU_ACCEL")
    if chosen:
        return [chosen]
    if architecture != "amd64":
        return ["tcg,thread=multi", "tcg,thread=single"]
    is_busy = os.getloadavg()[0] > os.cpu_count()
    return ["tcg,thread=single"] if is_busy else ["tcg,thread=multi", "tcg,thread=single"]


def boot(unpacked, architecture, initrd, folder, timeout_s, append=""):
    """Boots; the results lie in `folder`/results afterwards. Returns the seconds that it took."""
    folder = pathlib.Path(folder)
    for accelerator in accelerators(architecture):
        began = time.monotonic()
        if boot_once(unpacked, architecture, initrd, folder, timeout_s, accelerator, append):
            fetch_results(folder)
            return time.monotonic() - began
        print(f"QEMU ({accelerator}) failed after {time.monotonic() - began:.0f} s; booting again", flush=True)
    raise Failed(f"the emulated kernel locked up or panicked each time (see {folder}/console)")


def is_emulator_fault(text):
    """Whether the console tells of what QEMU does when a kernel patches its code: both cpus stay at the instruction, or one meets the
    breakpoint that the kernel puts there for the moment after the kernel has finished with it."""
    return b"soft lockup" in text or (b"Kernel panic" in text and b"int3: 0000" in text)


def wait_for(guest, console, timeout_s):
    """Until the guest ends. False: the emulator failed, and the guest is ended."""
    give_up = time.monotonic() + timeout_s
    while guest.poll() is None:
        time.sleep(1)
        failed = is_emulator_fault(console.read_bytes())
        if failed or time.monotonic() > give_up:
            guest.kill()
            guest.wait()
            if failed:
                return False
            raise Failed(f"no answer within {timeout_s} s (see {console})")
    text = console.read_bytes()
    if is_emulator_fault(text):
        return False
    if b"Kernel panic" in text:
        raise Failed(f"the kernel panicked (see {console})")
    return True


def end_with_us():
    """In QEMU's process: it is ended when this program is, in whatever way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def boot_once(unpacked, architecture, initrd, folder, timeout_s, accelerator, append):
    machine = MACHINES[architecture]
    for name, size in (("disk", DISK_BYTES), ("out", RESULT_BYTES)):
        with open(folder / name, "wb") as disk:
            disk.truncate(size)
    command = [machine["program"], *machine["arguments"], "-accel", accelerator, "-smp", "2", "-m", str(MEMORY_MIB),
               "-kernel", str(unpacked.image), "-initrd", str(initrd), "-nographic", "-no-reboot", "-monitor", "none",
               "-nic", "none", "-append",
               f"console={machine['console']} panic=-1 rdinit=/init loglevel=4 {machine['command_line']} {append}",
               "-drive", f"file={folder}/disk,format=raw,if=virtio,{SLOW_DISK}", "-drive", f"file={folder}/out,format=raw,if=virtio"]
    with open(folder / "console", "wb") as console, open(os.devnull, "rb") as nothing:
        guest = subprocess.Popen(command, stdin=nothing, stdout=console, stderr=subprocess.STDOUT, preexec_fn=end_with_us)
    try:
        return wait_for(guest, folder / "console", timeout_s)
    finally:
        if guest.poll() is None:
            guest.kill()
            guest.wait()


def fetch_results(folder):
    results = folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    try:
        with tarfile.open(folder / "out", "r:") as archive:
            archive.extractall(results)
    except tarfile.TarError as error:
        raise Failed(f"the guest left no results (see {folder}/console)") from error
    finally:
        for name in ("disk", "out"):
            (folder / name).unlink(missing_ok=True)
