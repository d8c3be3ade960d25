#include "platform.h"

#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

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

void platform_real_time(bool on)
{
    struct sched_param wanted = {.sched_priority = on ? 1 : 0};
    /* a control group may forbid real time; the nice value cannot fail for root */
    if (sched_setscheduler(0, on ? SCHED_RR : SCHED_OTHER, &wanted) < 0 && on)
        setpriority(PRIO_PROCESS, 0, -20);
}
