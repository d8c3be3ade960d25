/* Block I/O: from who issued a request to whom its completion wakes.
 *
 * A device completes a request in an interrupt, and what waits for it is woken just behind the record of that. Where a
 * kernel thread completes it (a loop device, device mapper), that thread's wake-up says more, and is an edge already.
 */
#include "graph/rules/wakeup.h"

static const struct request_state *completed(const struct wakeup *wakeup)
{
    const struct cpu_state *cpu = wakeup->cpu;
    return cpu->completing == ARGUS_NONE ? NULL
                                         : &wakeup->builder->requests.data[cpu->completed_by];
}

bool match_block(const struct wakeup *wakeup)
{
    const struct request_state *request = completed(wakeup);
    return request && request->issuer.slot != ARGUS_NONE && wakeup->context != ARGUS_CONTEXT_TASK;
}

void act_block(const struct wakeup *wakeup, struct cause *ret)
{
    *ret = actor_cause(&completed(wakeup)->issuer, ARGUS_EDGE_BLOCK, RULE_BLOCK);
    ret->by_device = true;
}
