#include "diagnose/suspects/turned_flag.h"

#include "diagnose/suspects/watched_flag.h"

enum {
    BEFORE_LOOP = 3,        /* vertices before a loop in which it may have been handed over */
    MAX_LOOK_BACK = 100000, /* vertices */
    END_PERCENT = 10,       /* the last part of a loop, which ends soon after its flag is taken */
};

static bool is_turned(const struct view *view, const struct argus_edge *edge)
{
    const struct argus_flag_entry *flag =
        edge->kind == ARGUS_EDGE_FLAG ? argus_graph_edge_flag(view->graph, edge, NULL) : NULL;
    return flag && flag->semantics != ARGUS_FLAG_VALUE;
}

/* The vertices in which the loop's thread may have handed over what the loop waits for. */
static uint32_t first_vertex(const struct view *view, uint32_t vertex, struct window part)
{
    uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.start_ns + 1);
    for (unsigned i = 0; i < BEFORE_LOOP && v != ARGUS_NONE; i++) {
        uint32_t before = argus_graph_previous(view->graph, v);
        if (before == ARGUS_NONE)
            break;
        v = before;
    }
    return v;
}

/* The last edge from `vertex` to the write of another thread that took the variable back. */
static uint32_t turn_from(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    for (size_t i = argus_graph_out_edges(view->graph, vertex, &out); i > 0; i--)
        if (is_turned(view, &view->edges[out[i - 1]]))
            return out[i - 1];
    return ARGUS_NONE;
}

uint32_t find_late_turn(const struct view *view, uint32_t vertex, struct window part)
{
    uint64_t since_ns = part.end_ns - window_ns(part) / 100 * END_PERCENT;
    uint32_t found = ARGUS_NONE;
    for (uint32_t v = first_vertex(view, vertex, part);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v)) {
        uint32_t edge = turn_from(view, v);
        if (edge != ARGUS_NONE && view->edges[edge].to_ns >= since_ns &&
            view->edges[edge].to_ns <= part.end_ns)
            found = edge;
    }
    return found;
}

uint32_t find_former_turn(const struct view *view, uint32_t vertex, struct window part)
{
    uint32_t first = first_vertex(view, vertex, part), former = ARGUS_NONE, v = first;
    uint64_t address = 0;
    for (uint32_t i = 0; former == ARGUS_NONE && v != ARGUS_NONE && i < MAX_LOOK_BACK; i++) {
        former = turn_from(view, v);
        v = argus_graph_previous(view->graph, v);
    }
    if (former == ARGUS_NONE)
        return ARGUS_NONE;
    argus_graph_edge_flag(view->graph, &view->edges[former], &address);
    bool is_open = false;
    for (v = first; v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns;
         v = timeline_next(view, v)) {
        if (turn_from(view, v) != ARGUS_NONE)
            is_open = false;
        else if (vertex_writes_flag(view, v, address))
            is_open = true;
    }
    return is_open ? former : ARGUS_NONE;
}
