/* A flag that the polling thread sets itself when it gets a message: on macOS an event loop yields
 * until a notification comes, and the notification's handler, called by the same thread, sets the
 * flag (paper, section 6: _gCGDidReconfigureSeen). So a missing write is a missing message. The
 * thread that should have sent it is the sender of the message upon which the flag was set the last
 * time. */
#include "diagnose/diagnoser.h"

/* A message and the write that it causes are in one vertex, or not far apart. */
enum { MOST_VERTICES = 4 };

static bool reads(const struct view *view, uint32_t vertex, uint64_t address)
{
    const struct argus_op *ops;
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t wanted = ARGUS_OP_FLAG_READ << 24 | (uint32_t)(address & 0xffffff);
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++)
        if (ops[v->first_op + i].code == wanted)
            return true;
    return false;
}

/* When the thread of `vertex` last set a flag that it reads there; 0: never. */
static uint64_t last_set_ns(const struct view *view, uint32_t vertex)
{
    const struct argus_flag_set *sets;
    const struct argus_vertex *v = &view->vertices[vertex];
    size_t count = argus_graph_flag_sets(view->graph, &sets);
    for (size_t i = count; i > 0; i--)
        if (sets[i - 1].thread == v->thread && sets[i - 1].time_ns < v->start_ns &&
            reads(view, vertex, sets[i - 1].address))
            return sets[i - 1].time_ns;
    return 0;
}

/* The last message, until `until_ns`, from another thread into `vertex`: an edge. */
static uint32_t last_message(const struct view *view, uint32_t vertex, uint64_t until_ns)
{
    const struct argus_edge *in;
    for (size_t i = argus_graph_in_edges(view->graph, vertex, &in); i > 0; i--) {
        const struct argus_edge *edge = &in[i - 1];
        bool message = edge->kind == ARGUS_EDGE_MESSAGE || edge->message;
        if (message && edge->to_ns <= until_ns &&
            view->vertices[edge->from].thread != view->vertices[vertex].thread)
            return (uint32_t)(edge - view->edges);
    }
    return ARGUS_NONE;
}

uint32_t find_own_set(const struct view *view, uint32_t vertex)
{
    uint64_t set_ns = last_set_ns(view, vertex);
    uint32_t v = set_ns ? argus_graph_vertex_at(view->graph, view->vertices[vertex].thread, set_ns)
                        : ARGUS_NONE;
    for (int i = 0; i < MOST_VERTICES && v != ARGUS_NONE; i++) {
        uint32_t edge = last_message(view, v, set_ns);
        if (edge != ARGUS_NONE)
            return edge;
        v = argus_graph_previous(view->graph, v);
    }
    return ARGUS_NONE;
}
