/* Which thread is responsible for what a cpu does.
 *
 * In task context this is the thread on the cpu. An interrupt, a softirq or a timer interrupts
 * whichever thread happens to run, but some have a thread that asked for them: a timer the thread
 * that armed it, the completion of a block request its issuer, work in a softirq its queuer.
 * Whatever they wake, signal or queue is attributed to that thread.
 */
#include "graph/build/actor.h"

#include "graph/build/cpu_state.h"
#include "graph/build/on_interrupt.h"
#include "graph/build/thread_state.h"

enum argus_context cpu_context(const struct cpu_state *cpu, uint64_t recorded)
{
    if (recorded < ARGUS_CONTEXT_UNKNOWN)
        return (enum argus_context)recorded;
    if (cpu->hard_depth || cpu->firing_depth)
        return ARGUS_CONTEXT_HARDIRQ;
    return cpu->softirqs ? ARGUS_CONTEXT_SOFTIRQ : ARGUS_CONTEXT_TASK;
}

static const struct actor nobody = {.thread = ARGUS_NONE, .slot = ARGUS_NONE};

static struct actor thread_actor(const struct builder *builder, uint32_t thread)
{
    if (thread == ARGUS_NONE || builder->threads.data[thread].slot == ARGUS_NONE)
        return nobody;
    return (struct actor){
        .since_ns = builder->now_ns, .thread = thread, .slot = builder->threads.data[thread].slot};
}

static struct actor timer_actor(const struct builder *builder, uint32_t timer)
{
    if (timer == ARGUS_NONE || builder->timers->all.data[timer].slot == ARGUS_NONE)
        return nobody;
    const struct timer_state *state = &builder->timers->all.data[timer];
    return (struct actor){.since_ns = state->armed_ns, .thread = state->owner, .slot = state->slot};
}

struct actor actor_now(const struct builder *builder, const struct cpu_state *cpu,
                       uint64_t recorded)
{
    if (cpu_context(cpu, recorded) == ARGUS_CONTEXT_TASK)
        return thread_actor(builder, cpu->thread);
    if (cpu->firing_depth)
        return timer_actor(builder, cpu_timer(cpu));
    if (cpu->completing)
        return cpu->completion.issuer;
    return cpu->bh_queuer;
}

struct cause actor_cause(const struct actor *actor, enum argus_edge_kind kind, enum rule_id rule)
{
    return (struct cause){
        .known = actor->thread != ARGUS_NONE && actor->slot != ARGUS_NONE,
        .edge = {.from_ns = actor->since_ns,
                 .from = actor->slot,
                 .kind = (uint8_t)kind,
                 .strong = true,
                 .rule = (uint16_t)rule,
                 .stack = ARGUS_NONE},
    };
}
