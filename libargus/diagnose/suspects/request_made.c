/* Whether a thread asked for something before it waited, so that it waits for an answer.
 *
 * A thread that asked for nothing waits for whatever may come: it is idle, even if always the same
 * thread gives it work. That this thread ended a similar wait, or has the other end of the object,
 * shows that it could have ended the wait, and not that it should have. So it makes no edge of a
 * circular wait.
 */
#include "diagnose/suspects/request_made.h"

#include <string.h>

#include "diagnose/vertex_deeds.h"

#define MAX_OUT   256
#define MAX_TAKEN 64

enum asked { ASKED_NOBODY, ASKED_OTHERS, ASKED_PROCESS };

static enum asked who(const struct view *view, uint32_t thread, uint32_t process)
{
    return view->threads[thread].process == process ? ASKED_PROCESS : ASKED_OTHERS;
}

/* Whom `vertex` made run, or sent something that was received. */
static enum asked asked_by_edges(const struct view *view, uint32_t vertex, uint32_t process)
{
    const uint32_t *out;
    enum asked found = ASKED_NOBODY;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = count; i > 0 && count - i < MAX_OUT && found != ASKED_PROCESS; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if (edge_is_message(edge) || edge->kind == ARGUS_EDGE_WAKE)
            found = who(view, view->vertices[edge->to].thread, process);
    }
    return found;
}

/* The threads for which `vertex` left a message that they did not receive. */
static enum asked asked_unread(const struct view *view, uint32_t vertex, uint32_t process)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_unread *unread;
    enum asked found = ASKED_NOBODY;
    size_t count = argus_graph_unread(view->graph, &unread);
    for (size_t i = 0; i < count && found != ASKED_PROCESS; i++)
        if (unread[i].sender == v->thread && unread[i].sent_ns >= v->start_ns &&
            unread[i].sent_ns <= v->end_ns)
            found = who(view, unread[i].receiver, process);
    return found;
}

/* Whether `vertex`, or one just before it, asked something of `process`, or of a receiver that is
 * not known. ARGUS_NONE: of anything. */
static bool has_asked(const struct view *view, uint32_t vertex, uint32_t process)
{
    uint32_t v = vertex;
    for (unsigned i = 0; i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        enum asked edges = asked_by_edges(view, v, process);
        enum asked unread = asked_unread(view, v, process);
        bool is_known = edges != ASKED_NOBODY || unread != ASKED_NOBODY;
        if (edges == ASKED_PROCESS || unread == ASKED_PROCESS ||
            (is_known ? process == ARGUS_NONE : vertex_calls(view, v, ARGUS_WAIT_WRITE)))
            return true;
        v = argus_graph_previous(view->graph, v);
    }
    return false;
}

bool request_was_made(const struct suspect_search *search, uint32_t thread)
{
    const struct view *view = &search->d->view;
    return has_asked(view, first_piece(search), view->threads[thread].process);
}

uint32_t request_find_taker(const struct view *view, uint32_t waiter, uint32_t thread,
                            uint64_t until_ns)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, waiter, &out);
    for (size_t i = count; i > 0 && count - i < MAX_TAKEN; i--) {
        const struct argus_edge *edge = &view->edges[out[i - 1]];
        if ((edge->kind == ARGUS_EDGE_WAKE || edge->kind == ARGUS_EDGE_MESSAGE) &&
            edge->from_ns < until_ns && view->vertices[edge->to].thread == thread)
            return edge->to;
    }
    return ARGUS_NONE;
}

bool edge_is_store_for(const struct view *view, const struct argus_edge *edge,
                       const struct walk_position *position)
{
    return edge->kind == ARGUS_EDGE_FLAG && edge->from_ns >= position->window.start_ns &&
           view->vertices[edge->to].thread == view->vertices[position->vertex].thread;
}

bool has_sent_anything(const struct view *view, uint32_t first, uint32_t last,
                       const struct walk_position *position)
{
    for (uint32_t v = first; v <= last; v++) {
        const uint32_t *out;
        size_t count = argus_graph_out_edges(view->graph, v, &out);
        for (size_t i = 0; i < count; i++) {
            const struct argus_edge *edge = &view->edges[out[i]];
            if (edge->kind != ARGUS_EDGE_SEQUENCE && edge->kind != ARGUS_EDGE_TIMER &&
                !edge_is_store_for(view, edge, position))
                return true;
        }
    }
    return thread_left_unread(view, view->vertices[first].thread, view->vertices[first].start_ns,
                              view->vertices[last].end_ns);
}

bool waits_for_work_again(const struct view *view, uint32_t first, uint32_t second)
{
    const struct argus_wait *before = &view->vertices[first].wait,
                            *after = &view->vertices[second].wait;
    uint32_t next = timeline_next(view, first);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return after->kind == ARGUS_WAIT_FUTEX && before->object == after->object &&
           before->user_stack == after->user_stack && after->user_stack != ARGUS_NONE &&
           cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
           view->edges[cause].strong;
}

bool waits_for_work(const struct view *view, uint32_t vertex, uint64_t before_ns)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t first = timeline_wait_begin(view, vertex);
    uint32_t previous = argus_graph_previous(view->graph, first);
    bool is_open = v->wait.kind == ARGUS_WAIT_FUTEX || v->wait.kind == ARGUS_WAIT_POLL;
    if (!is_open || v->wait.holder_tid || v->end_ns >= before_ns)
        return false;
    return !has_asked(view, first, ARGUS_NONE) ||
           (previous != ARGUS_NONE && waits_for_work_again(view, previous, vertex));
}

bool wait_is_epoll(const struct view *view, const struct argus_wait *wait)
{
    char buffer[32];
    const struct argus_trace *trace = argus_graph_trace(view->graph);
    return wait->kind == ARGUS_WAIT_POLL && wait->syscall != ARGUS_NO_SYSCALL &&
           strncmp(argus_syscall_name(trace, wait->syscall, buffer, sizeof(buffer)), "epoll", 5) ==
               0;
}
