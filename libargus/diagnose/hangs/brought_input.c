/* Event loops that do not poll at all: another thread of the process receives what other processes
 * send, and wakes the loop, which waits for a condition. (So do the processes in which a browser
 * runs the scripts of its pages.)
 *
 * A thread that waits for its workers looks similar. The loop differs in what its wakers had just
 * received: messages of a process with windows, which makes the loop work for what a user does
 * there, or of a display server (a toolkit of Java reads events in a thread of its own). In the
 * latter case the loop need not be the main thread, but it uses the display server, too. A main
 * thread may also get these from a thread that got them from the receiver; or a thread polls for
 * it, and the main thread reads what has come.
 *
 * Programs in a terminal read what is typed. The kernel wakes them: its terminal driver, in a
 * worker (drivers/tty/tty_buffer.c) or an interrupt. A device that another program serves, such as
 * /dev/fuse, is read with a message of that program's client. A terminal may give a program whole
 * lines, so that there are few such waits. Then the program's standard input tells: it waits there
 * at the end of the trace, and something was typed for it before. (A program that asks whether to
 * go on does not come back.)
 */
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/keys.h"
#include "diagnose/hangs/nesting.h"

/* At least so many waits must have been ended in this way. */
#define LEAST_BROUGHT 3
/* So many waits for a terminal, or lines of the standard input. */
#define LEAST_TYPED 5
#define LEAST_LINES 2

struct search {
    const struct view *view;
    bool is_main;
    uint32_t typed;    /* waits for a terminal that the kernel ended */
    uint64_t terminal; /* the inode of the last one */
    uint32_t lines;    /* waits for the standard input, and the one before the first record */
    bool is_back;      /* the thread waits there at the end */
    uint32_t asked;    /* the process that was asked last for windows; ARGUS_NONE: none */
    bool answer;
};

static bool has_windows(struct search *search, uint32_t process)
{
    if (process != search->asked)
        search->answer = process_has_toolkit(search->view, process);
    search->asked = process;
    return search->answer;
}

/* Whether `waker` may pass on what it received. A thread besides the main thread gets its input
 * from one that does nothing else. */
static bool may_bring(const struct search *search, uint32_t waker)
{
    const struct view *view = search->view;
    uint32_t thread = view->vertices[waker].thread;
    return search->is_main ||
           (view->processes[view->threads[thread].process].main_thread != thread &&
            !thread_hands_events(view, thread));
}

/* Whether `waker` received a message of a process with windows, or of a display server. */
static bool receives(struct search *search, uint32_t waker)
{
    const struct view *view = search->view;
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(view->graph, waker, &edges);
    uint32_t process = view->threads[view->vertices[waker].thread].process;
    for (size_t i = 0; i < count; i++) {
        uint32_t sender = view->threads[view->vertices[edges[i].from].thread].process;
        if ((!edges[i].message && edges[i].kind != ARGUS_EDGE_MESSAGE) || sender == process)
            continue;
        if (view->processes[sender].serves_display ||
            (search->is_main && has_windows(search, sender)))
            return may_bring(search, waker);
    }
    return false;
}

/* The vertex that ended the wait of `vertex`; ARGUS_NONE: none. */
static uint32_t waker_of(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause == ARGUS_NONE ? ARGUS_NONE : view->edges[cause].from;
}

/* Whether a display server ended the poll before `waker`: a thread that polls for the main thread
 * leaves the reading to it (Tcl's notifier). */
static bool is_woken_by_display(const struct search *search, uint32_t waker)
{
    const struct view *view = search->view;
    uint32_t cause = argus_graph_cause(view->graph, waker);
    uint32_t before = argus_graph_previous(view->graph, waker);
    return search->is_main && cause != ARGUS_NONE && before != ARGUS_NONE &&
           view->vertices[before].wait.kind == ARGUS_WAIT_POLL &&
           thread_serves_display(view, view->vertices[view->edges[cause].from].thread);
}

