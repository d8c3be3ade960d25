/* Checks whether descriptors of another process have pending input: each is duplicated for a moment
 * (pidfd_getfd(2), Linux 5.6) and polled without waiting. That reads nothing, and needs permission
 * to trace the process. */
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "server/poll_set.h"

struct look {
    int process; /* a pidfd */
    bool (*is_so)(int fd);
    bool found;
};

/* An interactive program sets its terminal to another mode. */
static bool takes_lines(int fd)
{
    struct termios mode;
    return tcgetattr(fd, &mode) == 0 && mode.c_lflag & ICANON;
}

static bool is_readable(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    return poll(&readable, 1, 0) > 0 && readable.revents & POLLIN && !takes_lines(fd);
}

static bool is_untaken(int fd)
{
    int bytes = 0;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static bool look_at(void *context, int fd)
{
    struct look *look = context;
    int copy = (int)syscall(SYS_pidfd_getfd, look->process, fd, 0);
    if (copy < 0)
        return true;
    look->found = look->is_so(copy);
    close(copy);
    return !look->found;
}

static bool any_is(const struct poll_set *set, uint32_t pid, bool (*is_so)(int fd))
{
    struct look look = {.process = (int)syscall(SYS_pidfd_open, pid, 0), .is_so = is_so};
    if (look.process < 0)
        return false;
    if (set->kind == POLL_SET_EPOLL)
        look_at(&look, (int)(uint32_t)set->object);
    else
        poll_set_each(set, look_at, &look);
    close(look.process);
    return look.found;
}

bool poll_set_is_ready(const struct poll_set *set, uint32_t pid)
{
    return any_is(set, pid, is_readable);
}

bool poll_set_is_untaken(const struct poll_set *set, uint32_t pid)
{
    return any_is(set, pid, is_untaken);
}
