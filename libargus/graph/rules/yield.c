/* Yield runs: while (!done) usleep(1000), or poll() with a short timeout in a loop.
 *
 * Each turn is a vertex whose wait the thread's own timer ended. Three turns in a row that do the
 * same and wait in the same call are merged into one vertex with a count, which then grows turn by
 * turn. A vertex that another thread woke is not merged, because that wake-up is a cause. If the
 * record of a wake-up is missing, the result of the system call shows that the timer ended the
 * wait, but only after the next turn has begun.
 *
 * The merged vertex lasts from the first turn's start to the last turn's end. Its run and runnable
 * times are sums; the rest (end - start - run - runnable) was spent in the waits between the turns.
 */
#include "graph/rules/yield.h"

#include <string.h>

#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"

/* a longer wait paces work (20 times a second) and does not wait for a flag */
#define YIELD_WAIT_NS 50000000u
/* a timer that fires so late is not treated as a yield */
#define LATE_NS      500000000u
#define YIELD_RUN_NS 10000000u /* a longer run is work, not a check of a flag */

/* The intended length of a wait. On a busy machine, the timer's interrupt comes late. */
static uint64_t meant_wait_ns(const struct argus_wait *wait, uint64_t begin_ns)
{
    uint64_t wait_ns = wait->end_ns - begin_ns;
    return wait->timeout_ns < wait_ns && wait_ns <= LATE_NS ? wait->timeout_ns : wait_ns;
}

static bool may_be_turn(const struct argus_vertex *vertex)
{
    return (vertex->flags & VERTEX_SELF_TIMED) && vertex->run_ns / vertex->repeat <= YIELD_RUN_NS &&
           meant_wait_ns(&vertex->wait, vertex->end_ns) <= YIELD_WAIT_NS;
}

static uint64_t wait_place(const struct builder *builder, const struct argus_vertex *vertex)
{
    struct argus_stack stack = stacks_get(&builder->graph->stacks, vertex->wait.user_stack);
    return stack.count ? stack.frames[0] : 0;
}

/* Whether two turns are alike. Only the innermost frame of their stacks is compared, because deeper
 * frames may be wrong if frame pointers are missing. */
static bool same_turn(const struct builder *builder, const struct argus_vertex *a,
                      const struct argus_vertex *b)
{
    const struct argus_op *ops = builder->graph->ops.data;
    return a->wait.syscall == b->wait.syscall && a->wait.kind == b->wait.kind &&
           a->wait.object == b->wait.object && a->op_count == b->op_count &&
           (!a->op_count ||
            !memcmp(ops + a->first_op, ops + b->first_op, a->op_count * sizeof(*ops))) &&
           wait_place(builder, a) == wait_place(builder, b);
}

/* Whether both are turns of the same loop. */
static bool is_same_run(struct builder *builder, uint32_t run, uint32_t turn)
{
    const struct argus_vertex *a = slot_at(builder, run), *b = slot_at(builder, turn);
    return may_be_turn(b) && may_be_turn(a) && same_turn(builder, a, b);
}

static void absorb(struct argus_vertex *run, const struct argus_vertex *turn)
{
    run->end_ns = turn->end_ns;
    run->run_ns += turn->run_ns;
    run->runnable_ns += turn->runnable_ns;
    run->repeat += turn->repeat;
    run->yield_calls += turn->yield_calls + 1;
    run->flags = (run->flags & ~VERTEX_SELF_TIMED) | ARGUS_VERTEX_YIELDS |
                 (turn->flags & (ARGUS_VERTEX_GAP | VERTEX_SELF_TIMED));
    run->wait = turn->wait;
}

static void grow(struct builder *builder, uint32_t thread, uint32_t run, uint32_t turn)
{
    absorb(slot_at(builder, run), slot_at(builder, turn));
    vertex_give_back(builder, thread, turn);
    builder_count(builder, RULE_MERGE_YIELD);
}

bool rule_yield(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    uint32_t turn = state->slot, before = state->previous, run = state->older;
    if (before == ARGUS_NONE || slot_at(builder, turn)->repeat != 1 ||
        !is_same_run(builder, before, turn))
        return false;

    if (slot_at(builder, before)->flags & ARGUS_VERTEX_YIELDS) {
        run = before;
    } else {
        if (run == ARGUS_NONE || !is_same_run(builder, run, before))
            return false;
        grow(builder, thread, run, before);
    }
    grow(builder, thread, run, turn);
    state->cause.known = false;
    state->slot = run;
    state->previous = state->older = ARGUS_NONE;
    return true;
}

void rule_yield_told(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    uint32_t turn = state->previous, run = state->older;
    if (run == ARGUS_NONE || !(slot_at(builder, run)->flags & ARGUS_VERTEX_YIELDS) ||
        slot_at(builder, turn)->repeat != 1 || !is_same_run(builder, run, turn))
        return;
    grow(builder, thread, run, turn);
    state->previous = run;
    state->older = ARGUS_NONE;
}
