/* What a descriptor refers to, for a thread that waits for it. */
#include <stdlib.h>
#include <string.h>

#include "live/live_wait.h"

enum { INFO_BYTES = 4096 };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Which of the files with a name it is, the kernel's function tells better than stat(), which could
 * wait for a file system that does not answer. */
static enum argus_live_kind kind_of_path(const char *path, const struct argus_live_thread *of)
{
    if (begins(path, "/dev/pts/") || begins(path, "/dev/tty") || begins(path, "/dev/console") ||
        strstr(of->wchan, "n_tty"))
        return ARGUS_LIVE_TERMINAL;
    if (strstr(of->wchan, "pipe_"))
        return ARGUS_LIVE_PIPE;
    if (begins(path, "/dev/"))
        return ARGUS_LIVE_DEVICE;
    return of->state == 'D' ? ARGUS_LIVE_DISK : ARGUS_LIVE_OTHER;
}

/* A process by its descriptor ("anon_inode:[pidfd]", since Linux 6.9 "pidfd:[…]"). */
static bool is_process(struct argus_live *live, const struct live_fd *fd, uint64_t *ret)
{
    char info[INFO_BYTES];
    return fd->path && strstr(strtab_get(live->texts, fd->path), "pidfd") &&
           live_fd_info(live, fd->process, fd->fd, info, sizeof(info)) &&
           live_field(info, "Pid:", 10, ret);
}

void live_wait_for_fd(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    struct live_fd fd;
    if (!live_fd(live, of.process, wait->fd, &fd))
        return;
    wait->text = fd.path;
    wait->object = fd.key;
    switch (fd.type) {
    case LIVE_FILE_PIPE:
        wait->kind = ARGUS_LIVE_PIPE;
        break;
    case LIVE_FILE_SOCKET:
        live_wait_for_socket(live, &fd, wait);
        break;
    case LIVE_FILE_EVENTFD:
        wait->kind = ARGUS_LIVE_EVENTFD;
        break;
    case LIVE_FILE_EPOLL:
        wait->kind = ARGUS_LIVE_EVENTS;
        break;
    case LIVE_FILE_TIMERFD:
        wait->kind = ARGUS_LIVE_SLEEP;
        break;
    case LIVE_FILE_PATH:
        wait->kind = kind_of_path(strtab_get(live->texts, fd.path), &of);
        break;
    case LIVE_FILE_OTHER:
        if (is_process(live, &fd, &wait->object))
            wait->kind = ARGUS_LIVE_CHILD;
        break;
    }
}
