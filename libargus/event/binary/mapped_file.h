/* A whole file, mapped read-only. */
#ifndef ARGUS_EVENT_MAPPED_FILE_H
#define ARGUS_EVENT_MAPPED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

struct mapped_file {
    const uint8_t *data; /* NULL: none */
    size_t bytes;
};

/* Only regular files that are not empty. */
struct argus_error *mapped_file_open(const char *path, struct mapped_file *ret);
void mapped_file_close(struct mapped_file *file);

#endif
