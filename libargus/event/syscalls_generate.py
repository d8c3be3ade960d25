#!/usr/bin/env python3
"""What a wait in each system call of Linux is for, and the tables of system calls that are made with it.

To say what a wait in a call is for: put its name into WAITS, and into FLAGS where that fits, and run this program. It writes both into
the tables of all architectures, whose numbers stay as they are. (Of Darwin the tables themselves say it: syscalls_darwin.def, syscalls_mach.def.)

    syscalls_generate.py            writes the tables again
    syscalls_generate.py --check    is there a table that differs from what is written here?

The numbers come from the kernel's headers (Debian's linux-libc-dev), for a newer kernel or another architecture:

    syscalls_generate.py /usr/include/x86_64-linux-gnu/asm/unistd_64.h > syscalls_x86_64.def
    syscalls_generate.py /usr/include/asm-generic/unistd.h             > syscalls_aarch64.def
"""
import pathlib
import re
import subprocess
import sys

TABLES = [pathlib.Path(__file__).with_name(f"syscalls_{architecture}.def") for architecture in ("x86_64", "aarch64")]

WAITS = {
    "FUTEX": "futex futex_wait futex_waitv flock fcntl semop semtimedop",
    "POLL": "poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 epoll_wait_old io_getevents io_pgetevents",
    "READ": "read pread64 readv preadv preadv2 recvfrom recvmsg recvmmsg accept accept4 mq_timedreceive msgrcv "
            "splice getrandom",
    "WRITE": "write pwrite64 writev pwritev pwritev2 sendto sendmsg sendmmsg sendfile connect mq_timedsend msgsnd "
             "vmsplice tee",
    "SLEEP": "nanosleep clock_nanosleep",
    "CHILD": "wait4 waitid vfork",
    "SIGNAL": "pause rt_sigsuspend rt_sigtimedwait",
    "DISK": "fsync fdatasync sync syncfs sync_file_range msync open openat openat2 creat stat lstat newfstatat statx "
            "getdents getdents64 unlink unlinkat rename renameat renameat2 mkdir mkdirat rmdir truncate ftruncate "
            "fallocate copy_file_range readahead access faccessat faccessat2 readlink readlinkat execve execveat",
}
FLAGS = {
    # The first argument is a file descriptor.
    "FD": "read pread64 readv preadv preadv2 recvfrom recvmsg recvmmsg accept accept4 write pwrite64 writev pwritev "
          "pwritev2 sendto sendmsg sendmmsg sendfile connect fsync fdatasync ftruncate fallocate flock fcntl ioctl "
          "shutdown close epoll_wait epoll_pwait epoll_pwait2 getdents getdents64 splice vmsplice tee syncfs "
          "mq_timedreceive mq_timedsend",
    # Sends data or the end of it, so a wake-up while it runs is on its behalf.
    "SEND": "write pwrite64 writev pwritev pwritev2 sendto sendmsg sendmmsg sendfile connect close shutdown splice "
            "vmsplice tee mq_timedsend msgsnd",
    "KILL": "kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
    "EXIT": "exit exit_group",
    "YIELD": "sched_yield",
    "RESTART": "restart_syscall",
    "CLOSE": "close",
    # Changes the file, or waits until its changes are on the disk: the caller has written to it.
    "CHANGE": "fsync fdatasync ftruncate fallocate",
    # Uses a set of semaphores or a message queue of System V.
    "IPC": "semget semctl semop semtimedop msgget msgctl msgsnd msgrcv",
}
# Names above that the tables do not have yet, since the headers were older.
NEWER = {"futex_wait"}


def by_name(table):
    return {name: key for key, names in table.items() for name in names.split()}


def numbers(header):
    source = "#define __ARCH_WANT_RENAMEAT\n#define __ARCH_WANT_SET_GET_RLIMIT\n#define __ARCH_WANT_NEW_STAT\n" \
             "#define __ARCH_WANT_SYS_CLONE3\n#define __ARCH_WANT_MEMFD_SECRET\n#define __BITS_PER_LONG 64\n" \
             f'#include "{header}"\n'
    # -dD keeps the definitions; the 64-bit names of asm-generic are defined through __NR3264_…
    text = subprocess.run(["cc", "-E", "-dD", "-D__ASM_BITSPERLONG_H", "-"], input=source, text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    values = dict(re.findall(r"^#define (__NR\w+) (\w+)$", text, re.M))
    for name, value in values.items():
        while not value.isdigit():
            value = values.get(value, "-")
            if value == "-":
                break
        if name.startswith("__NR_") and value.isdigit() and name not in ("__NR_syscalls", "__NR_arch_specific_syscall"):
            yield int(value), name[len("__NR_"):]


def table(calls):
    """The text of a table; `calls`: numbers and names."""
    waits = by_name(WAITS)
    lines = ["/* Made by syscalls_generate.py from the kernel's headers. SYSCALL(number, name, wait kind, flags) */"]
    for number, name in sorted(set(calls)):
        flags = " | ".join("SYSCALL_" + flag for flag, names in FLAGS.items() if name in names.split()) or "0"
        lines.append(f"SYSCALL({number}, {name}, {waits.get(name, 'OTHER')}, {flags})")
    return "\n".join(lines) + "\n"


def again(text):
    """The table `text` with what WAITS and FLAGS say now."""
    return table((int(number), name) for number, name in re.findall(r"^SYSCALL\((\d+), (\w+),", text, re.M))


def unknown_names(texts):
    known = set(re.findall(r"^SYSCALL\(\d+, (\w+),", "".join(texts), re.M))
    written = {name for names in [*WAITS.values(), *FLAGS.values()] for name in names.split()}
    return sorted(written - known - NEWER)


def main():
    if sys.argv[1:] and sys.argv[1] != "--check":
        print(table(numbers(sys.argv[1])), end="")
        return 0
    texts = {path: path.read_text(encoding="utf-8") for path in TABLES}
    for name in unknown_names(texts.values()):
        print(f"{name}: no architecture has a system call of this name")
    stale = [path for path, text in texts.items() if again(text) != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{path}: differs from WAITS and FLAGS; run {sys.argv[0]}")
        else:
            path.write_text(again(texts[path]), encoding="utf-8")
    return 1 if "--check" in sys.argv and (stale or unknown_names(texts.values())) else 0


if __name__ == "__main__":
    sys.exit(main())
