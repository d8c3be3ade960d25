/* The ends of pipes and sockets that processes had open when the recording ended. A process that
 * never ran in the recording has no other record, and perhaps no row in the tables so far. Which
 * one should have written or read is for the diagnosis to say. */
#include <stdlib.h>

#include "graph/build/on_open_end.h"

#include "base/lower_bound.h"
#include "graph/build/finish.h"
#include "graph/build/handlers.h"

struct open_fds {
    VEC(struct open_fd) all;
    struct idmap by_key;
};

struct open_fds *open_fds_create(void)
{
    return calloc(1, sizeof(struct open_fds));
}

void open_fds_destroy(struct open_fds *fds)
{
    if (!fds)
        return;
    vec_deinit(&fds->all);
    idmap_deinit(&fds->by_key);
    free(fds);
}

static uint64_t key_of(uint32_t thread, uint64_t fd)
{
    return (uint64_t)thread << 32 | (uint32_t)fd;
}

const struct open_fd *open_fd_find(const struct open_fds *fds, uint32_t thread, uint64_t fd)
{
    uint32_t at = idmap_get(&fds->by_key, key_of(thread, fd));
    return at == IDMAP_NONE ? NULL : &fds->all.data[at];
}

static bool note_fd(struct open_fds *fds, uint32_t thread, const struct argus_record *record)
{
    const struct open_fd fd = {.inode = record->arg[0], .mode = record->arg[3]};
    return vec_push(&fds->all, fd) &&
           idmap_put(&fds->by_key, key_of(thread, record->arg[2]), (uint32_t)fds->all.length - 1);
}

void graph_on_open_end(struct builder *builder, struct cpu_state *cpu,
                       const struct argus_record *record)
{
    (void)cpu;
    struct machine *machine = &builder->graph->machine;
    const struct argus_open_end end = {
        .inode = record->arg[0],
        .thread = builder_thread(builder, record->tid),
        .reads = record->arg[1] & ARGUS_OPEN_END_READS,
        .writes = (record->arg[1] & ARGUS_OPEN_END_WRITES) != 0,
    };
    if (end.thread == ARGUS_NONE || !end.inode)
        return;
    if (!vec_push(&builder->graph->open_ends, end) ||
        !note_fd(builder->open_fds, end.thread, record))
        builder->no_memory = true;
    if (record->arg[1] & ARGUS_OPEN_END_DISPLAY)
        machine->processes.data[machine->threads.data[end.thread].process].serves_display = true;
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

uint32_t open_end_owner(const struct builder *builder, uint64_t inode)
{
    const struct argus_open_end *ends = builder->graph->open_ends.data;
    size_t count = builder->graph->open_ends.length;
    size_t at;
    LOWER_BOUND(at, count, ends[at].inode < inode);
    bool is_only =
        at < count && ends[at].inode == inode && (at + 1 == count || ends[at + 1].inode != inode);
    return is_only ? ends[at].thread : ARGUS_NONE;
}
