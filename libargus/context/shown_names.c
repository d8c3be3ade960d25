/* A tree contains functions of all files that a process executed, and an answer prints only a few
 * of them. Debug files are large and servers slow. So contexts are inferred and ranked with the
 * names known on this machine. Only functions that are printed are looked up on servers, and
 * counted as frames with or without a symbol. A function that gets its name so late stays separate
 * from other unnamed functions, because it has another start address.
 */
#include "context/charges.h"
#include "context/function_sums.h"
#include "context/route.h"
#include "context/wakers.h"

static bool is_printed(const struct argus_contexts_report *report, size_t path, bool json)
{
    return path < report->top && (json || report->ranking->paths[path].cost_ns > 0);
}

static void show_paths(struct frames *frames, const struct argus_contexts_report *report, bool json)
{
    const struct argus_context_node *nodes;
    struct route route;
    argus_contexts_nodes(report->contexts, &nodes);
    for (size_t i = 0; i < report->ranking->count && is_printed(report, i, json); i++) {
        route_fill(report, report->ranking->paths[i].node, &route);
        for (uint32_t k = 0; k < route.count; k++)
            frames_show(frames, nodes[route.nodes[k]].function);
    }
}

static struct argus_error *show_functions(struct frames *frames,
                                          const struct argus_contexts_report *report, bool json)
{
    struct function_sums sums;
    struct argus_error *error = function_sums_create(report, &sums);
    if (error)
        return error;
    for (size_t i = 0; i < sums.count && i < report->top; i++)
        if (json || sums.items[i].cost_ns > 0)
            frames_show(frames, sums.items[i].function);
    function_sums_deinit(&sums);
    return NULL;
}

/* A function and the callers that are printed with it. */
static void show_callers(struct frames *frames, const struct argus_contexts *contexts,
                         uint32_t node)
{
    const struct argus_context_node *nodes;
    argus_contexts_nodes(contexts, &nodes);
    node = charged_node(contexts, node);
    for (int i = 0; i < WAKER_CALLERS && nodes[node].depth >= INFERENCE_FIRST_DEPTH; i++) {
        frames_show(frames, nodes[node].function);
        node = nodes[node].parent;
    }
}

static struct argus_error *show_wakers(struct frames *frames,
                                       const struct argus_contexts_report *report)
{
    const struct argus_context_program *programs;
    struct waker_row rows[WAKERS_SHOWN];
    size_t count = argus_contexts_programs(report->contexts, &programs);
    for (size_t i = 0; report->top && i < count; i++) {
        size_t row_count;
        struct argus_error *error =
            wakers_longest(report, programs[i].node, rows, WAKERS_SHOWN, &row_count);
        if (error)
            return error;
        for (size_t k = 0; k < row_count; k++) {
            show_callers(frames, report->contexts, rows[k].node);
            show_callers(frames, report->contexts, rows[k].waker);
        }
    }
    return NULL;
}

struct argus_error *argus_contexts_name_shown(struct argus_contexts *contexts,
                                              const struct argus_contexts_report *report, bool json)
{
    struct frames *frames = &contexts->paths.frames;
    show_paths(frames, report, json);
    struct argus_error *error = show_wakers(frames, report);
    if (!error)
        error = show_functions(frames, report, json);
    if (error)
        return error;
    return frames->no_memory ? argus_error_memory() : NULL;
}
