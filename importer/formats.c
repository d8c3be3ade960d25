#include "formats.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct format *const rows[] = {
    &format_perf_data,
#ifdef WITH_TRACECMD
    &format_trace_dat,
#endif
#ifdef WITH_BABELTRACE
    &format_ctf,
#endif
#ifdef WITH_PROTOBUF
    &format_perfetto,
#endif
    &format_systrace,  &format_atrace,
    &format_chrome,    &format_ftrace_text, /* last: it matches text */
};

const struct format *format_at(size_t number)
{
    return number < sizeof(rows) / sizeof(*rows) ? rows[number] : NULL;
}

static const struct format *find(const char *path, const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i]->matches(path, bytes, length))
            return rows[i];
    return NULL;
}

void formats_print(FILE *out)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        fprintf(out, "%s\n", rows[i]->name);
}

struct argus_error *format_find(const char *path, const struct format **ret)
{
    unsigned char bytes[4096];
    ssize_t length = 0;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) < 0) {
        int failed = errno;
        if (fd >= 0)
            close(fd);
        return argus_error_os(failed, "cannot open %s", path);
    }
    if (S_ISREG(status.st_mode))
        length = pread(fd, bytes, sizeof(bytes), 0);
    int failed = errno;
    close(fd);
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is neither a file nor a folder", path);
    if (length < 0)
        return argus_error_os(failed, "cannot read %s", path);
    *ret = find(path, bytes, (size_t)length);
    return NULL;
}
