/* The descriptors of a process that this user may see, by what they refer to: one readlink() each.
 * What only a few need (open for writing, the ID of an eventfd) is read for those.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/live_data.h"

enum { PATH_BYTES = 512 };

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

void live_read_fds(struct argus_live *live, uint32_t index)
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

bool live_fd(struct argus_live *live, uint32_t process, uint32_t fd, struct live_fd *ret)
{
    char number[16];
    snprintf(number, sizeof(number), "%u", fd);
    *ret = (struct live_fd){.process = process};
    return classify(live, live->processes.data[process].pid, number, ret);
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
