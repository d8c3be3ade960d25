/* A report in a file of the user's, which gets its name only when it is whole. */
#ifndef ARGUS_PLUGIN_OUTPUT_FILE_H
#define ARGUS_PLUGIN_OUTPUT_FILE_H

#include <stdio.h>

#include "argus/report.h"
#include "recorder/output.h"

struct output_file {
    struct output output;
    FILE *file;
    struct argus_sink sink; /* writes to `file` */
};

/* A file that is at `path` stays until output_file_close(). */
struct argus_error *output_file_open(const char *path, struct output_file *ret);
/* Puts the file in its place unless `error`, what went wrong meanwhile, is set; returns that, or what goes wrong now. */
struct argus_error *output_file_close(struct output_file *file, struct argus_error *error);

#endif
