/* The trace file, made by the user's own rights before the recorder is handed its descriptor. */
#ifndef ARGUS_RECORDER_OUTPUT_H
#define ARGUS_RECORDER_OUTPUT_H

#include <stdbool.h>

#include "argus/error.h"

struct output {
    int fd;          /* open for reading and writing, empty */
    char *path;      /* where it will be; owned */
    char *temporary; /* where it is until output_commit(); owned */
    char *old;       /* what a file that is at `path` is renamed to; owned; NULL: it is replaced */
    bool replaced;   /* that was done */
};

/* Makes an empty file beside `path`, mode 0600, that belongs to the invoking user (also under sudo). `path` may be free or
 * a regular file; a directory, a link or anything else is an error. */
struct argus_error *output_create(const char *path, struct output *ret);
/* The same, but a file that is at `path` when this one is put there stays, as `path`.old; an older `path`.old goes. */
struct argus_error *output_create_keeping(const char *path, struct output *ret);
/* Puts the file in its place; a regular file that was there is replaced. */
struct argus_error *output_commit(struct output *output);
/* Closes; a file that was not committed is removed. */
void output_deinit(struct output *output);

#endif
