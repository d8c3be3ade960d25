/* Callbacks queued under one key, first in, first out: queue_order.c. */
#ifndef ARGUS_GRAPH_RULES_QUEUE_ORDER_H
#define ARGUS_GRAPH_RULES_QUEUE_ORDER_H

#include "graph/build/actor.h"

struct builder;

/* A queued callback; found by key, process and space. */
struct queued_callback {
    uint64_t key;
    uint32_t process, space;
    uint32_t rule; /* index of the user's rule that declares it, or ARGUS_NONE */
    /* of a rule with fifo: index + 1 of entries of queue_order; 0: none */
    uint32_t first, last;
    struct actor by;
    /* it has not been cancelled; a callback that has run may run again */
    bool waits;
};

/* The state of this feature: the waiting callbacks, in order. */
struct queue_order *queue_order_create(void);
void queue_order_destroy(struct queue_order *order);

void queue_order_put(struct builder *builder, struct queued_callback *queued);
/* Takes the oldest callback. False if none waits. */
bool queue_order_take(struct builder *builder, struct queued_callback *queued);

#endif
