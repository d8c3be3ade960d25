/* The final edges: causes that hold, sequence edges, and the adjacency in both directions. */
#include <stdlib.h>
#include <string.h>

#include "base/compat.h"
#include "graph/build/finish.h"
#include "graph/rules/message_edge.h"
#include "graph/rules/sequence.h"
#include "graph/rules/wakeup.h"
#include "graph/schema/rule_stacks.h"

/* For each rule, whether its edges lead to a moment inside of a vertex. Those of users' rules never
 * do. */
static const bool leads_inside[RULE_COUNT] = {
#define RULE(symbol, name, stage, description)
#define EDGE_INSIDE(symbol, name, stage, description) [RULE_##symbol] = true,
#include "graph/rules.def"
#undef RULE
};

/* Finds the target of an edge. If the edge begins a vertex that a rule has taken back, the edge is
 * dropped. If it leads into the middle of a vertex (vertex_add_edge()), it leads to the vertex that
 * now covers that moment. */
static bool resolve_target(const struct argus_graph *graph, const uint32_t *new_id,
                           struct argus_edge *edge)
{
    const struct argus_vertex *vertices = graph->vertices.data;
    uint32_t to = new_id[edge->to];
    bool inside = edge->rule < RULE_COUNT && leads_inside[edge->rule];
    if (inside)
        to = finish_vertex_for(graph, to, edge->to_ns);
    if (to >= graph->vertices.length ||
        (inside ? edge->to_ns > vertices[to].end_ns : edge->to_ns != vertices[to].start_ns))
        return false;
    edge->to = to;
    return true;
}

/* Gives an edge its final ids. False: the edge is dropped, because a rule took one of its ends
 * back. */
static bool resolve(const struct argus_graph *graph, const uint32_t *new_id,
                    struct argus_edge *edge)
{
    uint32_t from = new_id[edge->from];
    const struct argus_vertex *vertices = graph->vertices.data;
    if (!resolve_target(graph, new_id, edge))
        return false;
    const struct argus_vertex *source = &vertices[from];
    bool inside = from < graph->vertices.length && source->start_ns <= edge->from_ns &&
                  edge->from_ns <= source->end_ns;
    if (!inside) {
        from = finish_vertex_for(graph, from, edge->from_ns);
        if (from == ARGUS_NONE)
            return false;
        source = &vertices[from];
        if (edge->from_ns < source->start_ns)
            edge->from_ns = source->start_ns;
        /* it acted within what rules/rewait.c merged into one wait */
        if (edge->from_ns > source->end_ns)
            edge->from_ns = source->end_ns;
    }
    edge->from = from;
    return from != edge->to && edge->from_ns <= edge->to_ns;
}

/* Resolves all causes in place, and drops those that have lost an end. */
static void resolve_all(struct argus_graph *graph, const uint32_t *new_id)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->edges.length; i++) {
        struct argus_edge edge = graph->edges.data[i];
        if (!resolve(graph, new_id, &edge))
            continue;
        graph->edges.data[kept++] = edge;
    }
    graph->edges.length = kept;
}

/* Counts the edges of each target in first[to + 1]. */
static void count_causes(const struct argus_graph *graph, uint32_t *first)
{
    for (size_t i = 0; i < graph->edges.length; i++)
        first[graph->edges.data[i].to + 1]++;
}

static bool has_sequence(const struct argus_graph *graph, size_t vertex)
{
    const struct argus_vertex *vertices = graph->vertices.data;
    return vertex > 0 && vertices[vertex].thread == vertices[vertex - 1].thread;
}

