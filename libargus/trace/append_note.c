#include "trace/append_note.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "argus/trace.h"

struct argus_error *trace_append_note(const char *path, const char *text)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return argus_error_os(errno, "cannot add a note to %s", path);
    struct argus_writer *writer = NULL;
    struct argus_error *error = argus_writer_append(fd, &writer);
    if (!error)
        error = argus_writer_note(writer, text);
    argus_writer_destroy(writer);
    close(fd);
    return error;
}
