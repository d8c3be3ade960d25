#include "context/route.h"

static void rank_functions(const double *costs, struct route *route)
{
    for (uint32_t i = 0; i < route->count; i++) {
        double cost = costs[route->nodes[i]];
        for (uint32_t k = 0; k < route->count; k++) {
            double other = costs[route->nodes[k]];
            route->ranks[i] += other > cost || (other == cost && k > i);
        }
    }
}

void route_fill(const struct argus_contexts_report *report, uint32_t node, struct route *ret)
{
    const struct argus_context_node *nodes;
    argus_contexts_nodes(report->contexts, &nodes);
    *ret = (struct route){.count = 0};
    uint32_t at = node, depth = nodes[node].depth;
    for (; depth - (INFERENCE_FIRST_DEPTH - 1) > ROUTE_MOST; depth--)
        at = nodes[at].parent;
    ret->count = depth - (INFERENCE_FIRST_DEPTH - 1);
    for (uint32_t i = ret->count; i-- > 0; at = nodes[at].parent)
        ret->nodes[i] = at;
    ret->program = at;
    rank_functions(report->ranking->costs, ret);
}
