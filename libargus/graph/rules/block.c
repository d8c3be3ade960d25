/* Block I/O: from who issued a request to whom its completion wakes.
 *
 * A device completes a request in an interrupt, and what waits for it is woken just behind the record of that. Where a
 * kernel thread completes it (a loop device, device mapper), that thread's wake-up says more, and is an edge already.
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