static int by_effect(const void *left, const void *right)
{
    const struct argus_edge *a = left, *b = right;
    if (a->to_ns != b->to_ns)
        return a->to_ns < b->to_ns ? -1 : 1;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

/* Places causes and sequence edges by target. `first` holds the number of causes of each target. */
static bool place_in(struct builder *builder, uint32_t *first)
{
    struct argus_graph *graph = builder->graph;
    size_t vertices = graph->vertices.length;
    for (size_t v = 0; v < vertices; v++)
        first[v + 1] += first[v] + has_sequence(graph, v);
    size_t total = first[vertices];
    struct argus_edge *placed = calloc(total + 1, sizeof(*placed));
    uint32_t *next = calloc(vertices + 1, sizeof(*next));
    if (!placed || !next) {
        free(placed);
        free(next);
        return false;
    }
    memcpy(next, first, (vertices + 1) * sizeof(*next));
    for (size_t i = 0; i < graph->edges.length; i++)
        placed[next[graph->edges.data[i].to]++] = graph->edges.data[i];
    size_t kept = 0;
    for (size_t v = 0; v < vertices; v++) {
        if (has_sequence(graph, v))
            placed[next[v]++] = rule_sequence(graph, (uint32_t)v);
        struct argus_edge *edges = placed + first[v];
        size_t count = rule_message_merge(builder, edges, first[v + 1] - first[v]);
        if (count > 1)
            count = rule_softirq_mend(builder, (uint32_t)v, edges, count);
        if (count > 1)
            qsort(edges, count, sizeof(*edges), by_effect);
        memmove(placed + kept, edges, count * sizeof(*edges));
        first[v] = (uint32_t)kept;
        kept += count;
    }
    first[vertices] = (uint32_t)kept;
    free(next);
    free(graph->edges.data);
    graph->edges.data = placed;
    graph->edges.length = kept;
    graph->edges.capacity = total + 1;
    return true;
}

static int by_cause(const void *left, const void *right, void *context)
{
    const struct argus_edge *edges = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (edges[a].from_ns != edges[b].from_ns)
        return edges[a].from_ns < edges[b].from_ns ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool place_out(struct argus_graph *graph)
{
    size_t vertices = graph->vertices.length, edges = graph->edges.length;
    uint32_t *next = calloc(vertices + 1, sizeof(*next));
    graph->out_first = calloc(vertices + 1, sizeof(*graph->out_first));
    graph->out_edges = malloc((edges + 1) * sizeof(*graph->out_edges));
    if (!next || !graph->out_first || !graph->out_edges) {
        free(next);
        return false;
    }
    uint32_t *first = graph->out_first;
    for (size_t i = 0; i < edges; i++)
        first[graph->edges.data[i].from + 1]++;
    for (size_t v = 0; v < vertices; v++)
        first[v + 1] += first[v];
    memcpy(next, first, (vertices + 1) * sizeof(*next));
    for (size_t i = 0; i < edges; i++)
        graph->out_edges[next[graph->edges.data[i].from]++] = (uint32_t)i;
    for (size_t v = 0; v < vertices; v++)
        if (first[v + 1] - first[v] > 1)
            qsort_r(graph->out_edges + first[v], first[v + 1] - first[v], sizeof(*next), by_cause,
                    graph->edges.data);
    free(next);
    return true;
}

static void count_rules(struct argus_graph *graph)
{
    for (size_t i = 0; i < graph->edges.length; i++)
        graph->rules[graph->edges.data[i].rule].count++;
}

bool finish_edges(struct builder *builder, const uint32_t *new_id)
{
    struct argus_graph *graph = builder->graph;
    graph->in_first = calloc(graph->vertices.length + 1, sizeof(*graph->in_first));
    if (!graph->in_first)
        return false;
    resolve_all(graph, new_id);
    if (!rule_apply_stacks(builder, new_id))
        return false;
    count_causes(graph, graph->in_first);
    if (graph->edges.length + graph->vertices.length >= ARGUS_NONE) {
        builder->full = true;
        return true;
    }
    if (!place_in(builder, graph->in_first) || !builder_report_progress(builder, 0.7) ||
        !place_out(graph))
        return false;
    rule_wake_later(graph);
    if (!rule_wake_stacks(builder))
        return false;
    count_rules(graph);
    return true;
}
