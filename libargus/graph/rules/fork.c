#include "graph/rules/fork.h"

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

void rule_fork(struct builder *builder, uint32_t creator, uint32_t child)
{
    struct thread_state *from = thread_at(builder, creator), *to = thread_at(builder, child);
    if (from->slot == ARGUS_NONE || to->slot == ARGUS_NONE)
        return;
    to->cause = (struct cause){
        .known = true,
        .edge = {.from_ns = builder->now_ns,
                 .to_ns = builder->now_ns,
                 .from = from->slot,
                 .kind = ARGUS_EDGE_FORK,
                 .strong = true,
                 .rule = RULE_FORK,
                 .stack = ARGUS_NONE},
    };
    from->acted = true;
    vertex_op(builder, creator, ARGUS_OP_FORK << 24);
}
