/* Wake-ups that a thread caused.
 *
 * In task context, the waker's own kernel code does the wake-up. A softirq interrupts whichever
 * thread happens to run, which says nothing about that thread, with one exception: over the
 * loopback device, a send() raises the receive softirq, which the kernel runs before the call
 * returns. Then the sender wakes the receiver. The same holds for a thread that exits: the kernel
 * closes its connections, which sends their end. Likewise, a receive that makes room wakes a
 * waiting sender. A device's softirq looks the same, except that it runs at the end of the device's
 * interrupt, whose record comes just before it.
 */
#include "graph/rules/wakeup.h"

/* The kind of the wakee's wait; ARGUS_WAIT_NONE if it does not wait. */
static uint8_t awaited(const struct wakeup *wakeup)
{
    const struct thread_state *wakee = thread_at(wakeup->builder, wakeup->wakee);
    bool waits = wakee->activity == THREAD_WAITING && wakee->slot != ARGUS_NONE;
    return waits ? slot_at(wakeup->builder, wakee->slot)->wait.kind : ARGUS_WAIT_NONE;
}

static bool is_exiting(const struct wakeup *wakeup)
{
    return thread_at(wakeup->builder, wakeup->waker)->exiting ||
           (wakeup->call->flags & SYSCALL_EXIT);
}

bool match_softirq_local(const struct wakeup *wakeup)
{
    const struct cpu_state *cpu = wakeup->cpu;
    bool own = wakeup->context == ARGUS_CONTEXT_SOFTIRQ && wakeup->waker != ARGUS_NONE &&
               (cpu->softirqs & SOFTIRQ_NET_RX) && !cpu->hard_depth && !cpu->from_interrupt;
    bool makes_room = wakeup->call->wait == ARGUS_WAIT_READ &&
                      (awaited(wakeup) == ARGUS_WAIT_WRITE || awaited(wakeup) == ARGUS_WAIT_POLL);
    return own && ((wakeup->call->flags & SYSCALL_SEND) || makes_room || is_exiting(wakeup));
}

static bool in_task(const struct wakeup *wakeup)
{
    return wakeup->context == ARGUS_CONTEXT_TASK && wakeup->waker != ARGUS_NONE;
}

bool match_signal(const struct wakeup *wakeup)
{
    return in_task(wakeup) && (wakeup->call->flags & SYSCALL_KILL);
}

bool match_unlock(const struct wakeup *wakeup)
{
    return in_task(wakeup) && wakeup->call->wait == ARGUS_WAIT_FUTEX &&
           awaited(wakeup) == ARGUS_WAIT_FUTEX;
}

bool match_exit(const struct wakeup *wakeup)
{
    return in_task(wakeup) && is_exiting(wakeup);
}

/* On Darwin, an idle worker waits for work in a system call of its own. */
bool match_parked(const struct wakeup *wakeup)
{
    const struct builder *builder = wakeup->builder;
    const struct thread_state *wakee = &builder->threads.data[wakeup->wakee];
    return in_task(wakeup) && wakee->activity == THREAD_WAITING &&
           (syscall_row(builder->os, builder->arch, wakee->syscall)->flags & SYSCALL_PARKS);
}

bool match_cleared(const struct wakeup *wakeup)
{
    return in_task(wakeup) && (wakeup->wake_flags & ARGUS_WAKE_CLEARED);
}

bool match_task(const struct wakeup *wakeup)
{
    return in_task(wakeup);
}
