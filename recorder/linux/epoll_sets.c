#include "linux/epoll_sets.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "linux/shared.h"

#define EPOLL_LINK "anon_inode:[eventpoll]"

/* proc(5), /proc/PID/fdinfo: a line "tfd: 5 events: 19 data: 5 …" for each descriptor in the set.
 */
static void read_set(int map_fd, uint32_t pid, const char *set)
{
    char path[80], line[256];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fdinfo/%.20s", pid, set);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    struct bpf_epoll_key key = {.pid = pid, .set = (uint32_t)strtoul(set, NULL, 10)};
    while (fgets(line, sizeof(line), file)) {
        int32_t descriptor;
        if (sscanf(line, "tfd: %" SCNd32 " events: %*x data: %" SCNx64, &descriptor, &key.data) ==
            2)
            bpf_map_update_elem(map_fd, &key, &descriptor, BPF_NOEXIST);
    }
    fclose(file);
}

static void read_process(int map_fd, uint32_t pid)
{
    char path[64], target[sizeof(EPOLL_LINK)];
    snprintf(path, sizeof(path), "/proc/%" PRIu32 "/fd", pid);
    DIR *descriptors = opendir(path);
    if (!descriptors)
        return;
    const struct dirent *entry;
    while ((entry = readdir(descriptors))) {
        ssize_t bytes = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof(target));
        if (bytes == sizeof(EPOLL_LINK) - 1 && memcmp(target, EPOLL_LINK, (size_t)bytes) == 0)
            read_set(map_fd, pid, entry->d_name);
    }
    closedir(descriptors);
}

void epoll_sets_fill(int map_fd)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    const struct dirent *entry;
    while ((entry = readdir(proc))) {
        if (isdigit((unsigned char)entry->d_name[0]))
            read_process(map_fd, (uint32_t)strtoul(entry->d_name, NULL, 10));
    }
    closedir(proc);
}
