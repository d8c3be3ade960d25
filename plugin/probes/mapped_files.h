/* The executable files that running processes have mapped, of processes that this user may
 * inspect. */
#ifndef ARGUS_PLUGIN_MAPPED_FILES_H
#define ARGUS_PLUGIN_MAPPED_FILES_H

#include <stdint.h>

/* A mapped file: `path` is its path in the process, `real` is a path to it from here, even if the
 * process is in another mount namespace. Both are borrowed during the call. */
struct mapped_file {
    const char *path, *real;
    uint64_t inode;
};

typedef void mapped_file_visit(void *context, const struct mapped_file *file);

/* Reports each executable file mapping of every process, so one file can be reported many times. */
void mapped_files_each(mapped_file_visit *visit, void *context);

#endif
