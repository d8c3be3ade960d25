/* A trace carries its names: function, source file and line of every frame that it uses, so that it reads the same where the recorded
 * programs are not. Run by the unprivileged front end when a recording has ended.
 */
#ifndef ARGUS_FRAME_NAMES_H
#define ARGUS_FRAME_NAMES_H

#include "argus/event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_names_totals {
    uint64_t frames;   /* distinct places that the trace's frames are at, without the kernel's */
    uint64_t named;    /* of them, with a function */
    uint64_t left_out; /* of them, not looked up: it would have taken too long */
    uint64_t bytes;    /* added to the file */
};

/* Adds the names to the trace at `path`. Kernel functions are in it already. `ret` may be NULL. */
struct argus_error *argus_names_append(const char *path, argus_progress progress, void *context,
                                       struct argus_names_totals *ret);

#ifdef __cplusplus
}
#endif
#endif
