/* The contexts that ended the waits of a program: for locks, those of their holders. */
#ifndef ARGUS_CONTEXT_WAKERS_H
#define ARGUS_CONTEXT_WAKERS_H

#include "argus/contexts.h"

#define WAKERS_SHOWN  3 /* rows of a program, in text */
#define WAKER_CALLERS 3 /* functions of each context, in text */

/* Waits with one stack that one context ended. */
struct waker_row {
    double ns;      /* with a base, minus that of the same pair there */
    uint64_t count; /* waits */
    uint32_t node, waker;
};

/* Writes the rows of a program, given by its node, the longest first, and returns their number. */
size_t wakers_longest(const struct argus_contexts_report *report, uint32_t program,
                      struct waker_row *ret, size_t room);

/* The program of a node. */
uint32_t program_of_node(const struct argus_context_node *nodes, uint32_t node);

#endif
