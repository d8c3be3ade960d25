/* Adds names to a trace: function, source file and line of every frame that it uses. So the trace
 * reads the same on machines without the recorded programs. The unprivileged front end does this
 * when a recording has ended.
 */
#ifndef ARGUS_FRAME_NAMES_H
#define ARGUS_FRAME_NAMES_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_names_totals {
    uint64_t frames;   /* distinct addresses of the trace's frames, without those of the kernel */
    uint64_t named;    /* of these: with a function name */
    uint64_t left_out; /* of these: not looked up, for lack of time */
    uint64_t bytes;    /* bytes added to the file */
};

/* Adds the names to the trace at `path`, which already has those of kernel functions. `ret` may be
 * NULL. */
struct argus_error *argus_names_append(const char *path, argus_progress progress, void *context,
                                       struct argus_names_totals *ret);

#ifdef __cplusplus
}
#endif
#endif
