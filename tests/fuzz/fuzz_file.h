/* For readers of files: the bytes of an input in a file without a name. */
#ifndef ARGUS_TESTS_FUZZ_FILE_H
#define ARGUS_TESTS_FUZZ_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns the file's path. It is the same file each time. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[32];
    if (fd < 0) {
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
        abort();
    return path;
}

/* Runs `read` on the bytes as they are, and on a copy that `seal` has given correct checksums. */
static inline void fuzz_sealed(const uint8_t *data, size_t size,
                               void (*read)(const uint8_t *data, size_t size),
                               void (*seal)(uint8_t *data, size_t size))
{
    read(data, size);
    uint8_t *sealed = malloc(size + 1);
    if (!sealed)
        return;
    memcpy(sealed, data, size);
    seal(sealed, size);
    read(sealed, size);
    free(sealed);
}

#endif
