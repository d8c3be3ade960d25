/* Wake-ups that no thread in the trace caused: by devices, by timers that no thread armed, by the
 * scheduler itself. They are counted and charged to their source, not to the interrupted thread. */
#include <string.h>

#include "graph/rules/wakeup.h"

static bool in_interrupt(const struct wakeup *wakeup)
{
    return wakeup->context != ARGUS_CONTEXT_TASK;
}

bool match_timer_unowned(const struct wakeup *wakeup)
{
    const struct cpu_state *cpu = wakeup->cpu;
    bool in_timer_softirq = wakeup->context == ARGUS_CONTEXT_SOFTIRQ &&
                            (cpu->softirqs & (SOFTIRQ_TIMER | SOFTIRQ_HRTIMER));
    return in_interrupt(wakeup) && (cpu->firing_depth || in_timer_softirq);
}

/* A timer whose arming is not in the trace may have been armed before the trace began, or in an
 * interrupt. It counts as the wait's own timeout until the result of the wait says otherwise. */
void act_timer_unowned(const struct wakeup *wakeup, struct cause *ret)
{
    (void)wakeup;
    ret->by_timer = ret->self_timed = true;
}

bool match_scheduler(const struct wakeup *wakeup)
{
    const struct cpu_state *cpu = wakeup->cpu;
    bool maintenance =
        !cpu->hard_depth && (cpu->softirqs & (SOFTIRQ_SCHED | SOFTIRQ_RCU)) && in_interrupt(wakeup);
    return maintenance || (!in_interrupt(wakeup) && wakeup->waker == ARGUS_NONE);
}

void act_scheduler(const struct wakeup *wakeup, struct cause *ret)
{
    (void)wakeup, (void)ret;
}

/* Kernel threads that do housekeeping, by the beginnings of their names. To add one: a row. Kernel
 * threads that work for a requester (kworker, loop, jbd2, kswapd …) do not belong here. */
static const char *const housekeepers[] = {
    "migration/", "ksoftirqd/", "rcu_",   "rcuc/",        "rcuog/",
    "rcuop/",     "rcuos/",     "cpuhp/", "idle_inject/",
};

bool match_housekeeping(const struct wakeup *wakeup)
{
    if (wakeup->wake_flags & ARGUS_WAKE_MAINTENANCE)
        return true;
    for (size_t i = 0; i < sizeof(housekeepers) / sizeof(*housekeepers); i++)
        if (machine_is_kernel_thread(&wakeup->builder->graph->machine, wakeup->wakee,
                                     housekeepers[i]))
            return true;
    return false;
}

bool match_device(const struct wakeup *wakeup)
{
    return in_interrupt(wakeup);
}

void act_device(const struct wakeup *wakeup, struct cause *ret)
{
    ret->by_device = true;
    ret->by_clock = wakeup->cpu->by_clock;
}