/* Whether `waker` was made to run by another thread of its process that had received a message: an
 * engine for pages has a thread that moves them, which hands on what it does not need. */
static bool is_passed_on(struct search *search, uint32_t waker)
{
    const struct view *view = search->view;
    uint32_t cause = argus_graph_cause(view->graph, waker);
    uint32_t from = cause == ARGUS_NONE ? ARGUS_NONE : view->edges[cause].from;
    return from != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WAKE &&
           view->threads[view->vertices[from].thread].process ==
               view->threads[view->vertices[waker].thread].process &&
           receives(search, from);
}

/* Whether the wait of `vertex` was ended by another thread of its process that had received a
 * message, or by one to which such a thread passed it on. */
static bool is_brought(struct search *search, uint32_t vertex)
{
    const struct view *view = search->view;
    uint32_t waker = waker_of(view, vertex);
    if (waker == ARGUS_NONE)
        return false;
    const struct argus_thread *thread = &view->threads[view->vertices[vertex].thread];
    uint32_t other = view->vertices[waker].thread;
    if (other == view->vertices[vertex].thread || view->threads[other].process != thread->process)
        return false;
    return receives(search, waker) || is_woken_by_display(search, waker) ||
           (search->is_main && is_passed_on(search, waker));
}

bool begins_with_input(const struct view *view, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t cause = t->vertex_count && !t->start_ns
                         ? argus_graph_cause(view->graph, t->first_vertex)
                         : ARGUS_NONE;
    return cause != ARGUS_NONE && timeline_is_kernel(view, view->edges[cause].from);
}

/* Counts a wait for a terminal if the kernel ended it, and one for the standard input also if it is
 * not over. */
static void count_typed(struct search *search, uint32_t vertex)
{
    const struct argus_wait *wait = &search->view->vertices[vertex].wait;
    if (!wait_reads_device(wait))
        return;
    uint32_t waker = waker_of(search->view, vertex);
    bool typed =
        wait->by_device || (waker != ARGUS_NONE && timeline_is_kernel(search->view, waker));
    bool is_back = wait->object == 0 && timeline_next(search->view, vertex) == ARGUS_NONE;
    search->typed += typed;
    search->lines += is_back || (typed && wait->object == 0);
    search->is_back |= is_back;
    if (typed || is_back)
        search->terminal = wait->inode;
}

/* Wherever the thread reads its terminal, it is in its loop. */
static void mark_reads(const struct search *search, uint32_t thread, struct habits *habits)
{
    const struct argus_thread *t = &search->view->threads[thread];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_wait *wait = &search->view->vertices[v].wait;
        const struct habit *habit = habits_of(habits, &search->view->vertices[v]);
        if (habit && wait_reads_device(wait) && wait->inode == search->terminal)
            habits->items.data[habit - habits->items.data].brought = LEAST_BROUGHT;
    }
}

void brought_input_find(const struct view *view, uint32_t thread, struct habits *habits)
{
    const struct argus_thread *t = &view->threads[thread];
    struct search search = {.view = view,
                            .is_main = view->processes[t->process].main_thread == thread,
                            .asked = ARGUS_NONE};
    if (!search.is_main && !thread_uses_display(view, thread))
        return;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(habits, &view->vertices[v]);
        if (search.is_main)
            count_typed(&search, v);
        if (habit && habit->kind == ARGUS_WAIT_FUTEX && habit->brought < LEAST_BROUGHT &&
            is_brought(&search, v))
            habits->items.data[habit - habits->items.data].brought++;
    }
    search.lines += begins_with_input(view, thread);
    if (search.typed >= LEAST_TYPED || (search.is_back && search.lines >= LEAST_LINES))
        mark_reads(&search, thread, habits);
}

bool input_is_brought(const struct habit *habit)
{
    return habit->brought == LEAST_BROUGHT;
}
