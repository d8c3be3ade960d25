/* A tree has functions of all files that a process ever ran, and an answer prints a few of them. Debug files are large and servers slow:
 * so contexts are inferred and ranked with the names that are known here, and only what is printed is looked up on servers, and counted
 * as a frame with or without a symbol. A function that gets its name that late stays a function of its own: it began elsewhere
 * than its neighbours without one.
 */
#include "context/route.h"

static bool is_printed(const struct argus_contexts_report *report, size_t path, bool json)
{
    return path < report->top && (json || report->ranking->paths[path].cost_ns > 0);
}

struct argus_error *argus_contexts_name_shown(struct argus_contexts *contexts,
                                              const struct argus_contexts_report *report, bool json)
{
    const struct argus_context_node *nodes;
    struct route route;
    struct frames *frames = &contexts->paths.frames;
    argus_contexts_nodes(contexts, &nodes);
    for (size_t i = 0; i < report->ranking->count && is_printed(report, i, json); i++) {
        route_fill(report, report->ranking->paths[i].node, &route);
        for (uint32_t k = 0; k < route.count; k++)
            frames_show(frames, nodes[route.nodes[k]].function);
    }
    return frames->no_memory ? argus_error_memory() : NULL;
}
