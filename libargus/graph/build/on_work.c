/* Work queues: the thread that queues work causes the vertex in which a kernel worker does it.
 *
 * A worker does one piece of work after the other, for different requesters, so each begins a
 * vertex of its own. Work whose queuing is not in the trace begins none. For example, the barrier
 * by which flush_work() waits has no record, and belongs to the work before it, for which it waits.
 * Some work is done in a softirq instead (WQ_BH); then its wake-ups are attributed to the thread
 * that queued it (actor.c).
 */
#include "graph/build/on_work.h"

#include <stdlib.h>

#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

/* Work that was queued and has not begun. */
struct work_state {
    struct actor queuer;
};

struct works {
    VEC(struct work_state) all;
    struct idmap by_key;
};

struct works *works_create(void)
{
    return calloc(1, sizeof(struct works));
}

void works_destroy(struct works *works)
{
    if (!works)
        return;
    vec_deinit(&works->all);
    idmap_deinit(&works->by_key);
    free(works);
}

void graph_on_work_queued(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    uint32_t index =
        builder_place(builder, &builder->works->all, &builder->works->by_key, record->arg[0]);
    if (index == ARGUS_NONE)
        return;
    struct actor queuer = actor_now(builder, cpu, record->arg[3]);
    builder->works->all.data[index].queuer = queuer;
    if (queuer.thread != ARGUS_NONE && queuer.since_ns == builder->now_ns)
        thread_at(builder, queuer.thread)->acted = true;
}

static void begin_work(struct builder *builder, struct cpu_state *cpu, uint32_t index,
                       uint64_t function)
{
    if (cpu->thread == ARGUS_NONE)
        return;
    if (index != IDMAP_NONE) {
        struct actor *queuer = &builder->works->all.data[index].queuer;
        struct cause cause = actor_cause(queuer, ARGUS_EDGE_WORK, RULE_WORK);
        queuer->thread = queuer->slot = ARGUS_NONE; /* a queuing causes one execution */
        if (cause.known)
            vertex_split(builder, cpu->thread, &cause);
    }
    if (thread_at(builder, cpu->thread)->activity == THREAD_RUNNING)
        vertex_op(builder, cpu->thread, ARGUS_OP_WORK << 24 | (function & 0xffffff));
}

void graph_on_work(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    const struct actor nobody = {.thread = ARGUS_NONE, .slot = ARGUS_NONE};
    if (ARGUS_DEBUGID_FUNC(record->debugid) != ARGUS_FUNC_START) {
        cpu->bh_queuer = nobody;
        return;
    }
    uint32_t index = idmap_get(&builder->works->by_key, record->arg[0]);
    if (cpu_interrupted(cpu)) {
        cpu->completing = false; /* the completion before does not belong to this work */
        /* a copy, because the work can be queued again while it is executed */
        cpu->bh_queuer = index == IDMAP_NONE ? nobody : builder->works->all.data[index].queuer;
    } else {
        begin_work(builder, cpu, index, record->arg[1]);
    }
}
