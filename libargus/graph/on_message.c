/* Messages. A message by itself neither begins nor ends a vertex: what it does to the thread that receives it comes with
 * the wake-up. Its edge is made when its other end is known: rules/message_edge.c. */
#include "graph/builder.h"

void graph_on_message(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE)
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    if (state->slot != ARGUS_NONE)
        pairing_feed(&builder->pairing, record, &state->call, cpu->thread, state->slot);
}
