/* A vertex that is woken by one client and first works for another.
 *
 * Two clients have sent a request. The first one's message wakes the server, which happens to read
 * the second one's request first. The vertex is split where the peers change (split.c), so the
 * piece that begins with the wake-up serves one client, and a later piece received the message of
 * the waker. The wake-up caused the whole vertex to run, but not the work of the first piece. So it
 * becomes weak, and the message that the first piece received is its cause.
 */
#include "graph/rules/wakeup.h"

/* Whether `vertex` received a message from `from`; `from` ARGUS_NONE: from any sender. */
static bool received(const struct argus_graph *graph, uint32_t vertex, uint32_t from)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(graph, vertex, &edges);
    for (size_t i = 0; i < count; i++) {
        bool message = edges[i].kind == ARGUS_EDGE_MESSAGE || edges[i].message;
        if (message && (from == ARGUS_NONE || edges[i].from == from))
            return true;
    }
    return false;
}

static bool is_piece(const struct argus_graph *graph, uint32_t vertex)
{
    return vertex < graph->vertices.length &&
           graph->vertices.data[vertex].flags & ARGUS_VERTEX_PIECE;
}

static bool is_for_later(const struct argus_graph *graph, const struct argus_edge *wake)
{
    if (wake->kind != ARGUS_EDGE_WAKE || !wake->strong || wake->message ||
        received(graph, wake->to, wake->from) || !received(graph, wake->to, ARGUS_NONE))
        return false;
    for (uint32_t v = wake->to + 1; is_piece(graph, v); v++)
        if (received(graph, v, wake->from))
            return true;
    return false;
}

void rule_wake_later(struct argus_graph *graph)
{
    for (size_t i = 0; i < graph->edges.length; i++) {
        struct argus_edge *edge = &graph->edges.data[i];
        if (!is_piece(graph, edge->to + 1) || is_piece(graph, edge->to) ||
            !is_for_later(graph, edge))
            continue;
        edge->strong = false;
        edge->rule = RULE_WAKE_LATER;
    }
}
