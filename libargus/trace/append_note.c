#include "trace/append_note.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/trace.h"

struct argus_error *trace_append_note(const char *path, const char *text)
{
    char *one = strdup(text);
    struct argus_error *error = one ? trace_append_notes(path, &one, 1) : argus_error_memory();
    free(one);
    return error;
}

struct argus_error *trace_append_notes(const char *path, char *const *texts, size_t count)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return argus_error_os(errno, "cannot add a note to %s", path);
    struct argus_writer *writer = NULL;
    struct argus_error *error = argus_writer_append(fd, &writer);
    for (size_t i = 0; !error && i < count; i++)
        error = argus_writer_note(writer, texts[i]);
    argus_writer_destroy(writer);
    close(fd);
    return error;
}
