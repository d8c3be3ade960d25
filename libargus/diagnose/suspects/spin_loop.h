/* Loops that wait for a variable without sleeping, by the samples of their thread. */
#ifndef ARGUS_DIAGNOSE_SPIN_LOOP_H
#define ARGUS_DIAGNOSE_SPIN_LOOP_H

#include "diagnose/diagnoser.h"
#include "steps/loops/loop_flags.h"

/* A stack in the loop of `vertex` in `part`, which polls and waits: of its wait; or, of a loop of
 * sched_yield(), which is inside of its vertex, the most frequent one of samples. ARGUS_NONE. */
uint32_t find_loop_stack(struct diagnoser *d, uint32_t vertex, struct window part);
bool is_loop_of_yields(const struct view *view, uint32_t vertex);

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
