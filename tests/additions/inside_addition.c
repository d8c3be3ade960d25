#include "graph/rules/inside_addition.h"

#include "graph/build/actor.h"
#include "graph/build/cpu_state.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

void rule_addition(struct builder *builder, const struct cpu_state *cpu,
                   const struct argus_record *record)
{
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->arg[1]);
    if (thread == ARGUS_NONE || thread >= builder->threads.length || cpu->thread == ARGUS_NONE)
        return;
    struct actor from = {
        .since_ns = builder->now_ns, .thread = thread, .slot = thread_at(builder, thread)->slot};
    struct cause cause = actor_cause(&from, ARGUS_EDGE_DISPATCH, RULE_ADDITION_INSIDE);
    if (cause.known)
        vertex_add_edge(builder, cpu->thread, &cause);
}
