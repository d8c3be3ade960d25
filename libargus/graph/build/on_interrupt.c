/* Interrupts, softirqs and firing timers: while they have the cpu, its thread does not run. */
#include "graph/build/on_interrupt.h"

#include <stdlib.h>

#include "graph/build/activity.h"
#include "graph/build/handlers.h"
#include "graph/build/on_block.h"
#include "graph/build/thread_state.h"

struct timers *timers_create(void)
{
    return calloc(1, sizeof(struct timers));
}

void timers_destroy(struct timers *timers)
{
    if (!timers)
        return;
    vec_deinit(&timers->all);
    idmap_deinit(&timers->by_key);
    free(timers);
}

static void pause_thread(struct builder *builder, const struct cpu_state *cpu)
{
    if (cpu->thread != ARGUS_NONE && !cpu_interrupted(cpu)) {
        thread_account(builder, cpu->thread, builder->now_ns);
        builder_count(builder, RULE_BOUNDARY_INTERRUPT);
    }
}

static void resume_thread(struct builder *builder, const struct cpu_state *cpu)
{
    if (cpu->thread == ARGUS_NONE || cpu_interrupted(cpu))
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    if (state->activity == THREAD_RUNNING)
        state->since_ns = builder->now_ns;
}

/* What Darwin says of an interrupt: bsd/sys/kdebug.h, DBG_INTR_TYPE_…. Linux says 0. */
enum { DARWIN_INTERRUPT_IPI = 1, DARWIN_INTERRUPT_TIMER = 2 };

void graph_on_interrupt(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START) {
        pause_thread(builder, cpu);
        cpu->hard_depth++;
        cpu->by_clock =
            record->arg[3] == DARWIN_INTERRUPT_IPI || record->arg[3] == DARWIN_INTERRUPT_TIMER;
    } else if (cpu->hard_depth) {
        graph_block_allow_record(cpu);
        cpu->hard_depth--;
        cpu->left_at = cpu->position;
        resume_thread(builder, cpu);
    }
}

void graph_on_softirq(struct builder *builder, struct cpu_state *cpu,
                      const struct argus_record *record)
{
    uint64_t bit = 1ull << (record->arg[0] & 63);
    graph_block_allow_record(cpu);
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START) {
        pause_thread(builder, cpu);
        if (!cpu->softirqs)
            cpu->from_interrupt = cpu->left_at && cpu->left_at + 1 == cpu->position;
        cpu->softirqs |= bit;
    } else if (cpu->softirqs & bit) {
        cpu->softirqs &= ~bit;
        if (cpu->from_interrupt) /* the next softirq may be caused by this one */
            cpu->left_at = cpu->position;
        resume_thread(builder, cpu);
    }
}

/* The timer of a record; created at the first call. ARGUS_NONE without memory. */
static uint32_t timer_of(struct builder *builder, uint64_t key)
{
    size_t before = builder->timers->all.length;
    uint32_t timer = builder_place(builder, &builder->timers->all, &builder->timers->by_key, key);
    if (timer != ARGUS_NONE && timer == before)
        builder->timers->all.data[timer].owner = builder->timers->all.data[timer].slot = ARGUS_NONE;
    return timer;
}

/* The timer has fired, so it is no longer a timeout of its thread. */
static void forget_own_timer(struct builder *builder, uint32_t timer)
{
    uint32_t owner = timer == ARGUS_NONE ? ARGUS_NONE : builder->timers->all.data[timer].owner;
    if (owner != ARGUS_NONE && thread_at(builder, owner)->own_timer == timer)
        thread_at(builder, owner)->own_timer = ARGUS_NONE;
}

void graph_on_timer_fired(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    if (ARGUS_DEBUGID_FUNC(record->debugid) == ARGUS_FUNC_START) {
        pause_thread(builder, cpu);
        if (cpu->firing_depth == MOST_FIRING) /* records of their ends were lost */
            cpu->firing_depth = 0;
        cpu->firing[cpu->firing_depth++] = (struct firing){
            .key = record->arg[0], .timer = idmap_get(&builder->timers->by_key, record->arg[0])};
    } else if (cpu->firing_depth) {
        forget_own_timer(builder, cpu_timer(cpu));
        cpu->firing_depth--;
        cpu->fired = record->arg[0];
        cpu->fired_at = cpu->position;
        resume_thread(builder, cpu);
    }
}

/* A callback asks by its result that its timer is armed again. Linux then arms the timer just after
 * the end of the firing (kernel/time/hrtimer.c, __run_hrtimer()). */
static bool is_rearmed(const struct cpu_state *cpu, uint64_t key)
{
    if (cpu->firing_depth && cpu->firing[cpu->firing_depth - 1].key == key)
        return true;
    return cpu->fired == key && cpu->fired_at + 1 == cpu->position;
}

/* The owner of a timer is the thread on the cpu. Inside an interrupt it is none, except that a
 * timer that its own callback arms again (a periodic one, the scheduler's tick) keeps its first
 * owner. */
void graph_on_timer_armed(struct builder *builder, struct cpu_state *cpu,
                          const struct argus_record *record)
{
    uint32_t index = timer_of(builder, record->arg[0]);
    if (index == ARGUS_NONE)
        return;
    struct timer_state *timer = &builder->timers->all.data[index];
    timer->expiry_ns = record->arg[2];
    if (is_rearmed(cpu, record->arg[0]))
        return;
    if (cpu_interrupted(cpu)) {
        timer->owner = timer->slot = ARGUS_NONE;
        return;
    }
    timer->owner = cpu->thread;
    timer->slot = ARGUS_NONE;
    timer->armed_ns = builder->now_ns;
    if (cpu->thread == ARGUS_NONE)
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    timer->slot = state->slot;
    /* The first one is the wait's own: the scheduler arms others later, when the thread leaves the
     * cpu. */
    if (state->own_timer == ARGUS_NONE)
        state->own_timer = index;
}

/* Linux also reports a timer as cancelled just before it fires, in the interrupt; this is ignored.
 * A timer that really was cancelled does not fire before it is armed again, so its owner need not
 * be forgotten. */
void graph_on_timer_cancelled(struct builder *builder, struct cpu_state *cpu,
                              const struct argus_record *record)
{
    if (cpu->thread == ARGUS_NONE)
        return;
    struct thread_state *state = thread_at(builder, cpu->thread);
    uint32_t timer = idmap_get(&builder->timers->by_key, record->arg[0]);
    if (timer == ARGUS_NONE)
        return;
    if (state->own_timer == timer)
        state->own_timer = ARGUS_NONE;
    if (!cpu_interrupted(cpu))
        builder_count(builder, RULE_CULL_TIMER_CANCELLED);
}
