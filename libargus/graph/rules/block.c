/* Block I/O: from the issuer of a request to the thread that its completion wakes.
 *
 * A device completes a request in an interrupt, and the waiters for the request are woken just
 * after the record of the completion. If a kernel thread completes it (a loop device, device
 * mapper), the wake-up by that thread says more, and is an edge already.
 */
#include "graph/rules/wakeup.h"

bool match_block(const struct wakeup *wakeup)
{
    const struct cpu_state *cpu = wakeup->cpu;
    return cpu->completing && cpu->completion.issuer.slot != ARGUS_NONE &&
           wakeup->context != ARGUS_CONTEXT_TASK;
}

void act_block(const struct wakeup *wakeup, struct cause *ret)
{
    *ret = actor_cause(&wakeup->cpu->completion.issuer, ARGUS_EDGE_BLOCK, RULE_BLOCK);
    ret->by_device = true;
}
