/* Waking up only to wait again: several threads wait for one thing and another one was faster, or a poll is woken by
 * an event that its caller did not ask for. To the caller it is one wait, ended by the last wake-up. */
#include "graph/rules/rewait.h"

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* Looking again and finding nothing takes less than that, also on a slow machine; work takes a system call's return. */
#define REWAIT_RUN_NS 200000u

bool rule_rewait(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    bool same_call = state->wait_open && state->syscall != ARGUS_NO_SYSCALL;
    if (!same_call || state->previous == ARGUS_NONE || state->acted || state->ops.length ||
        vertex->run_ns >= REWAIT_RUN_NS)
        return false;
    struct argus_vertex *waited = slot_at(builder, state->previous);
    if (waited->wait.syscall != state->syscall)
        return false;

    waited->flags |= vertex->flags & ARGUS_VERTEX_GAP;
    waited->wait.rewakes++;
    waited->wait.outcome = ARGUS_OUTCOME_NEVER;
    uint32_t slot = state->slot;
    state->slot = state->previous;
    state->previous = state->older;
    state->older = ARGUS_NONE;
    state->cause.known = false;
    vertex_give_back(builder, thread, slot);
    wait_forget_notes(state);
    builder_count(builder, RULE_MERGE_REWAIT);
    return true;
}
