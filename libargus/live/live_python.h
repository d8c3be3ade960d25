/* Threads that run CPython: their Python functions, and the holder of the interpreter's lock (GIL).
 */
#ifndef ARGUS_LIVE_PYTHON_H
#define ARGUS_LIVE_PYTHON_H

#include "live/live_wait.h"

enum { PYTHON_FRAMES = 64 };

struct python_frame {
    struct argus_live_frame frame;
    bool is_outermost; /* of a call of the C function that interprets */
};

/* The Python functions of a thread, innermost first; 0: none, or an unknown version. */
size_t live_python_frames(struct argus_live *live, uint32_t thread,
                          struct python_frame ret[PYTHON_FRAMES]);

/* Whether the C function of this name runs Python functions. */
bool live_is_python_call(const char *function);

/* If the thread waits for the GIL: sets the kind of `wait`, and fills `ret` with the holder. */
bool live_python_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                      struct live_candidates *ret);

#endif
