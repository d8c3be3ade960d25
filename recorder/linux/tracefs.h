/* The kernel's descriptions of its tracepoints, which perf_event needs: tracefs, wherever it is. */
#ifndef ARGUS_RECORDER_LINUX_TRACEFS_H
#define ARGUS_RECORDER_LINUX_TRACEFS_H

#include "argus/error.h"

/* The directory of a tracefs, to be closed by the caller. One that is not mounted is mounted for
 * this descriptor alone: nobody else sees it, and closing the descriptor ends it. */
struct argus_error *tracefs_open(int *ret_fd);

/* The text of events/SYSTEM/NAME/format, NUL-terminated, for free(); NULL when there is no such
 * tracepoint. */
char *tracefs_format(int tracefs_fd, const char *system, const char *name);

#endif
