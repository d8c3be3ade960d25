#include "page/lanes.h"

#include <stdlib.h>

#define MARGIN      16 /* a sixteenth of the hang at either side */
#define LEAST_SHARE 100

int lanes_of_thread(const struct lanes *lanes, uint32_t thread)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->threads[i] == thread)
            return (int)i;
    return -1;
}

int lanes_of_vertex(const struct lanes *lanes, const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    return vertex < count ? lanes_of_thread(lanes, vertices[vertex].thread) : -1;
}

static void add(struct lanes *lanes, uint32_t thread)
{
    if (lanes_of_thread(lanes, thread) >= 0)
        return;
    if (lanes->count < LANES_MOST)
        lanes->threads[lanes->count++] = thread;
    else
        lanes->left_out++;
}

/* Adds the threads that have at least a hundredth of the time. */
static struct argus_error *add_shares(struct lanes *lanes, const struct argus_graph *graph,
                                      const struct argus_diagnosis *diagnosis)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    const struct argus_account *account = &diagnosis->accounting;
    size_t count = argus_graph_threads(graph, &threads);
    uint64_t *parts = calloc(count + 1, sizeof(*parts));
    uint64_t least = (diagnosis->hang.end_ns - diagnosis->hang.start_ns) / LEAST_SHARE;
    if (!parts)
        return argus_error_memory();
    argus_graph_vertices(graph, &vertices);
    for (size_t i = 0; i < account->count; i++)
        if (account->stretches[i].vertex != ARGUS_NONE)
            parts[vertices[account->stretches[i].vertex].thread] +=
                account->stretches[i].end_ns - account->stretches[i].start_ns;
    for (size_t i = 0; i < account->count; i++) {
        uint32_t vertex = account->stretches[i].vertex;
        if (vertex == ARGUS_NONE || parts[vertices[vertex].thread] <= least)
            continue;
        parts[vertices[vertex].thread] = 0; /* each thread once */
        add(lanes, vertices[vertex].thread);
    }
    free(parts);
    return NULL;
}

/* Extends the period backward, by at most half the hang's length, to show what set off the hang. */
static uint64_t first_cause(const struct argus_graph *graph, const struct argus_hang *hang,
                            const struct argus_diagnosis *diagnosis)
{
    const struct argus_edge *edges;
    uint64_t first = hang->start_ns, room = (hang->end_ns - hang->start_ns) / 2;
    argus_graph_edges(graph, &edges);
    for (size_t i = 0; diagnosis && i < diagnosis->path_count; i++) {
        uint32_t edge = diagnosis->path[i].edge;
        uint64_t from_ns = edge == ARGUS_NONE ? first : edges[edge].from_ns;
        if (from_ns < first && from_ns + room >= hang->start_ns)
            first = from_ns;
    }
    return first;
}

static void choose_scale(struct lanes *lanes, const struct argus_graph *graph,
                         const struct argus_hang *hang, uint64_t begin_ns)
{
    uint64_t margin = (hang->end_ns - hang->start_ns) / MARGIN + 1;
    uint64_t first = argus_graph_start_ns(graph), last = argus_graph_end_ns(graph);
    lanes->scale.from_ns = begin_ns > first + margin ? begin_ns - margin : first;
    lanes->scale.to_ns = hang->end_ns + margin < last ? hang->end_ns + margin : last;
    if (lanes->scale.to_ns < hang->end_ns)
        lanes->scale.to_ns = hang->end_ns;
}

struct argus_error *lanes_choose(const struct argus_graph *graph, const struct argus_hang *hang,
                                 const struct argus_diagnosis *diagnosis, struct lanes *ret)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    *ret = (struct lanes){.count = 0};
    choose_scale(ret, graph, hang, first_cause(graph, hang, diagnosis));
    add(ret, hang->thread);
    if (!diagnosis)
        return NULL;
    for (size_t i = 0; i < diagnosis->path_count; i++)
        add(ret, vertices[diagnosis->path[i].vertex].thread);
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        add(ret, vertices[diagnosis->culprits[i].vertex].thread);
    return add_shares(ret, graph, diagnosis);
}
