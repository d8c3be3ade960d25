/* The activity of a thread: running, runnable or waiting, and the transitions between these.
 *
 * Only switch records are reliable: each names the thread that leaves the cpu and the one that
 * comes. When records are missing, everything else is corrected by them, and the affected vertex is
 * marked ARGUS_VERTEX_GAP.
 *
 * A wake-up can be recorded *before* the switch that begins the wait: the waker finds the thread
 * off the run queue but not yet off the cpu. Such an early wake-up is remembered and ends the wait
 * as soon as the wait begins. If another wake-up comes before the thread has run, the early one did
 * not end the wait, and is undone.
 */
#include "graph/build/activity.h"

#include "event/pairing/pairing.h"
#include "event/syscalls.h"
#include "graph/build/cpu_state.h"
#include "graph/build/cut_points.h"
#include "graph/build/on_callback.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait.h"
#include "graph/rules/rewait.h"
#include "graph/rules/yield.h"

/* Leaving a cpu takes microseconds; on a virtual cpu that the host suspends, longer. */
#define EARLY_WAKEUP_NS 1000000u

void thread_account(struct builder *builder, uint32_t thread, uint64_t now_ns)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING)
        return;
    if (!cpu_interrupted(&builder->cpus.data[state->cpu]))
        slot_at(builder, state->slot)->run_ns += now_ns - state->since_ns;
    state->since_ns = now_ns;
}

static void set_activity(struct thread_state *state, enum thread_activity activity, uint64_t now_ns)
{
    state->activity = (uint8_t)activity;
    state->since_ns = now_ns;
}

static void mark_gap(struct builder *builder, const struct thread_state *state)
{
    if (state->slot != ARGUS_NONE)
        slot_at(builder, state->slot)->flags |= ARGUS_VERTEX_GAP;
}

/* Ends the wait of the current vertex and begins the next one, unless the two are one yield run. */
static void leave_wait(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    wait_end(builder, thread, builder->now_ns, cause);
    if (!rule_yield(builder, thread))
        vertex_settle(builder, thread);
    builder_count(builder, RULE_BOUNDARY_WAIT);
    vertex_begin(builder, thread, builder->now_ns, callback_continuation(builder, thread));
}

static void begin_first(struct builder *builder, uint32_t thread)
{
    builder_count(builder, RULE_BOUNDARY_FIRST);
    vertex_begin(builder, thread, builder->now_ns, ARGUS_VERTEX_FIRST);
}

/* `thread` was believed to run on another cpu; the record that it left that one is missing. */
static void leave_other_cpu(struct builder *builder, uint32_t thread, const struct cpu_state *cpu)
{
    struct thread_state *state = thread_at(builder, thread);
    struct cpu_state *other = &builder->cpus.data[state->cpu];
    if (other == cpu)
        return;
    if (other->thread == thread) {
        other->known = false;
        other->thread = ARGUS_NONE;
    }
    mark_gap(builder, state);
}

void thread_run(struct builder *builder, uint32_t thread, struct cpu_state *cpu, bool seen)
{
    uint64_t now_ns = builder->now_ns;
    struct thread_state *state = thread_at(builder, thread);
    switch ((enum thread_activity)state->activity) {
    case THREAD_UNSEEN:
        begin_first(builder, thread);
        break;
    case THREAD_RUNNING:
        leave_other_cpu(builder, thread, cpu);
        break;
    case THREAD_RUNNABLE:
        if (seen)
            slot_at(builder, state->slot)->runnable_ns += now_ns - state->since_ns;
        else
            mark_gap(builder, state);
        break;
    case THREAD_WAITING:
        leave_wait(builder, thread, NULL);
        if (!seen)
            mark_gap(builder, state);
        break;
    case THREAD_LOST:
        break;
    case THREAD_GONE:
        return;
    }
    if (state->slot == ARGUS_NONE)
        return;
    set_activity(state, THREAD_RUNNING, now_ns);
    state->cpu = (uint32_t)(cpu - builder->cpus.data);
    state->undo_early = false;
    state->early_ns = 0;
    pairing_call_comes(&state->call, now_ns);
    if (state->may_message)
        pairing_thread_runs(&builder->cut_points->pairing, thread, now_ns);
}

void thread_preempt(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    pairing_call_leaves(&state->call, false);
    if (state->activity == THREAD_RUNNING)
        set_activity(state, THREAD_RUNNABLE, builder->now_ns);
}

void thread_block(struct builder *builder, uint32_t thread, uint64_t os_state)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING)
        return;
    pairing_call_leaves(&state->call, true);
    if (state->may_message)
        pairing_thread_rests(&builder->cut_points->pairing, thread);
    if (!rule_rewait(builder, thread))
        wait_begin(builder, thread, os_state);
    set_activity(state, THREAD_WAITING, builder->now_ns);

    bool woken = state->early_ns && builder->now_ns - state->early_ns <= EARLY_WAKEUP_NS;
    state->early_ns = 0;
    if (!woken)
        return;
    struct cause early = state->early;
    thread_wake(builder, thread, &early);
    state->undo_early = true;
}

