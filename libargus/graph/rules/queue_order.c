#include "graph/build/builder.h"

/* A free entry, counted from 1; 0 without room. */
static uint32_t take_entry(struct builder *builder)
{
    uint32_t taken = builder->queue_free;
    if (taken) {
        builder->queue_free = builder->queue_order.data[taken - 1].next;
        return taken;
    }
    if (builder->queue_order.length >= ARGUS_NONE - 1) {
        builder->full = true;
        return 0;
    }
    if (!vec_push(&builder->queue_order, (struct queue_entry){0})) {
        builder->no_memory = true;
        return 0;
    }
    return (uint32_t)builder->queue_order.length;
}

void queue_order_put(struct builder *builder, struct queued_callback *queued)
{
    uint32_t taken = take_entry(builder);
    if (!taken)
        return;
    builder->queue_order.data[taken - 1] = (struct queue_entry){.by = queued->by};
    if (queued->last)
        builder->queue_order.data[queued->last - 1].next = taken;
    else
        queued->first = taken;
    queued->last = taken;
}

bool queue_order_take(struct builder *builder, struct queued_callback *queued)
{
    uint32_t taken = queued->first;
    if (!taken)
        return false;
    struct queue_entry *entry = &builder->queue_order.data[taken - 1];
    queued->by = entry->by;
    queued->first = entry->next;
    if (!queued->first)
        queued->last = 0;
    entry->next = builder->queue_free;
    builder->queue_free = taken;
    return true;
}
