#include "platform.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/sanitizer.h"

#define CLOSE_RANGE 436 /* the same on all architectures; older headers lack it */
#define NOBODY      65534

int platform_socket(void)
{
    return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

int platform_accept(int listen_fd, struct peer *ret)
{
    struct ucred who;
    socklen_t length = sizeof(who);
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) < 0) {
        close(fd);
        return -1;
    }
    *ret = (struct peer){.pid = who.pid, .uid = who.uid};
    return fd;
}

pid_t platform_acceptor(int fd)
{
    struct ucred who;
    socklen_t length = sizeof(who);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &length) < 0 ? 0 : who.pid;
}

ssize_t platform_send(int socket, const struct msghdr *message)
{
    return sendmsg(socket, message, MSG_NOSIGNAL);
}

ssize_t platform_receive(int socket, struct msghdr *message)
{
    return recvmsg(socket, message, MSG_CMSG_CLOEXEC);
}

/* Without room for them, descriptors are only reported. */
ssize_t platform_peek(int socket, void *bytes, size_t room, bool *ret_with_fd)
{
    struct iovec part = {.iov_base = bytes, .iov_len = room};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t length = recvmsg(socket, &message, MSG_PEEK);
    *ret_with_fd = length >= 0 && message.msg_flags & MSG_CTRUNC;
    return length;
}

void platform_drop(int socket)
{
    char byte;
    ssize_t length = recv(socket, &byte, sizeof(byte), MSG_DONTWAIT);
    (void)length; /* it is dropped, or there is none */
}

int platform_watch_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

uint32_t platform_next_signal(int signal_fd)
{
    struct signalfd_siginfo signal;
    return read(signal_fd, &signal, sizeof(signal)) == sizeof(signal) ? signal.ssi_signo : 0;
}

int platform_watch_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* The files of /proc, /sys, /sys/fs/cgroup … look like empty regular files, but a write to one is a
 * command to the kernel, which checks the rights of the writer, and that is root here. Such file
 * systems have no blocks; some real ones do not count theirs either. */
bool platform_keeps_files(int fd)
{
    struct statfs status;
    if (fstatfs(fd, &status) < 0)
        return false;
    return status.f_blocks > 0 || status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC ||
           status.f_type == FUSE_SUPER_MAGIC || status.f_type == V9FS_MAGIC;
}

void platform_close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* For kernels without close_range() (before 5.9). */
static void close_listed(int first)
{
    DIR *folder = opendir("/proc/self/fd");
    long last = folder ? 0 : sysconf(_SC_OPEN_MAX);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (fd >= first && fd != dirfd(folder))
            close(fd);
    }
    if (folder)
        closedir(folder);
    for (int fd = first; fd < last; fd++)
        close(fd);
}

void platform_close_from(int first)
{
    if (syscall(CLOSE_RANGE, first, ~0u, 0) < 0)
        close_listed(first);
}

void platform_name_process(const char *name)
{
    prctl(PR_SET_NAME, name);
}

void platform_raise_limits(void)
{
    static const int limits[] = {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE};
    struct rlimit limit;
    signal(SIGXCPU, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        if (getrlimit(limits[i], &limit) < 0)
            continue;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(limits[i], &limit);
    }
}

static bool has(const struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3], int capability)
{
    return held[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

bool platform_may_record(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0};
    if (geteuid() == 0)
        return true; /* what it lacks in a container is said when that is refused */
    return syscall(SYS_capget, &header, held) == 0 &&
           (has(held, CAP_SYS_ADMIN) || (has(held, CAP_BPF) && has(held, CAP_PERFMON)));
}

/* pidfd_getfd(2) asks as a debugger does; Yama refuses that for one's own processes, too. */
bool platform_may_see_windows(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0};
    return syscall(SYS_capget, &header, held) == 0 && has(held, CAP_SYS_PTRACE);
}

void platform_forget_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (geteuid() != 0)
        syscall(SYS_capset, &header, none);
}

/* Capabilities that nothing here needs: to change the system, its network, clock, devices, modules
 * and security policy. To give one up: a row. */
static const uint8_t unneeded[] = {
    CAP_LINUX_IMMUTABLE, CAP_NET_BIND_SERVICE, CAP_NET_BROADCAST,  CAP_NET_ADMIN,  CAP_NET_RAW,
    CAP_IPC_OWNER,       CAP_SYS_MODULE,       CAP_SYS_RAWIO,      CAP_SYS_CHROOT, CAP_SYS_PACCT,
    CAP_SYS_BOOT,        CAP_SYS_TIME,         CAP_SYS_TTY_CONFIG, CAP_MKNOD,      CAP_LEASE,
    CAP_AUDIT_WRITE,     CAP_AUDIT_CONTROL,    CAP_AUDIT_READ,     CAP_SETFCAP,    CAP_MAC_OVERRIDE,
    CAP_MAC_ADMIN,       CAP_WAKE_ALARM,       CAP_BLOCK_SUSPEND,  CAP_SETPCAP,
};

/* The bounding set first: that needs one of them. No core dump of this process has the stacks that
 * it copied; and of an ordinary user's process with capabilities, other processes of that user may
 * see no memory and no descriptors. (A sanitizer looks for leaks by ptrace.) */
void platform_shed_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct kept[_LINUX_CAPABILITY_U32S_3] = {0};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (geteuid() != 0 || !IS_SANITIZED)
        prctl(PR_SET_DUMPABLE, 0);
    if (syscall(SYS_capget, &header, kept) < 0)
        return;
    for (size_t i = 0; i < sizeof(unneeded); i++) {
        uint32_t mask = ~CAP_TO_MASK(unneeded[i]);
        prctl(PR_CAPBSET_DROP, unneeded[i], 0, 0, 0);
        kept[CAP_TO_INDEX(unneeded[i])].permitted &= mask;
        kept[CAP_TO_INDEX(unneeded[i])].effective &= mask;
        kept[CAP_TO_INDEX(unneeded[i])].inheritable &= mask;
    }
    syscall(SYS_capset, &header, kept);
}

/* The order matters: groups and the user need capabilities, which the last call takes away. */
void platform_drop_rights(uid_t uid)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (geteuid() == 0 && uid != 0) {
        bool done = setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
                    setresuid(uid, uid, uid) == 0;
        (void)done; /* a container may lack such users; without capabilities they matter less */
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_capset, &header, none);
    prctl(PR_SET_DUMPABLE, 0);
}

void platform_real_time(bool on)
{
    struct sched_param wanted = {.sched_priority = on ? 1 : 0};
    /* a control group may forbid real time; the nice value cannot fail for root */
    if (sched_setscheduler(0, on ? SCHED_RR : SCHED_OTHER, &wanted) < 0 && on)
        setpriority(PRIO_PROCESS, 0, -20);
}
