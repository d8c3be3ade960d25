/* Children that are waited for, and tracers. */
#include "live/live_wait.h"

/* Of any child, each one ends the wait. */
void live_by_child(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                   struct live_candidates *ret)
{
    uint32_t pid = live_pid_of(live, thread);
    ret->link = ARGUS_LIVE_LINK_CHILD;
    for (uint32_t i = 0; i < live->processes.length; i++) {
        bool is_child = wait->object ? live->processes.data[i].pid == wait->object
                                     : live_parent_of(live, i) == pid;
        if (is_child && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
    }
    if (ret->count > 1)
        ret->end = ARGUS_LIVE_END_SEVERAL;
}

void live_by_tracer(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    uint32_t tracer =
        live_process(live, live->processes.data[live->threads.data[thread].process].tracer_pid);
    (void)wait;
    ret->link = ARGUS_LIVE_LINK_TRACES;
    ret->end = ARGUS_LIVE_END_STOPPED;
    if (tracer != ARGUS_LIVE_NONE)
        live_candidate(ret, tracer, ARGUS_LIVE_NONE);
}
