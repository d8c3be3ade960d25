/* Added by tests/additions: a hang indicator that points at the middle of the trace. */
#include "diagnose/hangs/finder.h"

bool indicator_addition(struct finder *finder)
{
    uint64_t start_ns = argus_graph_start_ns(finder->view->graph);
    uint64_t end_ns = argus_graph_end_ns(finder->view->graph);
    struct sign sign = {.time_ns = start_ns + (end_ns - start_ns) / 2,
                        .process = ARGUS_NONE,
                        .indicator = ARGUS_INDICATOR_ADDITION};
    return finder_add_sign(finder, &sign);
}
