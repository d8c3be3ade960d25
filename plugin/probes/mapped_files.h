/* The files with code that running processes have mapped, as far as this user may look into them. */
#ifndef ARGUS_PLUGIN_MAPPED_FILES_H
#define ARGUS_PLUGIN_MAPPED_FILES_H

#include <stdint.h>

/* A file with code: `path` is what its process calls it, `real` leads to it from here, also from another mount namespace. Both are
 * borrowed for the call. */
struct mapped_file {
    const char *path, *real;
    uint64_t inode;
};

typedef void mapped_file_visit(void *context, const struct mapped_file *file);

/* Tells each executable mapping of a file, of one process after the other: the same file again and again. */
void mapped_files_each(mapped_file_visit *visit, void *context);

#endif
