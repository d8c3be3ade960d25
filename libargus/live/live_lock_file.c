/* File locks: /proc/locks lists each lock, followed by those who wait for it:
 *
 *     5: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
 *     5: -> FLOCK  ADVISORY  WRITE 4712 08:01:1234 0 EOF
 *
 * The process of a lock is the one that took it. A lock of an open file (flock(), OFD) lives as long
 * as any process has that open file: children that inherited it keep it. /proc/PID/fdinfo tells which
 * processes those are ("lock:" lines), so these are asked if the process that took the lock has no
 * such line, or has ended. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_stack_paths.h"
#include "live/live_wait.h"

enum { INFO_BYTES = 8192, TYPE_BYTES = 16 };

struct line {
    unsigned number;
    bool waits;
    char type[TYPE_BYTES];
    int32_t pid; /* -1: of an open file */
    unsigned major, minor;
    uint64_t inode;
};

static bool parse_line(const char *text, struct line *ret)
{
    int at = 0;
    if (sscanf(text, "%u: %n", &ret->number, &at) < 1)
        return false;
    ret->waits = strncmp(text + at, "->", 2) == 0;
    at += ret->waits ? 2 : 0;
    return sscanf(text + at, " %15s %*s %*s %" SCNd32 " %x:%x:%" SCNu64, ret->type, &ret->pid,
                  &ret->major, &ret->minor, &ret->inode) == 5;
}

/* The lock for which the process waits at the file of this inode. */
static bool find_holder(uint32_t pid, uint64_t inode, struct line *ret)
{
    char *text = NULL;
    size_t room = 0;
    struct line line, holder = {0};
    bool found = false;
    FILE *file = fopen("/proc/locks", "re");
    while (file && !found && getline(&text, &room, file) > 0) {
        if (!parse_line(text, &line))
            continue;
        if (!line.waits)
            holder = line;
        found = line.waits && line.number == holder.number && line.inode == inode &&
                (line.pid == (int32_t)pid || line.pid == -1);
    }
    if (file)
        fclose(file);
    free(text);
    *ret = holder;
    return found;
}

/* Whether this descriptor's open file has the lock. */
static bool has_lock(struct argus_live *live, const struct live_fd *fd, const struct line *lock)
{
    char info[INFO_BYTES];
    struct line line;
    if (!live_fd_info(live, fd->process, fd->fd, info, sizeof(info)))
        return false;
    for (const char *at = info; (at = strstr(at, "lock:")); at += strlen("lock:"))
        if (parse_line(at + strlen("lock:"), &line) && !line.waits && line.inode == lock->inode &&
            strcmp(line.type, lock->type) == 0)
            return true;
    return false;
}

static void add_holders(struct argus_live *live, const struct live_fd *own, const struct line *lock,
                        struct live_candidates *ret)
{
    const struct live_fd *fds;
    size_t count = live_fds_of(live, own->type, own->key, &fds);
    for (size_t i = 0; i < count; i++)
        if (has_lock(live, &fds[i], lock) && live_load(live, fds[i].process))
            live_candidate(ret, fds[i].process, ARGUS_LIVE_NONE);
}

static bool is_among(const struct live_candidates *candidates, uint32_t process)
{
    for (uint32_t i = 0; i < candidates->count; i++)
        if (candidates->items[i].process == process)
            return true;
    return false;
}

void live_by_file_lock(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    char info[INFO_BYTES];
    uint64_t inode;
    struct line lock;
    struct live_fd own;
    uint32_t process = live->threads.data[thread].process;
    ret->link = ARGUS_LIVE_LINK_HOLDS;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if (!live_fd(live, process, wait->fd, &own) ||
        !live_fd_info(live, process, wait->fd, info, sizeof(info)) ||
        !live_field(info, "ino:", 10, &inode) ||
        !find_holder(live->processes.data[process].pid, inode, &lock))
        return;
    add_holders(live, &own, &lock, ret);
    uint32_t taker = lock.pid > 0 ? live_process(live, (uint32_t)lock.pid) : ARGUS_LIVE_NONE;
    if (taker == ARGUS_LIVE_NONE || (ret->count && !is_among(ret, taker)))
        return;
    ret->count = 0;
    live_candidate(ret, taker, ARGUS_LIVE_NONE);
}

/* The descriptor of a process that has the file of this inode open. False: none. */
static bool find_open(struct argus_live *live, uint32_t process, uint64_t inode,
                      struct live_fd *ret)
{
    char info[INFO_BYTES];
    uint64_t theirs;
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_fd *fd = &live->fds.data[i];
        if (fd->process == process && fd->type == LIVE_FILE_PATH &&
            live_fd_info(live, process, fd->fd, info, sizeof(info)) &&
            live_field(info, "ino:", 10, &theirs) && theirs == inode) {
            *ret = *fd;
            return true;
        }
    }
    return false;
}

/* Whether the thread's process has the locked file open, or the thread's stack has its path. */
static bool may_want(struct argus_live *live, uint32_t thread, const struct live_paths *paths,
                     const struct line *lock, uint32_t holder)
{
    struct live_fd fd;
    return find_open(live, live->threads.data[thread].process, lock->inode, &fd) ||
           (paths->count && find_open(live, holder, lock->inode, &fd) && fd.path &&
            live_paths_have(live, paths, strtab_get(live->texts, fd.path)));
}

void live_polled_locks(struct argus_live *live, uint32_t thread, struct live_candidates *ret)
{
    char *text = NULL;
    size_t room = 0;
    struct line line;
    struct live_paths paths;
    FILE *file = fopen("/proc/locks", "re");
    live_stack_paths(live, thread, &paths);
    ret->link = ARGUS_LIVE_LINK_HOLDS;
    while (file && getline(&text, &room, file) > 0) {
        if (!parse_line(text, &line) || line.waits || line.pid <= 0 ||
            (uint32_t)line.pid == live_pid_of(live, thread) || !strstr(text, " WRITE "))
            continue;
        uint32_t holder = live_process(live, (uint32_t)line.pid);
        if (holder != ARGUS_LIVE_NONE && may_want(live, thread, &paths, &line, holder))
            live_candidate(ret, holder, ARGUS_LIVE_NONE);
    }
    if (file)
        fclose(file);
    free(text);
}
