/* The contexts that ended the waits of a program: for locks, those of their holders. */
#ifndef ARGUS_CONTEXT_WAKERS_H
#define ARGUS_CONTEXT_WAKERS_H

#include "argus/contexts.h"

#define WAKERS_SHOWN  3 /* rows of a program, in text */
#define WAKER_CALLERS 3 /* functions of each context, in text */

/* Waits that are alike in what a line shows: WAKER_CALLERS functions of the waiter, and of the
 * context that ended them. */
struct waker_row {
    double ns;            /* with a base, minus that of the same pair there */
    uint64_t count;       /* waits */
    uint32_t node, waker; /* of the longest ones */
};

/* Writes the rows of a program, given by its node, the longest first, and their number. */
struct argus_error *wakers_longest(const struct argus_contexts_report *report, uint32_t program,
                                   struct waker_row *ret, size_t room, size_t *ret_count);

/* The program of a node. */
uint32_t program_of_node(const struct argus_context_node *nodes, uint32_t node);

#endif
