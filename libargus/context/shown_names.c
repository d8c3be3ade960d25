/* A tree contains functions of all files that a process executed, and an answer prints only a few
 * of them. Debug files are large and servers slow. So contexts are inferred and ranked with the
 * names known on this machine. Only functions that are printed are looked up on servers, and
 * counted as frames with or without a symbol. A function that gets its name so late stays separate
 * from other unnamed functions, because it has another start address.
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
