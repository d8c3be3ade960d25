/* Event loops that do not poll at all: another thread of the process receives what other processes
 * send, and wakes the loop, which waits for a condition. (So do the processes in which a browser
 * runs the scripts of its pages.)
 *
 * A thread that waits for its workers looks similar. The loop differs in what its wakers had just
 * received: messages of a process with windows, which makes the loop work for what a user does
 * there.
 */
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/nesting.h"

/* At least so many waits must have been ended in this way. */
#define LEAST_BROUGHT 3

struct search {
    const struct view *view;
    uint32_t asked; /* the process that was asked last for windows; ARGUS_NONE: none */
    bool answer;
};

static bool has_windows(struct search *search, uint32_t process)
{
    if (process != search->asked)
        search->answer = process_has_toolkit(search->view, process);
    search->asked = process;
    return search->answer;
}

/* Whether `waker` received a message of a process with windows. */
static bool receives(struct search *search, uint32_t waker)
{
    const struct view *view = search->view;
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, waker, &edges);
    uint32_t process = view->threads[view->vertices[waker].thread].process;
    for (size_t i = 0; i < count; i++) {
        uint32_t sender = view->threads[view->vertices[edges[i].from].thread].process;
        if ((edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE) && sender != process &&
            has_windows(search, sender))
            return true;
    }
    return false;
}

/* Whether the wait of `vertex` was ended by another thread of its process that had received a
 * message. */
static bool is_brought(struct search *search, uint32_t vertex)
{
    const struct view *view = search->view;
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE)
        return false;
    const struct argus_thread *thread = &view->threads[view->vertices[vertex].thread];
    uint32_t waker = view->edges[cause].from;
    uint32_t other = view->vertices[waker].thread;
    return other != view->vertices[vertex].thread &&
           view->threads[other].process == thread->process && receives(search, waker);
}

void brought_input_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    struct search search = {.view = view, .asked = ARGUS_NONE};
    const struct argus_thread *t = &view->threads[thread];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(habits, &view->vertices[v]);
        if (habit && habit->kind == ARGUS_WAIT_FUTEX && habit->brought < LEAST_BROUGHT &&
            is_brought(&search, v))
            habits->items.data[habit - habits->items.data].brought++;
    }
}

bool input_is_brought(const struct habit *habit)
{
    return habit->brought == LEAST_BROUGHT;
}
