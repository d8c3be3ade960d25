/* Loops that wait for a variable without sleeping, by the samples of their thread. */
#ifndef ARGUS_DIAGNOSE_SPIN_LOOP_H
#define ARGUS_DIAGNOSE_SPIN_LOOP_H

#include "diagnose/diagnoser.h"
#include "steps/loops/loop_flags.h"

/* The most frequent sampled stack of the thread of `vertex` in `part` that is in sched_yield();
 * ARGUS_NONE. */
uint32_t find_sampled_yield(struct diagnoser *d, uint32_t vertex, struct window part);

/* Reads which variables end the loop in which the thread of `vertex` was busy in `part`; none if it
 * did anything else there, or the code does not tell. Errors: memory. */
struct argus_error *read_spin_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                   struct argus_code_loop *ret);

/* --- code_loop.c --- */

bool code_loop_is_readable(const struct diagnoser *d);
/* The loop of a sampled stack of the thread of `vertex`. */
bool code_loop_find_spin(struct diagnoser *d, uint32_t vertex, uint32_t stack,
                         struct loop_flags *ret);
struct argus_error *code_loop_tell_spin(struct diagnoser *d, uint32_t vertex, uint32_t stack,
                                        const struct loop_flags *flags,
                                        struct argus_code_loop *ret);

#endif
