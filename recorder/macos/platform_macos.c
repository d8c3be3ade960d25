/* Never run on a Mac (docs/macos.md); tests/macos tests what is possible on Linux.
 *
 * Darwin's local sockets lack SOCK_SEQPACKET. So this file uses streams, and a message is its
 * length in 4 bytes and its contents. Messages are smaller than a socket's buffer and the two sides
 * alternate, so an incomplete message is treated as an error: no client can make the recorder wait
 * for the rest.
 */
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/event.h>
#include <sys/mount.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/compat.h"

#define SOCKET_BYTES 65536 /* every message fits in */

static void prepare_socket(int fd)
{
    int bytes = SOCKET_BYTES, on = 1;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
    setsockopt(fd, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
}

int platform_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0)
        prepare_socket(fd);
    return fd;
}

int platform_accept(int listen_fd, struct peer *ret)
{
    gid_t gid;
    socklen_t length = sizeof(ret->pid);
    int fd = accept(listen_fd, NULL, NULL);
    if (fd < 0)
        return -1;
    prepare_socket(fd);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && getpeereid(fd, &ret->uid, &gid) == 0 &&
        getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &ret->pid, &length) == 0)
        return fd;
    close(fd);
    return -1;
}

pid_t platform_acceptor(int fd)
{
    pid_t pid;
    socklen_t length = sizeof(pid);
    return getsockopt(fd, SOL_LOCAL, LOCAL_PEERPID, &pid, &length) < 0 ? 0 : pid;
}

ssize_t platform_send(int socket, const struct msghdr *message)
{
    uint32_t bytes = (uint32_t)message->msg_iov[0].iov_len;
    struct iovec parts[2] = {{.iov_base = &bytes, .iov_len = sizeof(bytes)}, message->msg_iov[0]};
    struct msghdr framed = *message;
    framed.msg_iov = parts;
    framed.msg_iovlen = 2;
    ssize_t sent = sendmsg(socket, &framed, 0);
    if (sent >= 0 && (size_t)sent != sizeof(bytes) + bytes) {
        errno = EMSGSIZE;
        return -1;
    }
    return sent < 0 ? sent : sent - (ssize_t)sizeof(bytes);
}

/* Darwin knows no MSG_CMSG_CLOEXEC. */
static void close_on_exec(struct msghdr *message)
{
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header;
         header = CMSG_NXTHDR(message, header)) {
        int fd;
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= header->cmsg_len; at += sizeof(fd)) {
            memcpy(&fd, (char *)header + at, sizeof(fd));
            fcntl(fd, F_SETFD, FD_CLOEXEC);
        }
    }
}

/* A message that is longer than the room for it is cut, as a packet would be. */
ssize_t platform_receive(int socket, struct msghdr *message)
{
    uint32_t bytes;
    struct iovec parts[2] = {{.iov_base = &bytes, .iov_len = sizeof(bytes)}, message->msg_iov[0]};
    struct msghdr framed = *message;
    ssize_t there = recv(socket, &bytes, sizeof(bytes), MSG_PEEK);
    if (there <= 0)
        return there;
    framed.msg_iov = parts;
    framed.msg_iovlen = 2;
    if (there == (ssize_t)sizeof(bytes) && bytes < parts[1].iov_len)
        parts[1].iov_len = bytes;
    ssize_t got = recvmsg(socket, &framed, 0);
    if (got <= 0)
        return got;
    close_on_exec(&framed);
    message->msg_controllen = framed.msg_controllen;
    message->msg_flags = framed.msg_flags;
    return got > (ssize_t)sizeof(bytes) ? got - (ssize_t)sizeof(bytes) : 0;
}

/* The next message of a stream cannot be looked at without its descriptors. */
ssize_t platform_peek(int socket, void *bytes, size_t room, bool *ret_with_fd)
{
    (void)socket, (void)bytes, (void)room, (void)ret_with_fd;
    errno = ENOTSUP;
    return -1;
}

void platform_drop(int socket)
{
    (void)socket;
}

/* --- signals: a kqueue reports them also when they are ignored --- */

int platform_watch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    int queue = kqueue();
    if (queue < 0)
        return -1;
    fcntl(queue, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct kevent event;
        EV_SET(&event, (uintptr_t)signals[i], EVFILT_SIGNAL, EV_ADD, 0, 0, NULL);
        signal(signals[i], SIG_IGN);
        if (kevent(queue, &event, 1, NULL, 0, NULL) < 0) {
            close(queue);
            return -1;
        }
    }
    return queue;
}

uint32_t platform_next_signal(int signal_fd)
{
    struct kevent event;
    struct timespec none = {0};
    return kevent(signal_fd, NULL, 0, &event, 1, &none) == 1 ? (uint32_t)event.ident : 0;
}

int platform_watch_process(pid_t pid)
{
    struct kevent event;
    int queue = kqueue();
    EV_SET(&event, (uintptr_t)pid, EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT, 0, NULL);
    if (queue < 0 || kevent(queue, &event, 1, NULL, 0, NULL) == 0)
        return queue;
    int failed = errno;
    close(queue);
    errno = failed;
    return -1;
}

/* devfs and the like have no blocks. */
bool platform_keeps_files(int fd)
{
    struct statfs status;
    return fstatfs(fd, &status) == 0 && status.f_blocks > 0;
}

void platform_close_on_exec(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void platform_close_from(int first)
{
    for (int fd = first; fd < getdtablesize(); fd++)
        close(fd);
}

void platform_name_process(const char *name)
{
    (void)name; /* it has the name of its program */
}

void platform_raise_limits(void)
{
    signal(SIGXCPU, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}

bool platform_may_see_windows(void)
{
    return true;
}

bool platform_may_record(void)
{
    return geteuid() == 0;
}

void platform_forget_capabilities(void)
{
}

void platform_shed_rights(void)
{
}

void platform_confine(enum platform_stage stage)
{
    (void)stage;
}

void platform_drop_rights(uid_t uid)
{
    if (geteuid() == 0 && uid != 0) {
        bool done = setgroups(0, NULL) == 0 && setgid((gid_t)-2) == 0 && setuid(uid) == 0;
        (void)done; /* the process has no other file than the user's */
    }
}

void platform_real_time(bool on)
{
    struct sched_param wanted = {.sched_priority = on ? 47 : 31}; /* below the window server's 51 */
    pthread_setschedparam(pthread_self(), on ? SCHED_RR : SCHED_OTHER, &wanted);
}
