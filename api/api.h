/* What the files of the public library share (api/argus.h). */
#ifndef ARGUS_API_API_H
#define ARGUS_API_API_H

#include <stdatomic.h>

#include "api/argus.h"
#include "argus/contexts.h"
#include "argus/report.h"
#include "plugin/session_trace.h"

/* An open file: a session with one trace and no terminal. Lists and answers hold a reference. */
struct argus_file {
    struct session session;
    struct argus_open_options options;
    struct session_trace *trace;   /* owned */
    struct argus_symbols *symbols; /* borrowed from the trace */
    struct argus_file_info info;
    char format[32];
    char **warnings; /* owned */
    size_t warning_count;
    atomic_size_t references; /* lists and answers may be ended in any thread */
    bool stopped;             /* by `go_on` */
};

struct argus_hang_list {
    struct argus_file *file; /* a reference */
    struct argus_hangs hangs;
    struct argus_hang_info *infos; /* owned, one for each hang */
};

/* Adds a reference and returns the file; argus_file_close() drops it. */
struct argus_file *api_file_keep(struct argus_file *file);
/* Begins a call: `go_on` counts its time from now on, and is asked again; files may be fetched
 * again. */
void api_file_begin(struct argus_file *file);
/* Ends it: keeps warnings about fetched files. Returns `error`, or the error that `go_on` ended the
 * call, also if it did so when all was done. */
struct argus_error *api_file_end(struct argus_file *file, struct argus_error *error);
/* For functions of the library that report progress; `context` is the file. */
bool api_file_progress(void *context, const char *what, double share);

/* A copy of the caller's structure that begins with its size, of which a program that was compiled
 * with an older header has only the first part; the rest becomes 0. `given` may be NULL. An error
 * if its size is not set. */
struct argus_error *api_take_options(const void *given, void *ret, size_t bytes);

/* Text that a report writes into memory. */
struct api_text {
    char *text; /* owned; NUL-terminated; NULL: nothing was written */
    size_t length, room;
    bool failed; /* no memory */
};
struct argus_sink api_text_sink(struct api_text *text);

#endif
