#include "linux/process_fds.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fd_search {
    int process; /* a pidfd */
    bool (*is_so)(int fd);
    bool found;
};

int process_fd_copy(int process, int fd)
{
    return (int)syscall(SYS_pidfd_getfd, process, fd, 0);
}

bool process_fd_is(int process, int fd, bool (*is_so)(int fd))
{
    int copy = process_fd_copy(process, fd);
    if (copy < 0)
        return false;
    bool so = is_so(copy);
    close(copy);
    return so;
}

static bool look_at(void *context, int fd)
{
    struct fd_search *search = context;
    search->found = process_fd_is(search->process, fd, search->is_so);
    return !search->found;
}

bool process_fd_any_is(const struct poll_set *set, uint32_t pid, bool (*is_so)(int fd))
{
    struct fd_search search = {.process = (int)syscall(SYS_pidfd_open, pid, 0), .is_so = is_so};
    if (search.process < 0)
        return false;
    if (set->kind == POLL_SET_EPOLL)
        look_at(&search, (int)(uint32_t)set->object);
    else
        poll_set_each(set, look_at, &search);
    close(search.process);
    return search.found;
}

bool fd_is_untaken(int fd)
{
    int bytes = 0;
    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}
