/* Which places of a thread's waits lie inside a handler of its event loop, by whole call stacks (habits.h). */
#ifndef ARGUS_DIAGNOSE_NESTING_H
#define ARGUS_DIAGNOSE_NESTING_H

#include "diagnose/hangs/habits.h"

/* Sets `nested`, `ignores_pending` and `loop` of all habits of `thread`; false without memory. */
bool nesting_find(const struct view *view, uint32_t thread, struct habits *habits);

/* Whether the waits at two places take from the same thing. */
bool habits_share_source(const struct habit *a, const struct habit *b);
/* Whether they look at the same set of descriptors. */
bool habits_share_set(const struct habit *a, const struct habit *b);

/* kept.c: sets `ignores_pending`, by what came for the thread and was not taken in its waits. Those for which the home itself, known by
 * `nested`, does not look do not count. False without memory. */
bool kept_find(const struct view *view, uint32_t thread, struct habits *habits);

/* searching.c: whether the thread looks there again and again, and others end hardly any of its waits. */
bool searching_looks(const struct habits *habits, const struct habit *habit);

/* searching.c: sets `nested` of places that only look again and again for one thing. */
void searching_find(struct habits *habits);

/* When something last came to the thread before the first input of a person's (a key, a button) that is handed to the program in
 * `vertex`: no later did that input come. 0: no such input, or it is not known. Sets `*ret` to the input. */
uint64_t input_came_ns(const struct view *view, uint32_t vertex, struct argus_callback *ret);

#endif
