#include "hand_graph.h"

#include <stdlib.h>
#include <string.h>

#include "argus/boost.h"

#define MAX_THREADS  64
#define MAX_VERTICES 4096
#define MAX_EDGES    8192

struct argus_graph {
    struct argus_process processes[MAX_THREADS];
    struct argus_thread threads[MAX_THREADS];
    struct argus_vertex vertices[MAX_VERTICES];
    struct argus_edge edges[MAX_EDGES];
    uint32_t out[MAX_EDGES];
    uint32_t in_first[MAX_VERTICES + 1], out_first[MAX_VERTICES + 1];
    size_t threads_used, vertices_used, edges_used;
};

struct argus_graph *hand_graph_create(void)
{
    return calloc(1, sizeof(struct argus_graph));
}

void argus_graph_destroy(struct argus_graph *graph)
{
    free(graph);
}

uint32_t hand_thread(struct argus_graph *graph, const char *name)
{
    uint32_t index = (uint32_t)graph->threads_used++;
    graph->processes[index] = (struct argus_process){.pid = 100 + index,
                                                     .end_ns = UINT64_MAX,
                                                     .name = name,
                                                     .main_thread = index,
                                                     .forked_from = ARGUS_NONE};
    graph->threads[index] = (struct argus_thread){.tid = 100 + index,
                                                  .end_ns = UINT64_MAX,
                                                  .name = name,
                                                  .process = index,
                                                  .first_vertex = (uint32_t)graph->vertices_used};
    return index;
}

uint32_t hand_thread_beside(struct argus_graph *graph, uint32_t first, const char *name)
{
    uint32_t index = hand_thread(graph, name);
    graph->threads[index].process = graph->threads[first].process;
    return index;
}

uint32_t hand_vertex(struct argus_graph *graph, uint64_t start_ns, uint64_t end_ns,
                     enum argus_wait_kind kind)
{
    uint32_t thread = (uint32_t)graph->threads_used - 1, index = (uint32_t)graph->vertices_used++;
    graph->threads[thread].vertex_count++;
    graph->vertices[index] = (struct argus_vertex){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .run_ns = end_ns - start_ns,
        .thread = thread,
        .repeat = 1,
        .wait = {.kind = (uint8_t)kind,
                 .syscall = (uint16_t)kind,
                 .user_stack = ARGUS_NONE,
                 .kernel_stack = ARGUS_NONE,
                 .timeout_ns = UINT64_MAX},
    };
    return index;
}

struct argus_vertex *hand_vertex_get(struct argus_graph *graph, uint32_t vertex)
{
    return &graph->vertices[vertex];
}

void hand_edge(struct argus_graph *graph, enum argus_edge_kind kind, uint32_t from, uint32_t to,
               uint64_t from_ns)
{
    graph->edges[graph->edges_used++] = (struct argus_edge){.from_ns = from_ns,
                                                            .to_ns = graph->vertices[to].start_ns,
                                                            .from = from,
                                                            .to = to,
                                                            .kind = (uint8_t)kind,
                                                            .strong = true,
                                                            .stack = ARGUS_NONE};
}

