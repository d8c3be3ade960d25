/* argus-import: reads a trace of another tool and writes it as an .argus file.
 *
 *     argus-import FD FILE      writes into FD, an empty open file; FILE may be a folder (CTF)
 *     argus-import --formats    lists the formats that this build reads
 *
 * It is a program of its own, because the libraries that it uses end the process when they find a
 * file too damaged, which must not happen inside a debugger, and because neither LLDB nor argus
 * should have to load them. It needs no rights. The front end starts it
 * (plugin/foreign_trace.c). Exit code 0: written; 1: failed, with one line on standard error; 3:
 * the format is not known, nothing printed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/sanitizer.h"
#include "formats.h"

enum { EXIT_UNKNOWN_FORMAT = 3 };

/* A file without a wall clock is dated by its own date: it was written when its last event had
 * happened. */
static void date_by_file(struct sink *sink, const char *path, uint64_t last_ns)
{
    struct argus_trace_header *header = sink_header(sink);
    struct stat status;
    if (header->anchor_wall_ns || stat(path, &status) != 0)
        return;
    header->anchor_ticks = last_ns;
    header->anchor_wall_ns =
        (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    sink_note(sink, "imported: the file does not say at what time of day it was recorded; times of "
                    "day are counted back from its date");
}

static struct argus_error *import(const struct format *format, const char *path, int fd)
{
    struct sink *sink = sink_create();
    if (!sink)
        return argus_error_memory();
    sink_note(sink, "imported from a file of the format %s", format->name);
    struct argus_error *error = format->read(path, sink);
    if (!error)
        date_by_file(sink, path, sink_last_ns(sink));
    if (!error)
        error = sink_write(sink, fd);
    sink_destroy(sink);
    return error ? argus_error_context(error, "cannot import %s", path) : NULL;
}

static int usage(void)
{
    fputs("usage: argus-import FD FILE | --formats\n"
          "argus import runs it: argus import FILE -o NEW.argus\n",
          stderr);
    return 2;
}

/* A hostile file must not take all memory of the machine. The bound that argus has set for itself
 * by the size of the file (plugin/memory_limit.h) is not for this program: traces of other tools
 * may be compressed. */
static void bound_memory(void)
{
    struct rlimit limit;
    rlim_t most = (rlim_t)16 << 30;
    if (getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_DATA, &limit);
    }
    if (!IS_SANITIZED && getrlimit(RLIMIT_AS, &limit) == 0 &&
        (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > most)) {
        limit.rlim_cur = most;
        setrlimit(RLIMIT_AS, &limit);
    }
}

int main(int argc, char **argv)
{
    const struct format *format = NULL;
    char *end;
    if (argc == 2 && strcmp(argv[1], "--formats") == 0) {
        formats_print(stdout);
        return 0;
    }
    if (argc != 3)
        return usage();
    long fd = strtol(argv[1], &end, 10);
    if (*end || fd < 0 || fcntl((int)fd, F_GETFD) < 0)
        return usage();
    bound_memory();
    struct argus_error *error = format_find(argv[2], &format);
    if (!error && !format)
        return EXIT_UNKNOWN_FORMAT;
    if (!error)
        error = import(format, argv[2], (int)fd);
    if (!error)
        return 0;
    fprintf(stderr, "%s\n", error->message);
    argus_error_destroy(error);
    return 1;
}
