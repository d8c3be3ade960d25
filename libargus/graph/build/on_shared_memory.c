/* The memory that processes share, listed while a stream is recorded and when a recording ends. Of
 * a loop that polls there, it tells which processes may end it. */
#include <stdlib.h>

#include "graph/build/finish.h"
#include "graph/build/handlers.h"

void graph_on_shared_memory(struct builder *builder, struct cpu_state *cpu,
                            const struct argus_record *record)
{
    (void)cpu;
    const struct argus_shared_memory memory = {
        .inode = record->arg[1],
        .offset = record->arg[2],
        .start = record->arg[0] & ~(uint64_t)ARGUS_SHARED_WRITABLE,
        .bytes = (record->arg[3] >> 32) * ARGUS_SHARED_PAGE,
        .device = (uint32_t)record->arg[3],
        .thread = builder_thread(builder, record->tid),
        .writable = (record->arg[0] & ARGUS_SHARED_WRITABLE) != 0,
    };
    if (memory.thread != ARGUS_NONE && !vec_push(&builder->graph->shared_memory, memory))
        builder->no_memory = true;
}

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_mapping(const struct argus_shared_memory *a, const struct argus_shared_memory *b)
{
    int order = compare(a->thread, b->thread);
    order = order ? order : compare(a->start, b->start);
    order = order ? order : compare(a->device, b->device);
    order = order ? order : compare(a->inode, b->inode);
    return order ? order : compare(a->offset, b->offset);
}

static int by_all(const void *left, const void *right)
{
    const struct argus_shared_memory *a = left, *b = right;
    int order = by_mapping(a, b);
    order = order ? order : compare(a->bytes, b->bytes);
    return order ? order : compare(a->writable, b->writable);
}

/* One mapping may be listed several times. It is as large as it ever was, and writable if it ever
 * was. */
void finish_shared_memory(struct builder *builder)
{
    struct argus_shared_memory *all = builder->graph->shared_memory.data;
    size_t count = builder->graph->shared_memory.length, kept = 0;
    if (count)
        qsort(all, count, sizeof(*all), by_all);
    for (size_t i = 0; i < count; i++) {
        if (!kept || by_mapping(&all[kept - 1], &all[i]) != 0) {
            all[kept++] = all[i];
            continue;
        }
        all[kept - 1].bytes = all[i].bytes;
        all[kept - 1].writable |= all[i].writable;
    }
    builder->graph->shared_memory.length = kept;
}
