#include "linux/open_ends.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/display_sockets.h"
#include "linux/pid_namespace.h"

#define MOST_ENDS 16384

/* One process. */
struct looking {
    record_list *found;
    inode_list displays;
    uint64_t time_ns, pid;
    size_t most; /* length of `found` at which to stop */
    bool good;
};

uint64_t open_ends_parse(const char *target)
{
    uint64_t inode;
    if (sscanf(target, "pipe:[%" SCNu64 "]", &inode) == 1 ||
        sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1)
        return inode;
    return 0;
}

/* A FIFO has a path like a file. AT_STATX_DONT_SYNC: no file system that a process serves is asked,
 * since that process may hang. */
static uint64_t fifo_inode(int folder, const char *name)
{
    struct statx status;
    if (statx(folder, name, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO, &status) <
        0)
        return 0;
    return S_ISFIFO(status.stx_mode) ? status.stx_ino : 0;
}

/* The permissions of the link say how the file was opened (proc_pid_fd(5)). */
static uint64_t access_of(int folder, const char *name)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return (status.st_mode & S_IRUSR ? ARGUS_OPEN_END_READS : 0) |
           (status.st_mode & S_IWUSR ? ARGUS_OPEN_END_WRITES : 0);
}

static void look_at(struct looking *looking, int folder, const char *name)
{
    char target[64];
    ssize_t length = readlinkat(folder, name, target, sizeof(target) - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    uint64_t inode = target[0] == '/' ? fifo_inode(folder, name) : open_ends_parse(target);
    if (!inode)
        return;
    uint64_t access = access_of(folder, name);
    if (display_sockets_have(&looking->displays, inode))
        access |= ARGUS_OPEN_END_DISPLAY;
    looking->good = vec_push(looking->found, ((struct argus_record){
                                                 .timestamp = looking->time_ns,
                                                 .tid = looking->pid,
                                                 .debugid = ARGUS_ID_OPEN_END,
                                                 .arg = {inode, access, strtoull(name, NULL, 10),
                                                         target[0] == 's' ? S_IFSOCK : S_IFIFO},
                                             }));
}

/* A process that ends meanwhile has no descriptors any more. */
static void look_at_process(struct looking *looking)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/fd", looking->pid);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    const struct dirent *entry;
    while (looking->good && looking->found->length < looking->most && (entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            look_at(looking, dirfd(folder), entry->d_name);
    closedir(folder);
}

bool open_ends_read(uint64_t time_ns, record_list *ret)
{
    struct looking looking = {.found = ret, .time_ns = time_ns, .most = ret->length + MOST_ENDS};
    DIR *proc = pid_namespace_fits_proc() ? opendir("/proc") : NULL;
    const struct dirent *entry;
    if (!proc)
        return true;
    looking.good = display_sockets_read("/proc/net/unix", &looking.displays);
    while (looking.good && (entry = readdir(proc))) {
        looking.pid = strtoull(entry->d_name, NULL, 10);
        if (looking.pid && looking.pid != (uint64_t)getpid())
            look_at_process(&looking);
    }
    closedir(proc);
    vec_deinit(&looking.displays);
    return looking.good;
}
