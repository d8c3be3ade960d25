/* Messages. A message by itself neither begins nor ends a vertex; its effect on the receiver shows
 * in the wake-up. Its edge is made when the pairing has found its other end:
 * rules/message_edge.c. */
#include "event/pairing/pairing.h"
#include "graph/build/cut_points.h"
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"

/* Argument 4 of a Mach message is the process that its voucher names as beneficiary. */
static void note_behalf(struct builder *builder, uint32_t point, const struct argus_record *record)
{
    bool is_mach = ARGUS_MESSAGE_KIND(record->arg[1]) == ARGUS_CHANNEL_MACH;
    if (is_mach && record->arg[3] < ARGUS_NONE)
        builder->cut_points->all.data[point].behalf = (uint32_t)record->arg[3];
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
    uint32_t point = cut_point_add_message(builder, cpu->thread, receives);
    if (point != ARGUS_NONE)
        note_behalf(builder, point, record);
    if (point != ARGUS_NONE)
        pairing_feed(&builder->cut_points->pairing, record, &state->call, cpu->thread, point);
}
