/* Woken by one, at work for another.
 *
 * Two clients have asked; the first to ask wakes the server, which then happens to read the other one's request first. The
 * vertex is split where the peers change (split.c), so the piece that begins with the wake-up serves one, and a later piece
 * received the message by which the other one woke the thread. That wake-up made the whole vertex run, but is not what
 * the first piece is about: it is weak, and the message that the piece received is its cause.
 */
#include "graph/rules/wakeup.h"

/* Whether `vertex` received a message that `from` sent; without `from` (ARGUS_NONE): any. */
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
