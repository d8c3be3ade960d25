#include "plugin/trace_join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COPIED_BYTES (1u << 20)

static struct argus_error *copy_bytes(int from, int to, const char *path)
{
    char *room = malloc(COPIED_BYTES);
    struct argus_error *error = room ? NULL : argus_error_memory();
    ssize_t got = 0;
    while (!error && (got = read(from, room, COPIED_BYTES)) > 0)
        for (ssize_t done = 0, put; done < got && !error; done += put)
            if ((put = write(to, room + done, (size_t)(got - done))) < 0)
                error = argus_error_os(errno, "cannot copy %s", path);
    if (!error && got < 0)
        error = argus_error_os(errno, "cannot read %s", path);
    free(room);
    return error;
}

static struct argus_error *copy_file(const char *path, int to)
{
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return argus_error_os(errno, "cannot open %s", path);
    struct argus_error *error = copy_bytes(from, to, path);
    close(from);
    return error;
}

/* Opens the copy of the trace `path`, by whose name errors call it. */
static struct argus_error *open_copy(const char *copy, const char *path, struct argus_trace **ret)
{
    struct argus_error *error = argus_trace_open(copy, ret);
    if (!error && (error = argus_trace_set_name(*ret, path))) {
        argus_trace_close(*ret);
        *ret = NULL;
    }
    return error;
}

/* The copy is opened anew for each file, because each join has to see what the previous one
 * added. */
static struct argus_error *join_one(int fd, const char *copy, const char *path, const char *with)
{
    struct argus_trace *base, *extra;
    struct argus_error *error = open_copy(copy, path, &base);
    if (error)
        return error;
    error = argus_trace_open(with, &extra);
    if (!error) {
        error = argus_trace_join(fd, base, extra);
        argus_trace_close(extra);
    }
    argus_trace_close(base);
    return error;
}

struct argus_error *trace_join_open(const char *path, const struct arguments *arguments,
                                    struct argus_trace **ret)
{
    char copy[4096];
    const char *folder = getenv("TMPDIR"), *with;
    struct argus_trace *given;
    struct argus_error *error = argus_trace_open(path, &given);
    if (error) /* it is about the user's file, and not about a copy */
        return error;
    argus_trace_close(given);
    snprintf(copy, sizeof(copy), "%s/argus-with-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkostemp(copy, O_CLOEXEC);
    if (fd < 0)
        return argus_error_os(errno, "cannot make a file in %s", copy);
    error = copy_file(path, fd);
    for (size_t i = 0; !error && (with = arguments_option_at(arguments, "with", i)); i++)
        error = join_one(fd, copy, path, with);
    if (!error)
        error = open_copy(copy, path, ret);
    unlink(copy);
    close(fd);
    return error;
}
