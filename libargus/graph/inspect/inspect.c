/* The inspection of a graph: runs its parts in turn, and lists the missing records. */
#include "argus/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "graph/inspect/inspector.h"

void examples_offer(struct example_list *list, uint32_t vertex, uint64_t weight)
{
    uint32_t at = list->count;
    while (at > 0 && list->weights[at - 1] < weight)
        at--;
    if (at == ARGUS_INSPECT_EXAMPLES)
        return;
    uint32_t kept = list->count < ARGUS_INSPECT_EXAMPLES ? list->count : ARGUS_INSPECT_EXAMPLES - 1;
    memmove(&list->vertices[at + 1], &list->vertices[at], (kept - at) * sizeof(*list->vertices));
    memmove(&list->weights[at + 1], &list->weights[at], (kept - at) * sizeof(*list->weights));
    list->vertices[at] = vertex;
    list->weights[at] = weight;
    list->count = kept + 1;
}

static int by_count(const void *left, const void *right)
{
    const struct argus_loss *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->to_ticks < b->to_ticks ? -1 : a->to_ticks > b->to_ticks;
}

static int by_ticks(const void *left, const void *right)
{
    const struct argus_loss *a = left, *b = right;
    if (a->to_ticks != b->to_ticks)
        return a->to_ticks < b->to_ticks ? -1 : 1;
    return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static struct argus_error *inspect_losses(struct inspector *inspector)
{
    struct argus_inspection *result = inspector->result;
    const struct argus_loss *losses;
    size_t count = argus_trace_losses(argus_graph_trace(inspector->graph), &losses);
    result->losses = malloc((count + 1) * sizeof(*losses));
    if (!result->losses)
        return argus_error_memory();
    result->loss_total = count;
    result->loss_count = count < inspector->options->limit ? count : inspector->options->limit;
    if (count)
        memcpy(result->losses, losses, count * sizeof(*losses));
    qsort(result->losses, count, sizeof(*losses), by_count);
    qsort(result->losses, result->loss_count, sizeof(*losses), by_ticks);
    return NULL;
}

struct argus_error *argus_inspect(const struct argus_graph *graph,
                                  const struct argus_inspect_options *options,
                                  struct argus_inspection *ret)
{
    struct inspector inspector = {.graph = graph, .options = options, .result = ret};
    *ret = (struct argus_inspection){0};
    inspector.process_count = argus_graph_processes(graph, &inspector.processes);
    inspector.thread_count = argus_graph_threads(graph, &inspector.threads);
    inspector.vertex_count = argus_graph_vertices(graph, &inspector.vertices);
    argus_graph_edges(graph, &inspector.edges);
    struct argus_error *error = argus_applications(graph, &inspector.applications);
    if (!error)
        error = inspect_batching(&inspector);
    if (!error)
        error = inspect_causes(&inspector);
    if (!error)
        error = inspect_losses(&inspector);
    free(inspector.applications);
    if (error)
        argus_inspection_deinit(ret);
    return error;
}

void argus_inspection_deinit(struct argus_inspection *inspection)
{
    free(inspection->batching);
    free(inspection->unexplained);
    free(inspection->missing);
    free(inspection->losses);
    *inspection = (struct argus_inspection){0};
}
