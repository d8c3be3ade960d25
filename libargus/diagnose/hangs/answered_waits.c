/* Whether a thread's waits are for answers: what it had asked, and who ended them. */
#include "diagnose/hangs/answered_waits.h"

#include "diagnose/hangs/keys.h"

/* Whether `vertex` made a vertex of thread `other` run. */
static bool has_asked(const struct view *view, uint32_t vertex, uint32_t other)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0 && i + MAX_ASKED > count; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge->kind != ARGUS_EDGE_SEQUENCE && view->vertices[edge->to].thread == other)
            return true;
    }
    return false;
}

static bool was_begun_by(const struct view *view, uint32_t vertex, uint32_t other)
{
    uint32_t cause = argus_graph_cause(view->graph, vertex);
    return cause != ARGUS_NONE && view->vertices[view->edges[cause].from].thread == other;
}

bool passes_on(const struct view *view, uint32_t waking, uint32_t since)
{
    uint32_t cause = argus_graph_cause(view->graph, waking);
    if (cause == ARGUS_NONE)
        return false;
    uint32_t before = argus_graph_previous(view->graph, waking);
    if (before != ARGUS_NONE && view->vertices[before].wait.kind == ARGUS_WAIT_STOPPED)
        return false; /* it was only let go on */
    uint32_t third = view->vertices[view->edges[cause].from].thread;
    if (third == view->vertices[since].thread || third == view->vertices[waking].thread ||
        timeline_is_kernel(view, view->edges[cause].from))
        return false;
    for (int i = 0; i < MAX_BEFORE && before != ARGUS_NONE; i++) {
        if (view->vertices[before].end_ns < view->vertices[since].start_ns)
            break;
        if (has_asked(view, before, third))
            return false;
        before = argus_graph_previous(view->graph, before);
    }
    return true;
}

bool is_answer(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    uint32_t waker = view->vertices[edge->from].thread;
    return !is_device_input(view, vertex, edge) && has_asked(view, vertex, waker) &&
           !passes_on(view, edge->from, vertex);
}

bool is_reply(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    return !was_begun_by(view, vertex, view->vertices[edge->from].thread) &&
           is_answer(view, vertex, edge);
}

bool is_answered_wait(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return false;
    const struct argus_edge *edge = &view->edges[cause];
    uint32_t waker = view->vertices[edge->from].thread;
    return waker != view->vertices[vertex].thread && is_reply(view, vertex, edge);
}

struct turn turn_until(const struct view *view, uint32_t vertex, uint32_t other)
{
    struct turn turn = {.asked = ARGUS_NONE};
    for (int i = 0; i < MAX_BEFORE; i++) {
        uint32_t before = argus_graph_previous(view->graph, vertex);
        uint8_t kind =
            before == ARGUS_NONE ? ARGUS_WAIT_OTHER : (uint8_t)view->vertices[before].wait.kind;
        if (turn.asked == ARGUS_NONE && has_asked(view, vertex, other))
            turn.asked = vertex;
        turn.begun |= kind != ARGUS_WAIT_FUTEX && was_begun_by(view, vertex, other);
        if (kind != ARGUS_WAIT_NONE && kind != ARGUS_WAIT_FUTEX)
            break;
        vertex = before;
    }
    return turn;
}
