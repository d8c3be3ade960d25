/* Descriptors of macOS's processes, by what they refer to.
 *
 * The two ends of a pipe are two objects, each of which names the other one (xnu bsd/kern/sys_pipe.c,
 * fill_pipeinfo). The smaller of the two handles stands for the pipe, and the flags with which a
 * descriptor is open tell the end, as on Linux. A pipe of which one end is closed has a key of its
 * own, which nobody else has. */
#include <stdlib.h>
#include <string.h>

#include "live/live_wait.h"
#include "live/macos/mac_kernel.h"

static const enum live_file_type types[] = {
    [0] = LIVE_FILE_OTHER,
    [MAC_FD_FILE] = LIVE_FILE_PATH,
    [MAC_FD_SOCKET] = LIVE_FILE_SOCKET,
    [MAC_FD_SHARED_MEMORY] = LIVE_FILE_OTHER,
    [MAC_FD_SEMAPHORE] = LIVE_FILE_OTHER,
    [MAC_FD_KQUEUE] = LIVE_FILE_EPOLL,
    [MAC_FD_PIPE] = LIVE_FILE_PIPE,
};

static uint64_t key_of(const struct mac_fd *fd, enum live_file_type type)
{
    uint64_t other = fd->peer ? fd->peer : fd->handle;
    switch (type) {
    case LIVE_FILE_PIPE:
        return fd->handle < other ? fd->handle : other;
    case LIVE_FILE_SOCKET:
        return fd->socket.id;
    case LIVE_FILE_PATH:
        return live_path_key(fd->path);
    default:
        return 0;
    }
}

static struct live_fd classified(struct argus_live *live, uint32_t process, const struct mac_fd *fd)
{
    size_t count = sizeof(types) / sizeof(types[0]);
    struct live_fd ret = {.process = process,
                          .fd = fd->fd,
                          .type = fd->type < count ? types[fd->type] : LIVE_FILE_OTHER,
                          .reads = fd->flags & MAC_OPEN_READ,
                          .writes = fd->flags & MAC_OPEN_WRITE};
    ret.path = fd->path[0] ? live_text(live, fd->path) : 0;
    ret.key = key_of(fd, ret.type);
    return ret;
}

void live_read_fds(struct argus_live *live, uint32_t process)
{
    struct mac_fd *fds;
    size_t count = mac_fds(live->processes.data[process].pid, &fds);
    for (size_t i = 0; i < count; i++)
        if (!vec_push(&live->fds, classified(live, process, &fds[i])))
            live->no_memory = true;
    free(fds);
}

bool live_fd(struct argus_live *live, uint32_t process, uint32_t fd, struct live_fd *ret)
{
    struct mac_fd *found = calloc(1, sizeof(*found));
    bool is_open = found && mac_fd(live->processes.data[process].pid, fd, found);
    if (is_open)
        *ret = classified(live, process, found);
    free(found);
    return is_open;
}

bool live_fd_is_open_for(const struct argus_live *live, const struct live_fd *fd, bool writing)
{
    (void)live;
    return writing ? fd->writes : fd->reads;
}

bool live_may_signal_itself(const struct argus_live *live, uint32_t process)
{
    uint32_t caught;
    return !mac_caught_signals(live->processes.data[process].pid, &caught) || caught;
}

/* --- what a wait for a descriptor is for --- */

static enum argus_live_kind kind_of_file(const struct mac_fd *fd, char state)
{
    if (strncmp(fd->path, "/dev/tty", strlen("/dev/tty")) == 0 ||
        strcmp(fd->path, "/dev/console") == 0)
        return ARGUS_LIVE_TERMINAL;
    if (fd->is_fifo) /* by its path only, the other end is found */
        return fd->path[0] ? ARGUS_LIVE_PIPE : ARGUS_LIVE_OTHER;
    if (fd->is_device)
        return ARGUS_LIVE_DEVICE;
    return state == 'D' ? ARGUS_LIVE_DISK : ARGUS_LIVE_OTHER;
}

/* What is unread in a pipe, the reader has not taken, or the writer sees as full. */
static void for_object(struct argus_live *live, const struct mac_fd *found, char state,
                       const struct live_fd *fd, struct argus_live_wait *wait)
{
    wait->text = fd->path;
    wait->object = fd->key;
    switch (fd->type) {
    case LIVE_FILE_PIPE:
        wait->kind = fd->key ? ARGUS_LIVE_PIPE : ARGUS_LIVE_OTHER;
        wait->unread_there = wait->is_write ? found->unread : 0;
        break;
    case LIVE_FILE_SOCKET:
        live_wait_for_socket(live, fd, wait);
        break;
    case LIVE_FILE_EPOLL:
        wait->kind = ARGUS_LIVE_KQUEUE;
        break;
    case LIVE_FILE_PATH:
        wait->kind = kind_of_file(found, state);
        break;
    default:
        break;
    }
}

void live_wait_for_fd(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct argus_live_thread of = live->threads.data[thread];
    struct mac_fd *found = calloc(1, sizeof(*found));
    if (found && mac_fd(live_pid_of(live, thread), wait->fd, found)) {
        const struct live_fd fd = classified(live, of.process, found);
        for_object(live, found, of.state, &fd, wait);
    }
    free(found);
}
