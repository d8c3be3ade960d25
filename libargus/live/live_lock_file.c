/* File locks: /proc/locks lists each lock, followed by the processes that wait for it:
 *
 *     5: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
 *     5: -> FLOCK  ADVISORY  WRITE 4712 08:01:1234 0 EOF
 *
 * The process of a lock is the one that took it. A lock of an open file (flock(), OFD) lives as
 * long as any process has that open file: children that inherited it keep it. /proc/PID/fdinfo
 * tells which processes those are ("lock:" lines), so these are asked if the process that took the
 * lock has no such line, or has ended.
 *
 * Opening a file waits until the lease of another process is given up (F_SETLEASE in fcntl(2)). The
 * line of the one that waits does not name the file:
 *
 *     6: LEASE  BREAKING  READ 4713 08:01:1235 0 EOF
 *     6: -> LEASE  BREAKER   READ 4714 <none>:0 0 EOF */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_mounts.h"
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
    enum { NO_FILE = 2, ALL = 5 };
    int at = 0;
    *ret = (struct line){0};
    if (sscanf(text, "%u: %n", &ret->number, &at) < 1)
        return false;
    ret->waits = strncmp(text + at, "->", 2) == 0;
    at += ret->waits ? 2 : 0;
    int read = sscanf(text + at, " %15s %*s %*s %" SCNd32 " %x:%x:%" SCNu64, ret->type, &ret->pid,
                      &ret->major, &ret->minor, &ret->inode);
    return read == ALL || (read == NO_FILE && ret->waits);
}

/* The lock for which the process waits at the file of this inode; 0: the lease. */
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

static bool read_own(struct argus_live *live, uint32_t process, uint32_t number,
                     struct live_fd *ret, uint64_t *ret_inode)
{
    char info[INFO_BYTES];
    return live_fd(live, process, number, ret) &&
           live_fd_info(live, process, number, info, sizeof(info)) &&
           live_field(info, "ino:", 10, ret_inode);
}

void live_by_file_lock(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    uint64_t inode = 0;
    struct line lock;
    struct live_fd own;
    uint32_t process = live->threads.data[thread].process;
    bool opens = wait->fd == ARGUS_LIVE_NONE;
    ret->link = ARGUS_LIVE_LINK_HOLDS;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    if ((!opens && !read_own(live, process, wait->fd, &own, &inode)) ||
        !find_holder(live->processes.data[process].pid, inode, &lock))
        return;
    if (!opens)
        add_holders(live, &own, &lock, ret);
    uint32_t taker = lock.pid > 0 ? live_process(live, (uint32_t)lock.pid) : ARGUS_LIVE_NONE;
    if (taker == ARGUS_LIVE_NONE || (ret->count && !is_among(ret, taker)))
        return;
    ret->count = 0;
    live_candidate(ret, taker, ARGUS_LIVE_NONE);
}

/* --- locks for which a process does not wait, but which it may try to take again and again --- */

struct open_file {
    uint64_t inode, mount; /* the mount's ID */
    bool is_locked; /* by this process, or by one from which it has inherited the open file */
};

struct polling {
    struct argus_live *live;
    uint32_t thread;
    VEC(struct open_file) files; /* that its process has open */
    struct live_paths paths;     /* on its stack */
};

static bool read_file(struct argus_live *live, const struct live_fd *fd, struct open_file *ret)
{
    char info[INFO_BYTES];
    if (!live_fd_info(live, fd->process, fd->fd, info, sizeof(info)))
        return false;
    ret->is_locked = strstr(info, "\nlock:") != NULL;
    return live_field(info, "ino:", 10, &ret->inode) &&
           live_field(info, "mnt_id:", 10, &ret->mount);
}

static void read_files(struct polling *polling)
{
    struct argus_live *live = polling->live;
    uint32_t process = live->threads.data[polling->thread].process;
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_fd *fd = &live->fds.data[i];
        struct open_file file;
        if (fd->process == process && fd->type == LIVE_FILE_PATH && read_file(live, fd, &file) &&
            !file.is_locked && !vec_push(&polling->files, file))
            live->no_memory = true;
    }
}

/* Files of several file systems can have the same inode, as /dev/null and one of a container's
 * /run. */
static bool has_open(const struct polling *polling, const struct line *lock)
{
    struct live_mount mount;
    uint32_t pid = live_pid_of(polling->live, polling->thread);
    for (size_t i = 0; i < polling->files.length; i++)
        if (polling->files.data[i].inode == lock->inode &&
            live_mount_of_id(pid, polling->files.data[i].mount, &mount) &&
            mount.major == lock->major && mount.minor == lock->minor)
            return true;
    return false;
}

/* Whether the path is that of a descriptor of the holder for the locked file. */
static bool is_path_of(struct argus_live *live, uint32_t path, uint32_t holder,
                       const struct line *lock)
{
    const struct live_fd *fds;
    struct open_file file;
    const char *text = strtab_get(live->texts, path);
    size_t count = live_fds_of(live, LIVE_FILE_PATH, live_path_key(text), &fds);
    for (size_t i = 0; i < count; i++)
        if (fds[i].process == holder && fds[i].path &&
            strcmp(strtab_get(live->texts, fds[i].path), text) == 0 &&
            read_file(live, &fds[i], &file) && file.inode == lock->inode)
            return true;
    return false;
}

/* Whether the thread's process has the locked file open, or the thread's stack has its path. */
static bool may_want(const struct polling *polling, const struct line *lock, uint32_t holder)
{
    struct argus_live *live = polling->live;
    if (has_open(polling, lock))
        return true;
    for (size_t i = 0; i < polling->paths.count; i++)
        if (is_path_of(live, polling->paths.texts[i], holder, lock))
            return live_has_same_paths(live_pid_of(live, polling->thread),
                                       live->processes.data[holder].pid);
    return false;
}

/* The list can be long, and have many locks of one process at one file. */
static void add_polled(const struct polling *polling, FILE *file, struct live_candidates *ret)
{
    char *text = NULL;
    size_t room = 0;
    struct line line, last = {.pid = 0};
    struct argus_live *live = polling->live;
    while (getline(&text, &room, file) > 0) {
        if (!parse_line(text, &line) || line.waits || line.pid <= 0 || !strstr(text, " WRITE ") ||
            (uint32_t)line.pid == live_pid_of(live, polling->thread) ||
            (line.pid == last.pid && line.inode == last.inode))
            continue;
        last = line;
        uint32_t holder = idmap_get(&live->by_pid, (uint32_t)line.pid);
        if (holder != IDMAP_NONE && may_want(polling, &line, holder) && live_load(live, holder))
            live_candidate(ret, holder, ARGUS_LIVE_NONE);
    }
    free(text);
}

void live_polled_locks(struct argus_live *live, uint32_t thread, uint64_t sp,
                       struct live_candidates *ret)
{
    struct polling polling = {.live = live, .thread = thread};
    FILE *file = live_sleeps_long(live, thread) ? NULL : fopen("/proc/locks", "re");
    ret->link = ARGUS_LIVE_LINK_HOLDS;
    if (!file)
        return;
    live_stack_paths(live, live_pid_of(live, thread), sp, &polling.paths);
    read_files(&polling);
    add_polled(&polling, file, ret);
    vec_deinit(&polling.files);
    fclose(file);
}
