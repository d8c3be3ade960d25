/* What a thread did in a vertex, besides waiting. */
#ifndef ARGUS_DIAGNOSE_VERTEX_DEEDS_H
#define ARGUS_DIAGNOSE_VERTEX_DEEDS_H

#include "slice/timeline.h"

/* Whether the edge carries a message, be it by a wake-up of its receiver. */
static inline bool edge_is_message(const struct argus_edge *edge)
{
    return edge->message || edge->kind == ARGUS_EDGE_MESSAGE;
}

/* Whether `vertex` called the kernel for something of this kind (enum argus_wait_kind), whether or
 * not it waited there. */
bool vertex_calls(const struct view *view, uint32_t vertex, uint8_t kind);

/* The first detail of the wait that is of this kind; borrowed. NULL: it has none. */
const struct argus_wait_detail *wait_detail(const struct view *view, const struct argus_wait *wait,
                                            enum argus_detail_kind kind);

/* Whether the thread left a message between these times that its receiver has not taken. */
bool thread_left_unread(const struct view *view, uint32_t thread, uint64_t first_ns,
                        uint64_t last_ns);

#endif
