/* The memory that processes share when the recording ends. Of a loop that polls there, it tells which processes may end it. */
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

static int by_thread(const void *left, const void *right)
{
    const struct argus_shared_memory *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Several snapshots may be in one file. Of one address the last one counts; qsort() may change their
 * order, so files that have come and gone may both be kept. */
void finish_shared_memory(struct builder *builder)
{
    struct argus_shared_memory *all = builder->graph->shared_memory.data;
    size_t count = builder->graph->shared_memory.length, kept = 0;
    if (count)
        qsort(all, count, sizeof(*all), by_thread);
    for (size_t i = 0; i < count; i++)
        if (!kept || by_thread(&all[kept - 1], &all[i]) != 0 || all[kept - 1].inode != all[i].inode)
            all[kept++] = all[i];
    builder->graph->shared_memory.length = kept;
}
