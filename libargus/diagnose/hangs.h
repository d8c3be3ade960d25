/* The parts of finding hangs: one file per indicator. */
#ifndef ARGUS_DIAGNOSE_HANGS_H
#define ARGUS_DIAGNOSE_HANGS_H

#include "argus/diagnose.h"
#include "diagnose/habits.h"

/* More calls to sched_yield() than this in one vertex are a loop that waits for something (as argus_vertex_type()). */
#define MANY_YIELDS 20

typedef VEC(struct argus_hang) hang_list;

/* Whether the own time of `vertex` is a loop that looks for something. A loop that makes others run in each turn is none: it
 * works, however much it sleeps. */
bool is_yielding(const struct view *view, uint32_t vertex);

/* Fills the figures, the type and the spinning vertex of a hang whose thread and times are set.
 * Keeps `hang->vertex` if it is set already. */
void hang_measure(const struct view *view, struct argus_hang *hang);

/* Appends the stretches of at least `threshold_ns` in which `thread` did not come back to its event loop. */
bool hangs_of_event_loop(const struct view *view, uint32_t thread, uint64_t threshold_ns,
                         hang_list *ret);

/* Appends the one stretch that looks most like a hang in the threads for which wanted(options, thread). */
bool hangs_longest(const struct view *view, const struct argus_hang_options *options,
                   hang_list *ret);

/* Whether `options` name the thread. */
bool hang_is_wanted(const struct view *view, const struct argus_hang_options *options,
                    uint32_t thread);

#endif