static int compare_edges(const void *a, const void *b)
{
    const struct argus_edge *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void index_edges(struct argus_graph *graph)
{
    size_t used = 0;
    for (uint32_t v = 0; v < graph->vertices_used; v++) {
        graph->out_first[v] = (uint32_t)used;
        for (uint32_t e = 0; e < graph->edges_used; e++) {
            if (graph->edges[e].from == v)
                graph->out[used++] = e;
            graph->in_first[graph->edges[e].to + 1]++;
        }
    }
    graph->out_first[graph->vertices_used] = (uint32_t)used;
    memset(graph->in_first, 0, sizeof(graph->in_first));
    for (uint32_t e = 0; e < graph->edges_used; e++)
        graph->in_first[graph->edges[e].to + 1]++;
    for (uint32_t v = 0; v < graph->vertices_used; v++)
        graph->in_first[v + 1] += graph->in_first[v];
}

void hand_graph_finish(struct argus_graph *graph, uint64_t end_ns)
{
    qsort(graph->edges, graph->edges_used, sizeof(*graph->edges), compare_edges);
    index_edges(graph);
    for (size_t t = 0; t < graph->threads_used; t++) {
        const struct argus_thread *thread = &graph->threads[t];
        for (uint32_t i = 0; i < thread->vertex_count; i++) {
            struct argus_vertex *v = &graph->vertices[thread->first_vertex + i];
            bool last = i + 1 == thread->vertex_count;
            v->wait.end_ns = last ? end_ns : v[1].start_ns;
            if (last && v->wait.kind != ARGUS_WAIT_NONE)
                v->wait.outcome = ARGUS_OUTCOME_NEVER;
        }
    }
}

size_t argus_graph_processes(const struct argus_graph *graph, const struct argus_process **ret)
{
    *ret = graph->processes;
    return graph->threads_used;
}

size_t argus_graph_threads(const struct argus_graph *graph, const struct argus_thread **ret)
{
    *ret = graph->threads;
    return graph->threads_used;
}

size_t argus_graph_vertices(const struct argus_graph *graph, const struct argus_vertex **ret)
{
    *ret = graph->vertices;
    return graph->vertices_used;
}

size_t argus_graph_edges(const struct argus_graph *graph, const struct argus_edge **ret)
{
    *ret = graph->edges;
    return graph->edges_used;
}

size_t argus_graph_rules(const struct argus_graph *graph, const struct argus_rule **ret)
{
    (void)graph;
    *ret = NULL;
    return 0;
}

size_t argus_graph_in_edges(const struct argus_graph *graph, uint32_t vertex,
                            const struct argus_edge **ret)
{
    *ret = graph->edges + graph->in_first[vertex];
    return graph->in_first[vertex + 1] - graph->in_first[vertex];
}

size_t argus_graph_out_edges(const struct argus_graph *graph, uint32_t vertex, const uint32_t **ret)
{
    *ret = graph->out + graph->out_first[vertex];
    return graph->out_first[vertex + 1] - graph->out_first[vertex];
}

uint32_t argus_graph_cause(const struct argus_graph *graph, uint32_t vertex)
{
    for (uint32_t e = graph->in_first[vertex]; e < graph->in_first[vertex + 1]; e++)
        if (graph->edges[e].kind != ARGUS_EDGE_SEQUENCE)
            return e;
    return ARGUS_NONE;
}

uint32_t argus_graph_previous(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_thread *thread = &graph->threads[graph->vertices[vertex].thread];
    return vertex > thread->first_vertex ? vertex - 1 : ARGUS_NONE;
}

/* Hand-made graphs have no stacks, so no boosts. */
struct argus_error *argus_boosts_create(const struct argus_graph *graph, struct argus_boosts **ret)
{
    (void)graph;
    *ret = NULL;
    return NULL;
}

void argus_boosts_destroy(struct argus_boosts *boosts)
{
    (void)boosts;
}

struct argus_boost argus_boost_of(struct argus_boosts *boosts, uint32_t edge)
{
    (void)boosts, (void)edge;
    return (struct argus_boost){.boost = 0};
}

uint32_t argus_graph_whole(const struct argus_graph *graph, uint32_t vertex)
{
    while (graph->vertices[vertex].flags & ARGUS_VERTEX_PIECE)
        vertex--;
    return vertex;
}

const char *argus_edge_kind_name(enum argus_edge_kind kind)
{
    return kind == ARGUS_EDGE_TIMER ? "timer" : "wake-up";
}

const char *argus_edge_name(const struct argus_edge *edge)
{
    return argus_edge_kind_name((enum argus_edge_kind)edge->kind);
}

bool argus_graph_ui_event(const struct argus_graph *graph, uint32_t vertex,
                          struct argus_callback *ret)
{
    (void)graph, (void)vertex, (void)ret;
    return false;
}
