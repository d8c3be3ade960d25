/* What a wait was for, if it has a record of its own: the descriptors that a poll returned, the
 * mapping of an address. */
#include "graph/build/absence.h"
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* This record comes just before the end of the poll call, whether the thread waited in it or
 * not. */
void graph_on_ready(struct builder *builder, struct cpu_state *cpu,
                    const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE)
        return;
    const struct thread_state *state = thread_at(builder, cpu->thread);
    if (!state->wait_open)
        absence_ready(builder, cpu->thread, record->arg);
    else if (state->previous != ARGUS_NONE &&
             slot_at(builder, state->previous)->wait.syscall == state->syscall)
        wait_add_detail_to(builder, state->previous, ARGUS_DETAIL_READY, record->arg);
}

void graph_on_mapping(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    if (cpu->thread != ARGUS_NONE)
        wait_note_mapping(builder, cpu->thread, record->arg);
}
