/* Wake-ups that a thread is responsible for.
 *
 * In task context the waker's own kernel code calls the wake-up. A softirq runs on top of whichever thread was there and
 * says nothing about it, with one exception: over the loopback device a send() raises the receive softirq, which the kernel
 * runs before the call returns. The receiver's wake-up is then the sender's doing.
 */
#include "graph/rules/wakeup.h"

bool match_softirq_local(const struct wakeup *wakeup)
{
    return wakeup->context == ARGUS_CONTEXT_SOFTIRQ && wakeup->waker != ARGUS_NONE &&
           (wakeup->cpu->softirqs & SOFTIRQ_NET_RX) && !wakeup->cpu->hard_depth &&
           (wakeup->call->flags & SYSCALL_SEND);
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
    struct builder *builder = wakeup->builder;
    const struct thread_state *wakee = thread_at(builder, wakeup->wakee);
    bool waits = wakee->activity == THREAD_WAITING && wakee->slot != ARGUS_NONE;
    return in_task(wakeup) && wakeup->call->wait == ARGUS_WAIT_FUTEX && waits &&
           slot_at(builder, wakee->slot)->wait.kind == ARGUS_WAIT_FUTEX;
}

bool match_exit(const struct wakeup *wakeup)
{
    return in_task(wakeup) && (thread_at(wakeup->builder, wakeup->waker)->exiting ||
                               (wakeup->call->flags & SYSCALL_EXIT));
}

bool match_task(const struct wakeup *wakeup)
{
    return in_task(wakeup);
}
