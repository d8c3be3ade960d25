/* Messages. A message by itself neither begins nor ends a vertex: what it does to the thread that receives it comes with
 * the wake-up. Its edge is made when its other end is known: rules/message_edge.c. */
#include "event/pairing/pairing.h"
#include "graph/build/handlers.h"
#include "graph/build/talk.h"
#include "graph/build/thread_state.h"

/* Of a Mach message arg4 is the process that its voucher is for. */
static void note_behalf(struct builder *builder, uint32_t talk, const struct argus_record *record)
{
    bool is_mach = ARGUS_MESSAGE_KIND(record->arg[1]) == ARGUS_CHANNEL_MACH;
    if (is_mach && record->arg[3] < ARGUS_NONE)
        builder->talks->all.data[talk].behalf = (uint32_t)record->arg[3];
}

void graph_on_message(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE)
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    bool receives = ARGUS_MESSAGE_FLAGS(record->arg[1]) & ARGUS_MESSAGE_RECEIVE;
    if (state->slot == ARGUS_NONE)
        return;
    uint32_t talk = talk_add(builder, cpu->thread, receives);
    if (talk != ARGUS_NONE)
        note_behalf(builder, talk, record);
    if (talk != ARGUS_NONE)
        pairing_feed(&builder->talks->pairing, record, &state->call, cpu->thread, talk);
}
