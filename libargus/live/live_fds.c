/* All descriptors of all processes that this user may see, by what they refer to: one readlink()
 * each. Descriptors of one object are then neighbours, so the other end of a pipe is found by a
 * binary search. What only a few need (open for writing, the ID of an eventfd) is read for those.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash64.h"
#include "live/live_data.h"

enum { PATH_BYTES = 512 };

uint64_t live_path_key(const char *path)
{
    return hash64(0, path, strlen(path));
}

/* What a link in /proc/PID/fd begins with. Links with a number in brackets have an inode. */
static const struct {
    const char *prefix;
    enum live_file_type type;
    bool has_inode;
} link_types[] = {
    {"pipe:[", LIVE_FILE_PIPE, true},
    {"socket:[", LIVE_FILE_SOCKET, true},
    {"anon_inode:[eventfd]", LIVE_FILE_EVENTFD, false},
    {"anon_inode:[eventpoll]", LIVE_FILE_EPOLL, false},
    {"anon_inode:[timerfd]", LIVE_FILE_TIMERFD, false},
    {"/", LIVE_FILE_PATH, false},
};

static bool classify(struct argus_live *live, uint32_t pid, const char *number, struct live_fd *ret)
{
    char path[64], link[PATH_BYTES];
    snprintf(path, sizeof(path), "/proc/%u/fd/%s", pid, number);
    ssize_t length = readlink(path, link, sizeof(link) - 1);
    if (length <= 0)
        return false;
    link[length] = '\0';
    ret->fd = (uint32_t)strtoul(number, NULL, 10);
    ret->type = LIVE_FILE_OTHER;
    for (size_t i = 0; i < sizeof(link_types) / sizeof(link_types[0]); i++) {
        size_t prefix = strlen(link_types[i].prefix);
        if (strncmp(link, link_types[i].prefix, prefix) != 0)
            continue;
        ret->type = link_types[i].type;
        if (link_types[i].has_inode)
            ret->key = strtoull(link + prefix, NULL, 10);
        break;
    }
    if (ret->type == LIVE_FILE_PATH || ret->type == LIVE_FILE_OTHER)
        ret->path = live_text(live, link);
    if (ret->type == LIVE_FILE_PATH)
        ret->key = live_path_key(link);
    return true;
}

static void add_process(struct argus_live *live, uint32_t index)
{
    uint32_t pid = live->processes.data[index].pid;
    char path[48];
    snprintf(path, sizeof(path), "/proc/%u/fd", pid);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        struct live_fd fd = {.process = index};
        if (isdigit((unsigned char)entry->d_name[0]) && classify(live, pid, entry->d_name, &fd) &&
            !vec_push(&live->fds, fd))
            live->no_memory = true;
    }
    if (folder)
        closedir(folder);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_fds(const void *left, const void *right)
{
    const struct live_fd *a = left, *b = right;
    int order = compare_numbers(a->type, b->type);
    order = order ? order : compare_numbers(a->key, b->key);
    order = order ? order : compare_numbers(a->process, b->process);
    return order ? order : compare_numbers(a->fd, b->fd);
}

void live_fds(struct argus_live *live)
{
    if (live->has_fds)
        return;
    live->has_fds = true;
    for (uint32_t i = 0; i < live->processes.length; i++)
        add_process(live, i);
    if (live->fds.length)
        qsort(live->fds.data, live->fds.length, sizeof(*live->fds.data), compare_fds);
}

bool live_fd(struct argus_live *live, uint32_t process, uint32_t fd, struct live_fd *ret)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", fd);
    *ret = (struct live_fd){.process = process};
    return classify(live, live->processes.data[process].pid, number, ret);
}

size_t live_fds_of(struct argus_live *live, enum live_file_type type, uint64_t key,
                   const struct live_fd **ret)
{
    live_fds(live);
    size_t low = 0, high = live->fds.length;
    const struct live_fd wanted = {.type = type, .key = key};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_fds(&live->fds.data[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < live->fds.length && live->fds.data[end].type == type &&
           live->fds.data[end].key == key)
        end++;
    *ret = live->fds.data + low;
    return end - low;
}

/* The permissions of the link itself tell how the file was opened (proc(5)). */
bool live_fd_is_open_for(const struct argus_live *live, const struct live_fd *fd, bool writing)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof(path), "/proc/%u/fd/%u", live->processes.data[fd->process].pid, fd->fd);
    return lstat(path, &status) == 0 && status.st_mode & (writing ? S_IWUSR : S_IRUSR);
}

bool live_fd_info(const struct argus_live *live, uint32_t process, uint32_t fd, char *buffer,
                  size_t bytes)
{
    char name[32];
    snprintf(name, sizeof(name), "fdinfo/%u", fd);
    return live_read(live->processes.data[process].pid, name, buffer, bytes) > 0;
}
