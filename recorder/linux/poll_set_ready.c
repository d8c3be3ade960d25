/* Looks from outside whether something waits at the descriptors of another process: each is duplicated for a moment
 * (pidfd_getfd(2), Linux 5.6) and polled without waiting. That takes nothing from the process, and needs the right to trace it. */
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "poll_set.h"

struct look {
    int process; /* a pidfd */
    bool ready;
};

static bool look_at(void *context, int fd)
{
    struct look *look = context;
    struct pollfd copy = {.events = POLLIN};
    copy.fd = (int)syscall(SYS_pidfd_getfd, look->process, fd, 0);
    if (copy.fd < 0)
        return true;
    look->ready = poll(&copy, 1, 0) > 0 && copy.revents & POLLIN;
    close(copy.fd);
    return !look->ready;
}

bool poll_set_is_ready(const struct poll_set *set, uint32_t pid)
{
    struct look look = {.process = (int)syscall(SYS_pidfd_open, pid, 0)};
    if (look.process < 0)
        return false;
    if (set->kind == POLL_SET_EPOLL)
        look_at(&look, (int)(uint32_t)set->object);
    else
        poll_set_each(set, look_at, &look);
    close(look.process);
    return look.ready;
}

#define MEMORY_DEVICES 1 /* /dev/null and its like */

struct face {
    uint32_t pid;
    bool found;
};

static bool look_at_kind(void *context, int fd)
{
    struct face *face = context;
    struct stat status;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/fd/%d", face->pid, fd);
    if (stat(path, &status) < 0)
        return true;
    face->found = S_ISSOCK(status.st_mode) ||
                  (S_ISCHR(status.st_mode) && major(status.st_rdev) != MEMORY_DEVICES);
    return !face->found;
}

bool poll_set_faces_others(const struct poll_set *set, uint32_t pid)
{
    struct face face = {.pid = pid};
    if (set->kind == POLL_SET_UNKNOWN || set->kind == POLL_SET_EPOLL)
        return true;
    poll_set_each(set, look_at_kind, &face);
    return face.found;
}
