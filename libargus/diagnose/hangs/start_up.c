/* When a thread first asked for input. What came before that was pending while the program started,
 * and the thread was not expected to take it. */
#include "diagnose/hangs/finder.h"

static uint64_t first_visit_ns(const struct view *view, uint32_t thread)
{
    const struct argus_visits *visits;
    return argus_graph_thread_visits(view->graph, thread, &visits) ? visits[0].first_ns
                                                                   : UINT64_MAX;
}

/* When `vertex` first took a message of another process; UINT64_MAX: it took none. */
static uint64_t first_message_ns(const struct view *view, uint32_t vertex)
{
    const struct argus_edge *edges;
    const struct argus_vertex *v = &view->vertices[vertex];
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if ((edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE) &&
            edges[i].to_ns < first_ns &&
            view->threads[view->vertices[edges[i].from].thread].process !=
                view->threads[v->thread].process)
            first_ns = edges[i].to_ns;
    return first_ns;
}

uint64_t start_up_end(const struct view *view, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    uint64_t end_ns = first_visit_ns(view, thread);
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        uint64_t message_ns = first_message_ns(view, v);
        if (vertex->start_ns >= end_ns)
            break;
        end_ns = message_ns < end_ns ? message_ns : end_ns;
        if (vertex->wait.kind == ARGUS_WAIT_POLL && vertex->end_ns < end_ns)
            end_ns = vertex->end_ns;
    }
    return end_ns == UINT64_MAX ? 0 : end_ns;
}
