#include "plugin/cache_trim.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/ends_in.h"

struct kept_file {
    char name[NAME_MAX + 1];
    struct timespec written;
    uint64_t bytes;
};

/* Adds up the sizes of the files, and finds the oldest one. */
static uint64_t look_through(DIR *directory, const char *suffix, struct kept_file *ret_oldest)
{
    uint64_t bytes = 0;
    bool first = true;
    rewinddir(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat status;
        if (!ends_in(entry->d_name, suffix) ||
            fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(status.st_mode))
            continue;
        bytes += (uint64_t)status.st_size;
        const struct timespec *written = &status.st_mtim, *oldest = &ret_oldest->written;
        bool older = written->tv_sec != oldest->tv_sec ? written->tv_sec < oldest->tv_sec
                                                       : written->tv_nsec < oldest->tv_nsec;
        if (first || older) {
            ret_oldest->written = *written;
            ret_oldest->bytes = (uint64_t)status.st_size;
            snprintf(ret_oldest->name, sizeof(ret_oldest->name), "%s", entry->d_name);
        }
        first = false;
    }
    return bytes;
}

void cache_trim(const char *path, const char *suffix, uint64_t most_bytes)
{
    DIR *directory = opendir(path);
    struct kept_file oldest;
    if (!directory)
        return;
    while (look_through(directory, suffix, &oldest) > most_bytes)
        if (unlinkat(dirfd(directory), oldest.name, 0))
            break;
    closedir(directory);
}
