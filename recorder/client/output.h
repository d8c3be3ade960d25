/* The trace file. It is created with the user's own rights; the recorder only gets its
 * descriptor. */
#ifndef ARGUS_RECORDER_OUTPUT_H
#define ARGUS_RECORDER_OUTPUT_H

#include <stdbool.h>

#include "argus/error.h"

struct output {
    int fd;          /* open for reading and writing, empty */
    char *path;      /* its final path; owned */
    char *temporary; /* its path until output_commit(); owned */
    char *old;       /* new name of an existing file at `path`; owned; NULL: it is replaced */
    bool replaced;   /* the rename was done */
};

/* Makes an empty file beside `path`, mode 0600, that belongs to the invoking user (also under
 * sudo). `path` may be free or a regular file; a directory, a link or anything else is an error. */
struct argus_error *output_create(const char *path, struct output *ret);
/* The same, but output_commit() keeps an existing file at `path` as `path`.old and deletes an older
 * `path`.old. */
struct argus_error *output_create_keeping(const char *path, struct output *ret);
/* After output_commit(): if the file or its folder was renamed, `path` becomes the new path.
 * Returns whether it did. */
bool output_follow(struct output *output);
/* Renames the file to `path`, also if its folder has another name by now; replaces a regular file
 * there. */
struct argus_error *output_commit(struct output *output);
/* After another process wrote it: opens the file again at `path`, where it is now, because
 * output_commit() looks at it. */
struct argus_error *output_reopen(struct output *output, const char *path);
/* Removes nothing, and touches no file system: that of the file does not answer. */
void output_abandon(struct output *output);
/* Closes the file; removes it unless it was committed. */
void output_deinit(struct output *output);

#endif
