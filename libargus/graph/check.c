#include "graph/graph_data.h"

#include <inttypes.h>
#include <stdio.h>

struct check {
    const struct argus_graph *graph;
    char *buffer;
    size_t bytes;
};

#define FAIL(check, ...) (snprintf((check)->buffer, (check)->bytes, __VA_ARGS__), false)

static bool check_vertex(struct check *check, uint32_t id)
{
    const struct argus_graph *graph = check->graph;
    const struct argus_vertex *vertex = &graph->vertices.data[id];
    const struct argus_vertex *next = vertex + 1;
    bool last = id + 1 == graph->vertices.length || next->thread != vertex->thread;
    uint64_t until_ns = vertex->wait.kind ? vertex->wait.end_ns : vertex->end_ns;
    if (vertex->thread >= graph->machine.threads.length || !vertex->repeat)
        return FAIL(check, "v%" PRIu32 " has no thread or is dead", id);
    if (vertex->start_ns > vertex->end_ns || vertex->end_ns > until_ns || until_ns > graph->end_ns)
        return FAIL(check, "v%" PRIu32 ": times out of order", id);
    if (!last && next->start_ns < until_ns)
        return FAIL(check, "v%" PRIu32 " begins before the wait before it ends", id + 1);
    if (vertex->run_ns + vertex->runnable_ns > vertex->end_ns - vertex->start_ns)
        return FAIL(check, "v%" PRIu32 " ran for longer than it lasted", id);
    if ((size_t)vertex->first_op + vertex->op_count > graph->ops.length ||
        (size_t)vertex->first_sample + vertex->sample_count > graph->samples.length)
        return FAIL(check, "v%" PRIu32 ": ops or samples out of range", id);
    return true;
}

static bool check_edge(struct check *check, uint32_t id)
{
    const struct argus_graph *graph = check->graph;
    const struct argus_edge *edge = &graph->edges.data[id];
    size_t vertices = graph->vertices.length;
    if (edge->from >= vertices || edge->to >= vertices || edge->from == edge->to)
        return FAIL(check, "edge %" PRIu32 " has no such vertex", id);
    const struct argus_vertex *from = &graph->vertices.data[edge->from];
    const struct argus_vertex *to = &graph->vertices.data[edge->to];
    if (edge->from_ns < from->start_ns || edge->from_ns > from->end_ns)
        return FAIL(check, "edge %" PRIu32 " begins outside v%" PRIu32, id, edge->from);
    if (edge->to_ns < to->start_ns || edge->to_ns > to->end_ns)
        return FAIL(check, "edge %" PRIu32 " ends outside v%" PRIu32, id, edge->to);
    if (edge->from_ns > edge->to_ns)
        return FAIL(check, "edge %" PRIu32 " goes backward in time", id);
    if (edge->rule >= graph->rule_count || edge->kind >= ARGUS_EDGE_KINDS)
        return FAIL(check, "edge %" PRIu32 " has no such rule or kind", id);
    if (id < graph->in_first[edge->to] || id >= graph->in_first[edge->to + 1])
        return FAIL(check, "edge %" PRIu32 " is not among those of v%" PRIu32, id, edge->to);
    return true;
}

static bool check_thread(struct check *check, uint32_t id)
{
    const struct argus_graph *graph = check->graph;
    const struct argus_thread *thread = &graph->machine.threads.data[id];
    if (thread->process >= graph->machine.processes.length)
        return FAIL(check, "thread %" PRIu32 " has no process", id);
    if ((size_t)thread->first_vertex + thread->vertex_count > graph->vertices.length)
        return FAIL(check, "thread %" PRIu32 ": vertices out of range", id);
    for (uint32_t i = 0; i < thread->vertex_count; i++)
        if (graph->vertices.data[thread->first_vertex + i].thread != id)
            return FAIL(check, "v%" PRIu32 " is another thread's", thread->first_vertex + i);
    return true;
}

static bool check_out(struct check *check, uint32_t vertex)
{
    const uint32_t *edges;
    size_t count = argus_graph_out_edges(check->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (edges[i] >= check->graph->edges.length ||
            check->graph->edges.data[edges[i]].from != vertex)
            return FAIL(check, "an outgoing edge of v%" PRIu32 " is another's", vertex);
    return true;
}

const char *graph_check(const struct argus_graph *graph, char *buffer, size_t buffer_bytes)
{
    struct check check = {.graph = graph, .buffer = buffer, .bytes = buffer_bytes};
    bool right = true;
    for (uint32_t i = 0; right && i < graph->vertices.length; i++)
        right = check_vertex(&check, i) && check_out(&check, i);
    for (uint32_t i = 0; right && i < graph->edges.length; i++)
        right = check_edge(&check, i);
    for (uint32_t i = 0; right && i < graph->machine.threads.length; i++)
        right = check_thread(&check, i);
    if (right && (graph->in_first[graph->vertices.length] != graph->edges.length ||
                  graph->out_first[graph->vertices.length] != graph->edges.length))
        right = FAIL(&check, "the adjacency does not name every edge");
    return right ? NULL : buffer;
}
