#include "trace/file.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

int file_read(int fd, void *to, size_t length, uint64_t offset)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(fd, (char *)to + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            return ENODATA;
        done += (size_t)got;
    }
    return 0;
}

int file_write(int fd, const void *from, size_t length, uint64_t offset)
{
    for (size_t done = 0; done < length;) {
        ssize_t put = pwrite(fd, (const char *)from + done, length - done, (off_t)(offset + done));
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        if (put == 0)
            return ENOSPC;
        done += (size_t)put;
    }
    return 0;
}
