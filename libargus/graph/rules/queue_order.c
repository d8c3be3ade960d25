#include "graph/rules/queue_order.h"

#include <stdlib.h>

#include "graph/build/actor.h"
#include "graph/build/builder.h"

/* One of several callbacks that were queued under one key. */
struct queue_entry {
    struct actor by;
    /* index + 1 of the entry queued after it, or, for a free entry, of the next free one; 0:
     * none */
    uint32_t next;
};

struct queue_order {
    VEC(struct queue_entry) entries;
    uint32_t free; /* index + 1 of the first free entry; 0: none */
};

struct queue_order *queue_order_create(void)
{
    return calloc(1, sizeof(struct queue_order));
}

void queue_order_destroy(struct queue_order *queue_order)
{
    if (!queue_order)
        return;
    vec_deinit(&queue_order->entries);
    free(queue_order);
}

/* Index + 1 of a free entry; 0 if there is no room. */
static uint32_t take_entry(struct builder *builder)
{
    uint32_t taken = builder->queue_order->free;
    if (taken) {
        builder->queue_order->free = builder->queue_order->entries.data[taken - 1].next;
        return taken;
    }
    if (builder->queue_order->entries.length >= ARGUS_NONE - 1) {
        builder->full = true;
        return 0;
    }
    if (!vec_push(&builder->queue_order->entries, (struct queue_entry){0})) {
        builder->no_memory = true;
        return 0;
    }
    return (uint32_t)builder->queue_order->entries.length;
}

void queue_order_put(struct builder *builder, struct queued_callback *queued)
{
    uint32_t taken = take_entry(builder);
    if (!taken)
        return;
    builder->queue_order->entries.data[taken - 1] = (struct queue_entry){.by = queued->by};
    if (queued->last)
        builder->queue_order->entries.data[queued->last - 1].next = taken;
    else
        queued->first = taken;
    queued->last = taken;
}

bool queue_order_take(struct builder *builder, struct queued_callback *queued)
{
    uint32_t taken = queued->first;
    if (!taken)
        return false;
    struct queue_entry *entry = &builder->queue_order->entries.data[taken - 1];
    queued->by = entry->by;
    queued->first = entry->next;
    if (!queued->first)
        queued->last = 0;
    entry->next = builder->queue_order->free;
    builder->queue_order->free = taken;
    return true;
}
