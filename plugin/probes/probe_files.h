/* Finds the files that are a given library: those that the loader would find, and those that
 * processes have mapped. */
#ifndef ARGUS_PLUGIN_PROBE_FILES_H
#define ARGUS_PLUGIN_PROBE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"

struct probe_library_file {
    int fd;     /* owned */
    char *path; /* owned */
    size_t library;
    uint64_t device, inode;
};

struct probe_files {
    VEC(struct probe_library_file) files;
};

/* Finds every file that is one of `count` libraries (file names or paths); `library` of a result is
 * the index. Each file is listed once. */
struct argus_error *probe_files_find(const char *const *libraries, size_t count,
                                     struct probe_files *ret);
void probe_files_deinit(struct probe_files *files);

#endif
