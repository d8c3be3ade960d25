/* Work that is done in a softirq: what it wakes is the doing of who queued it. */
#include "graph/rules/wakeup.h"

static const struct actor *queuer(const struct wakeup *wakeup)
{
    uint32_t work = wakeup->cpu->bh_work;
    return work == ARGUS_NONE ? NULL : &wakeup->builder->works.data[work].queuer;
}

bool match_bh_work(const struct wakeup *wakeup)
{
    return queuer(wakeup) && queuer(wakeup)->slot != ARGUS_NONE &&
           wakeup->context == ARGUS_CONTEXT_SOFTIRQ;
}

void act_bh_work(const struct wakeup *wakeup, struct cause *ret)
{
    *ret = actor_cause(queuer(wakeup), ARGUS_EDGE_WORK, RULE_WORK_SOFTIRQ);
}