void thread_begin_waiting(struct builder *builder, uint32_t thread, uint64_t os_state)
{
    begin_first(builder, thread);
    struct thread_state *state = thread_at(builder, thread);
    if (state->slot == ARGUS_NONE)
        return;
    wait_begin(builder, thread, os_state);
    set_activity(state, THREAD_WAITING, builder->now_ns);
}

/* A second wake-up of a thread that an early one had made runnable: it was waiting until now. */
static void redo_early(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->previous != ARGUS_NONE)
        wait_end(builder, thread, builder->now_ns, cause);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    vertex->start_ns = vertex->end_ns = builder->now_ns;
    state->cause = *cause;
    state->undo_early = false;
    set_activity(state, THREAD_RUNNABLE, builder->now_ns);
}

static void forget_syscall(struct thread_state *state)
{
    state->syscall_known = false;
    state->syscall = ARGUS_NO_SYSCALL;
    state->restart.syscall = ARGUS_NO_SYSCALL;
    state->restart.continues = false;
}

/* `thread` is woken, so it must have begun to wait at some moment after its records were lost. */
static void wake_lost(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    struct argus_vertex *vertex = slot_at(builder, state->slot);
    vertex->end_ns = state->since_ns;
    vertex->flags |= ARGUS_VERTEX_GAP;
    vertex->wait.kind = ARGUS_WAIT_OTHER;
    state->op_open = false;
    vertex_flush_ops(builder, state);
    state->activity = THREAD_LOST;
    leave_wait(builder, thread, cause);
    slot_at(builder, state->previous)->wait.outcome = ARGUS_OUTCOME_UNKNOWN;
    state->wait_open = false;
    forget_syscall(state);
}

/* False if the wake-up changes nothing. */
static bool wake_by_activity(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    switch ((enum thread_activity)state->activity) {
    case THREAD_UNSEEN:
        begin_first(builder, thread);
        return true;
    case THREAD_WAITING:
        leave_wait(builder, thread, cause);
        return true;
    case THREAD_LOST:
        wake_lost(builder, thread, cause);
        return true;
    case THREAD_RUNNABLE:
        if (state->undo_early)
            redo_early(builder, thread, cause);
        else if (builder->last_lost_ns > state->since_ns)
            wake_lost(builder, thread, cause);
        else
            return false;
        return true;
    case THREAD_RUNNING:
        state->early_ns = builder->now_ns;
        state->early = *cause;
        return false;
    case THREAD_GONE:
        return false;
    }
    return false;
}

void thread_wake(struct builder *builder, uint32_t thread, const struct cause *cause)
{
    struct thread_state *state = thread_at(builder, thread);
    if (!wake_by_activity(builder, thread, cause) || state->slot == ARGUS_NONE)
        return;
    state->cause = *cause;
    state->cause.edge.to_ns = builder->now_ns;
    set_activity(state, THREAD_RUNNABLE, builder->now_ns);
}

void thread_rests(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->may_message)
        pairing_thread_rests(&builder->cut_points->pairing, thread);
    state->may_message = false;
}

void thread_killed(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (!state->wait_open || state->previous == ARGUS_NONE)
        return;
    state->wait_open = false;
    struct argus_wait *wait = &slot_at(builder, state->previous)->wait;
    const struct syscall_row *row = syscall_row(builder->os, builder->arch, wait->syscall);
    if (!(row->flags & SYSCALL_EXIT))
        wait->outcome = ARGUS_OUTCOME_KILLED;
}

void thread_gone(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity == THREAD_GONE)
        return;
    if (state->slot != ARGUS_NONE) {
        builder_count(builder, RULE_BOUNDARY_EXIT);
        /* it ended, and the record of its wake-up is missing */
        if (state->activity == THREAD_WAITING)
            leave_wait(builder, thread, NULL);
        thread_killed(builder, thread);
        vertex_end(builder, thread, builder->now_ns, ARGUS_VERTEX_EXITED | ARGUS_VERTEX_LAST);
    }
    thread_rests(builder, thread);
    set_activity(state, THREAD_GONE, builder->now_ns);
    vec_deinit(&state->ops);
    machine_thread_gone(&builder->graph->machine, thread, builder->now_ns);
}

static void forget_calls(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    forget_syscall(state);
    state->call = (struct pairing_call){0};
    thread_rests(builder, thread);
    state->wait_open = state->op_open = false;
    state->open.depth = 0; /* records of their ends may be among those that were lost */
}

void thread_lose(struct builder *builder, uint32_t thread, uint64_t since_ns)
{
    struct thread_state *state = thread_at(builder, thread);
    if (state->activity != THREAD_RUNNING)
        return;
    mark_gap(builder, state);
    if (since_ns > state->since_ns)
        thread_account(builder, thread, since_ns);
    set_activity(state, THREAD_LOST, state->since_ns);
    forget_calls(builder, thread);
}

void thread_forget_calls(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    mark_gap(builder, state);
    forget_calls(builder, thread);
    state->has_word = false;
}
