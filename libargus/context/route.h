/* A path of the tree from its outermost function inward, and its functions' order by cost. */
#ifndef ARGUS_CONTEXT_ROUTE_H
#define ARGUS_CONTEXT_ROUTE_H

#include "context/contexts_data.h"

#define ROUTE_MOST 512 /* most frames: 127 user frames, as many kernel frames, and a few others */

struct route {
    uint32_t nodes[ROUTE_MOST]; /* outermost first, without root and program */
    uint32_t ranks[ROUTE_MOST]; /* 0: the highest cost */
    uint32_t count;
    uint32_t program; /* node */
};

void route_fill(const struct argus_contexts_report *report, uint32_t node, struct route *ret);

#endif
