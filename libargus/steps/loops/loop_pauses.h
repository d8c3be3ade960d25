/* Loops around a wait that are only a part of one longer wait: what the thread waits for is decided
 * farther outward. */
#ifndef ARGUS_STEPS_LOOP_PAUSES_H
#define ARGUS_STEPS_LOOP_PAUSES_H

#include "steps/loops/code_slice.h"

/* Whether the loop (the scope's region) only sleeps until its time is over and reads only its own
 * stack: it continues to sleep after a signal, or sleeps in parts. No other thread can end it.
 * `slice` has what decides the loop's end. */
bool loop_is_pause(struct code_slice *slice, const struct code_scope *scope);

/* Whether the thread leaves the loop each time that the wait in it times out (x86-64):
 * `while (!is_signalled && pthread_cond_timedwait(…) == 0);`. A thread that polls comes back into
 * such a loop from outside. */
bool loop_ends_on_timeout(struct code_slice *slice, const struct code_scope *scope);

#endif
