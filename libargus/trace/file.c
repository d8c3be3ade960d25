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

/* The context is the descriptor. */
static int write_to_fd(void *context, const void *bytes, size_t length, uint64_t offset)
{
    return file_write((int)(intptr_t)context, bytes, length, offset);
}

static int resize_fd(void *context, uint64_t bytes)
{
    return ftruncate((int)(intptr_t)context, (off_t)bytes) < 0 ? errno : 0;
}

struct argus_output file_output(int fd)
{
    return (struct argus_output){write_to_fd, resize_fd, (void *)(intptr_t)fd};
}
