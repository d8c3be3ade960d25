/* The ends of pipes and sockets that processes had open when the recording ended. A process that
 * never used its end in the recording has no record of it otherwise. Which one should have written
 * or read is for the diagnosis to say. */
#include <stdlib.h>

#include "graph/build/finish.h"
#include "graph/build/handlers.h"

void graph_on_open_end(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    (void)cpu;
    const struct argus_open_end end = {
        .inode = record->arg[0],
        .thread = machine_find_thread(&builder->graph->machine, record->tid),
        .reads = record->arg[1] & ARGUS_OPEN_END_READS,
        .writes = (record->arg[1] & ARGUS_OPEN_END_WRITES) != 0,
    };
    if (end.thread == ARGUS_NONE || end.thread >= builder->threads.length || !end.inode)
        return;
    if (!vec_push(&builder->graph->open_ends, end))
        builder->no_memory = true;
}

static int by_inode(const void *left, const void *right)
{
    const struct argus_open_end *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* A process may have several descriptors of one end, and several snapshots may be in one file. */
void finish_open_ends(struct builder *builder)
{
    struct argus_open_end *ends = builder->graph->open_ends.data;
    size_t count = builder->graph->open_ends.length, kept = 0;
    if (count)
        qsort(ends, count, sizeof(*ends), by_inode);
    for (size_t i = 0; i < count; i++) {
        struct argus_open_end *last = kept ? &ends[kept - 1] : NULL;
        if (!last || by_inode(last, &ends[i]) != 0) {
            ends[kept++] = ends[i];
            continue;
        }
        last->reads |= ends[i].reads;
        last->writes |= ends[i].writes;
    }
    builder->graph->open_ends.length = kept;
}
