/* Loops around a wait that are only a part of one longer wait: what the thread waits for is decided
 * farther outward. */
#ifndef ARGUS_STEPS_LOOP_PAUSES_H
#define ARGUS_STEPS_LOOP_PAUSES_H

#include "steps/loops/code_slice.h"

/* Whether the loop, which is the scope's region, sleeps until the sleep itself says that it is over,
 * and looks only at its own stack: it sleeps on after a signal, or in parts. Another thread changes
 * nothing of that. `slice` has what decides the loop's end. */
bool loop_is_pause(struct code_slice *slice, const struct code_scope *scope);

/* Whether the thread leaves the loop each time when the time of the wait in it has passed (x86-64):
 * `while (!is_signalled && pthread_cond_timedwait(…) == 0);`. A thread that polls comes back into
 * such a loop from outside. */
bool loop_ends_on_timeout(struct code_slice *slice, const struct code_scope *scope);

#endif
