/* A thread that wakes up only to wait again: several threads wait for one thing and another one was
 * faster, or an event wakes a poll although its caller did not ask for it. To the caller this is
 * one wait, which the last wake-up ends. */
#include "graph/rules/rewait.h"

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* A check that finds nothing takes less time than this, even on a slow machine. Real work also
 * returns from the system call. */
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
