/* Stretches in which a thread was idle although its place is not known as its loop, because the trace
 * has too few waits there. Nothing is pending for the thread. One of these is true:
 *   - it has no windows and polls outside any callback, once its loop has called some: it is a
 *     service that waits for whatever may come;
 *   - it takes turns: its own timers end its waits, and in most turns it sends something to another
 *     process, as a window does whose cursor blinks. It is in a loop inside a handler (a dialogue,
 *     a prompt); or
 *   - it reads its standard input: the program that started it writes there what to do next.
 */
#include "diagnose/hangs/finder.h"

/* A thread takes turns if it takes so many in a stretch, and its waits between them, without the
 * short ones, are so much of it. */
#define FEWEST_TURNS     3
#define SHORTEST_TURN_NS 100000000ull
#define TURNS_PERCENT    80u

static bool sends(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    uint32_t process = view->threads[view->vertices[vertex].thread].process;
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        uint32_t receiver = view->vertices[edge->to].thread;
        if ((edge->message || edge->kind == ARGUS_EDGE_MESSAGE) &&
            view->threads[receiver].process != process)
            return true;
    }
    return false;
}

/* Whether a timer of the thread ended the wait of `vertex`, or nothing did before the trace
 * ended. */
static bool is_turn(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    bool by_timer = wait->by_timer || wait->outcome == ARGUS_OUTCOME_TIMED_OUT;
    return timeline_wait_end(view, vertex) - view->vertices[vertex].end_ns >= SHORTEST_TURN_NS &&
           (by_timer || timeline_next(view, vertex) == ARGUS_NONE);
}

/* Whether the thread takes turns by its own timers, and sends something in most of them. */
static bool takes_turns(const struct view *view, const struct argus_hang *hang)
{
    uint64_t waited_ns = 0;
    unsigned turns = 0, active = 0;
    bool sent = false;
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    for (; v != ARGUS_NONE && view->vertices[v].start_ns < hang->end_ns;
         v = timeline_next(view, v)) {
        sent |= sends(view, v);
        if (!is_turn(view, v))
            continue;
        turns++;
        active += sent;
        sent = false;
        waited_ns += timeline_wait_end(view, v) - view->vertices[v].end_ns;
    }
    return turns >= FEWEST_TURNS && active >= turns - turns / 4 &&
           waited_ns >= (hang->end_ns - hang->start_ns) / 100 * TURNS_PERCENT;
}

/* Whether the toolkit's loop called a function of the program in the vertex, or in the one that it
 * continues. */
static bool is_in_callback(const struct view *view, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    uint32_t whole = argus_graph_whole(view->graph, vertex);
    return argus_graph_callbacks(view->graph, whole, &callbacks) > 0;
}

static bool is_resting_service(const struct view *view, const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT ||
        view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_POLL ||
        is_in_callback(view, hang->vertex) || thread_hands_events(view, hang->thread))
        return false;
    uint32_t first = view->threads[hang->thread].first_vertex;
    for (uint32_t v = hang->vertex; v > first; v--)
        if (is_in_callback(view, v - 1))
            return true;
    return false;
}

static bool reads_standard_input(const struct view *view, const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT)
        return false;
    const struct argus_wait *wait = &view->vertices[hang->vertex].wait;
    return wait->kind == ARGUS_WAIT_READ && wait->object == 0;
}

bool stretch_is_idle(const struct view *view, const struct argus_hang *hang)
{
    return (takes_turns(view, hang) && late_answer(view, hang) == ARGUS_NONE) ||
           is_resting_service(view, hang) || reads_standard_input(view, hang);
}
