/* Finds the waits of a thread that are inside a handler of its event loop, by whole call stacks
 * (habits.h). */
#ifndef ARGUS_DIAGNOSE_NESTING_H
#define ARGUS_DIAGNOSE_NESTING_H

#include "diagnose/hangs/habits.h"

/* Sets `nested`, `ignores_pending` and `loop` of all habits of `thread`; false without memory. */
bool nesting_find(const struct view *view, uint32_t thread, struct habits *habits);

/* Whether the thread waits there for whatever may come, and not only for what is on its way: some
 * of its waits are long, or most of them end without anything (a dialog whose toolkit draws at each
 * frame). */
bool habit_rests(const struct habit *habit);
/* Whether waits there take from the source. */
bool habit_takes_from(const struct habit *habit, uint64_t source);
/* Whether the waits at both places take from a common source. */
bool habits_share_source(const struct habit *a, const struct habit *b);
/* At most how many of the waits of `a` took something that those of `b` take as well. */
uint32_t habits_shared_ends(const struct habit *a, const struct habit *b);
/* Whether both look at a common set of descriptors. */
bool habits_share_set(const struct habit *a, const struct habit *b);

/* ignored_pending.c: sets `ignores_pending` of the places where the thread waited although
 * something was pending for it. What its home does not take either does not count (the home is
 * known by `nested`). False without memory. */
bool ignored_pending_find(const struct view *view, uint32_t thread, struct habits *habits);

/* brought_input.c: sets `brought` of all waits for a condition or a terminal. */
void brought_input_find(const struct view *view, uint32_t thread, struct habits *habits);
/* Whether such a wait is that of an event loop whose input another thread of the process, or the
 * kernel, receives. */
bool input_is_brought(const struct habit *habit);
/* Whether the thread, at its first record, comes back from a wait that the kernel ended. */
bool begins_with_input(const struct view *view, uint32_t thread);

/* searching.c: whether the thread looks there again and again, and other threads end hardly any of
 * these waits. */
bool searching_looks(const struct habits *habits, const struct habit *habit);

/* searching.c: sets `nested` and `searches` of places where the thread only looks for one thing
 * again and again. */
void searching_find(const struct view *view, uint32_t thread, struct habits *habits);

/* unanswered.c: sets `nested` of places where the thread waits for a reply that another process
 * owes and does not give, or for a command. */
void unanswered_find(const struct view *view, uint32_t thread, struct habits *habits);
/* The process for which a loop in a handler runs that waits in `vertex`, and that lives still;
 * ARGUS_NONE. */
uint32_t command_awaited(const struct view *view, uint32_t vertex);

/* For the first user input (a key, a button) that is handed to the program in `vertex`: when
 * something last came to the thread before, which is the latest time at which the input can have
 * come. Sets `*ret` to the input. 0: no such input, or the time is not known. */
uint64_t input_came_ns(const struct view *view, uint32_t vertex, struct argus_callback *ret);

#endif
