"""Whether this machine can record at all. This asks the kernel, not Argus, so that a broken recorder never counts as
"skipped"."""
import contextlib
import ctypes
import os
import platform
import shutil
import signal
import subprocess
import sys
import time

BPF_PROG_LOAD = 5
BPF_PROG_TYPE_RAW_TRACEPOINT = 17
BPF_SYSCALL = {"x86_64": 321, "aarch64": 280}


def refused_program():
    """Loads the smallest raw_tp program and drops it again. Returns the error's text, or ""."""
    # r0 = 0; exit
    code = ctypes.create_string_buffer(bytes([0xB7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0]))
    licence = ctypes.create_string_buffer(b"GPL")
    attr = (ctypes.c_uint64 * 16)()
    attr[0] = BPF_PROG_TYPE_RAW_TRACEPOINT | 2 << 32
    attr[1] = ctypes.addressof(code)
    attr[2] = ctypes.addressof(licence)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(BPF_SYSCALL[platform.machine()], BPF_PROG_LOAD, attr, ctypes.sizeof(attr))
    if fd < 0:
        return os.strerror(ctypes.get_errno())
    os.close(fd)
    return ""


def reason_to_skip():
    """The reason why this machine cannot record, as a sentence, or "" if it can."""
    if platform.system() != "Linux" or platform.machine() not in BPF_SYSCALL:
        return f"there is no recorder for {platform.system()} on {platform.machine()}"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
    if os.geteuid() == 0:
        refused = refused_program()
    else:
        if shutil.which("sudo") is None or subprocess.run(["sudo", "-n", "true"], stderr=subprocess.DEVNULL).returncode:
            return "recording needs root, or sudo without a password"
        refused = subprocess.run(["sudo", "-n", sys.executable, __file__], stdout=subprocess.PIPE, text=True,
                                 check=True).stdout.strip()
    return f"the kernel refuses BPF programs even to root: {refused}" if refused else ""


def is_virtual():
    """Whether this is the guest of a hypervisor, if the processor reports that."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpuinfo:
        return any("hypervisor" in line.split() for line in cpuinfo if line.startswith("flags"))


def reason_to_skip_beside_others():
    """The same for a test that calls enter_namespace(): it needs the rights itself, because it mounts."""
    return "recording beside others needs root" if os.geteuid() else reason_to_skip()


def processes_of_namespace(namespace):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/ns/mnt") == namespace and int(name) != os.getpid():
                yield int(name)
        except OSError:  # the process has ended
            pass


def end_namespace():
    """Ends all other processes of the mount namespace, including those just being started in it, and waits for their end for a
    while."""
    told, give_up = set(), time.monotonic() + 10
    while time.monotonic() < give_up:
        left = set(processes_of_namespace(os.readlink("/proc/self/ns/mnt")))
        if not left:
            return
        for pid in left - told:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        told |= left
        time.sleep(0.1)


def end_namespace_with_us():
    """Leaves a process that waits until this one has ended for whatever reason, and then ends all others of the mount namespace."""
    ours, theirs = os.pipe()
    between = os.fork()
    if between:
        os.close(ours)  # `theirs` stays open until this process ends; programs that it starts do not inherit it
        os.waitpid(between, 0)
        return
    if os.fork():  # not a child of this process, so it is not mistaken for a daemon of the tested program
        os._exit(0)
    os.setsid()
    os.close(theirs)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    os.read(ours, 1)
    end_namespace()
    os._exit(0)


def enter_namespace():
    """Runs this program again in a mount namespace with an empty /run/argus, so that it cannot meet another recording. Needs root.

    The processes there are ended with the test that started them, also when the test is killed."""
    stage = os.environ.get("ARGUS_TEST_NAMESPACE")
    if stage == "entered":
        os.environ["ARGUS_TEST_NAMESPACE"] = "watched"
        end_namespace_with_us()
    if stage:
        return
    os.environ["ARGUS_TEST_NAMESPACE"] = "entered"
    os.makedirs("/run/argus", mode=0o755, exist_ok=True)
    script = 'mount -t tmpfs -o mode=755 tmpfs /run/argus && exec "$@"'
    os.execvp("unshare", ["unshare", "--mount", "sh", "-c", script, "sh", sys.executable, "-B", *sys.argv])


def enter_namespace_or_skip():
    """enter_namespace(). Exits with 77 ("skipped"), and says why, if this machine cannot record."""
    reason = reason_to_skip_beside_others()
    if reason:
        print("skipped:", reason)
        sys.exit(77)
    enter_namespace()


def enter_namespace_if_root():
    """enter_namespace() where that is possible; a test that records by sudo waits for another recording instead."""
    if os.geteuid() == 0:
        enter_namespace()


def run(*words):
    """What a command prints. If it fails, the test ends with its output."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode} from {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    print(refused_program())
