/* A report that is written to a user's file, which gets its name only when it is complete. */
#ifndef ARGUS_PLUGIN_OUTPUT_FILE_H
#define ARGUS_PLUGIN_OUTPUT_FILE_H

#include <stdio.h>

#include "argus/report.h"
#include "recorder/client/output.h"

struct output_file {
    struct output output;
    FILE *file;
    struct argus_sink sink; /* writes to `file` */
};

/* An existing file at `path` stays until output_file_close(). */
struct argus_error *output_file_open(const char *path, struct output_file *ret);
/* The same for a file that is not text: its bytes are written as they are. */
struct argus_error *output_file_open_binary(const char *path, struct output_file *ret);
/* Renames the file to its path, unless `error`, which is what failed meanwhile, is set. Returns
 * `error`, or its own error. */
struct argus_error *output_file_close(struct output_file *file, struct argus_error *error);

#endif
