#include "event/binary/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct argus_error *mapped_file_open(const char *path, struct mapped_file *ret)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    *ret = (struct mapped_file){0};
    if (fd < 0)
        return argus_error_os(errno, "cannot open");
    void *mapped = MAP_FAILED;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    if (regular)
        mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    int failed = errno;
    close(fd);
    if (!regular)
        return argus_error_create(ARGUS_ERROR_FORMAT, "no regular file, or empty");
    if (mapped == MAP_FAILED)
        return argus_error_os(failed, "cannot map");
    *ret = (struct mapped_file){mapped, (size_t)status.st_size};
    return NULL;
}

void mapped_file_close(struct mapped_file *file)
{
    if (file->data)
        munmap((void *)file->data, file->bytes);
    *file = (struct mapped_file){0};
}
