/* Files of /proc and /sys that are read in one go. */
#ifndef ARGUS_RECORDER_LINUX_SMALL_FILE_H
#define ARGUS_RECORDER_LINUX_SMALL_FILE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* At most `room` - 1 bytes, and a zero byte; false: it is not there, or empty. */
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
