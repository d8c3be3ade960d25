/* Work that runs in a softirq: its wake-ups are attributed to the thread that queued it. */
#include "graph/rules/wakeup.h"

bool match_bh_work(const struct wakeup *wakeup)
{
    return wakeup->cpu->bh_queuer.slot != ARGUS_NONE && wakeup->context == ARGUS_CONTEXT_SOFTIRQ;
}

void act_bh_work(const struct wakeup *wakeup, struct cause *ret)
{
    *ret = actor_cause(&wakeup->cpu->bh_queuer, ARGUS_EDGE_WORK, RULE_WORK_SOFTIRQ);
}
