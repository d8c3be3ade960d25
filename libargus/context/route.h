/* One path of the tree from its outermost function in, and the order of its functions by cost. */
#ifndef ARGUS_CONTEXT_ROUTE_H
#define ARGUS_CONTEXT_ROUTE_H

#include "context/contexts_data.h"

#define ROUTE_MOST 512 /* frames: 127 of the user's, as many of the kernel's, and a few */

struct route {
    uint32_t nodes[ROUTE_MOST]; /* outermost first, without root and program */
    uint32_t ranks[ROUTE_MOST]; /* 0: the highest cost */
    uint32_t count;
    uint32_t program; /* node */
};

void route_fill(const struct argus_contexts_report *report, uint32_t node, struct route *ret);

#endif
