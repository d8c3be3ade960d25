/* Small files of /proc and /sys, read at once. */
#ifndef ARGUS_RECORDER_LINUX_SMALL_FILE_H
#define ARGUS_RECORDER_LINUX_SMALL_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Reads at most `room` - 1 bytes and adds a zero byte; false: the file is missing or empty. */
static inline bool small_file_read(const char *path, char *ret, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, ret, room - 1);
    close(fd);
    ret[length > 0 ? length : 0] = '\0';
    return length > 0;
}

#endif
