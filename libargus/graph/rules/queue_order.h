/* Callbacks that wait under one key, first in first out: queue_order.c. */
#ifndef ARGUS_GRAPH_RULES_QUEUE_ORDER_H
#define ARGUS_GRAPH_RULES_QUEUE_ORDER_H

#include "graph/build/actor.h"

struct builder;

/* A callback that was queued; found by key, process and space. */
struct queued_callback {
    uint64_t key;
    uint32_t process, space;
    uint32_t rule;        /* index of the user's rule that says so, or ARGUS_NONE */
    uint32_t first, last; /* of a rule with fifo: entries of queue_order, counted from 1; 0: none */
    struct actor by;
    bool waits; /* it has not been cancelled; one that has run may run again */
};

/* The state of this feature: what waits, in order. */
struct queue_order *queue_order_create(void);
void queue_order_destroy(struct queue_order *order);

void queue_order_put(struct builder *builder, struct queued_callback *queued);
/* False when none waits. */
bool queue_order_take(struct builder *builder, struct queued_callback *queued);

#endif
