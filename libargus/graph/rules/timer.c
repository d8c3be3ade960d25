/* Timers: from the thread that armed the timer to the thread that it wakes when it fires.
 *
 * A timer fires in an interrupt on any cpu; the wake-ups until the end of the firing are the
 * timer's. A timer that its own callback arms again (a periodic one) keeps its owner; see
 * on_interrupt.c.
 */
#include "graph/build/on_interrupt.h"
#include "graph/rules/wakeup.h"

static const struct timer_state *fired(const struct wakeup *wakeup)
{
    uint32_t timer = cpu_timer(wakeup->cpu);
    if (timer == ARGUS_NONE || wakeup->context == ARGUS_CONTEXT_TASK)
        return NULL;
    return &wakeup->builder->timers->all.data[timer];
}

bool match_timer(const struct wakeup *wakeup)
{
    const struct timer_state *timer = fired(wakeup);
    return timer && timer->owner != ARGUS_NONE && timer->slot != ARGUS_NONE;
}

void act_timer(const struct wakeup *wakeup, struct cause *ret)
{
    const struct timer_state *timer = fired(wakeup);
    const struct thread_state *wakee = thread_at(wakeup->builder, wakeup->wakee);
    *ret = (struct cause){
        .known = true,
        .by_timer = true,
        .self_timed = timer->owner == wakeup->wakee && wakee->own_timer == cpu_timer(wakeup->cpu),
        .edge = {.from_ns = timer->armed_ns,
                 .from = timer->slot,
                 .kind = ARGUS_EDGE_TIMER,
                 .strong = true,
                 .stack = ARGUS_NONE},
    };
}
