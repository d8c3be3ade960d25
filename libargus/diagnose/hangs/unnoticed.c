/* Stretches that kept nobody waiting: the thread was away from its loop, nothing was pending for
 * it, and it has no window that a user could look at.
 *
 * An application's main thread also counts if nothing was pending: a user may have looked at its
 * window. These do not count:
 *   - a worker thread: a thread that waits for it waits by a message or a callback, which would be
 *     pending. What the worker's next poll finds ready was not pending, if the worker rests at a
 *     lock or condition where it waits for work;
 *   - a thread that waits for processes that it started itself, as a shell does for a command, or a
 *     build for a compiler. What these send, or what comes through a pipe, is part of that wait;
 *     what another child sends is not. The shell's terminal belongs to the command meanwhile: what
 *     is typed there is not pending for the shell. With windows, such a thread counts, and also if
 *     it keeps its terminal (own_commands.c);
 *   - a thread whose loop takes only from such processes: it does their work;
 *   - a thread that is not known for sure to have a loop;
 *   - a thread at a lock or condition that never rests in a poll: another thread polls for it. But
 *     it counts if it waited for a late answer to its own request, or in a handler of a loop that
 *     waits for a condition;
 *   - a thread that sleeps by its own clock, if its timer or a child set off the stretch, unless
 *     the user names the thread;
 *   - a thread that was idle at a place which is not known as its loop (idle_stretch.c);
 *   - a program that draws frame by frame, whatever other programs than the display server send it
 *     (drawn_frames.c).
 *
 * If the trace does not show what is pending, all of them count.
 */
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/nesting.h"

/* Replies to a busy program take less. */
#define LONGEST_REPLY_NS 250000000ull

#define MODE_MASK      0170000u
#define MODE_PIPE      0010000u
#define MODE_CHARACTER 0020000u
/* Processes that a thread waits for in one stretch. A thread with more is a build: then all of its
 * children count. */
#define MOST_CHILDREN 16

struct children {
    uint32_t processes[MOST_CHILDREN];
    size_t count;
    bool all;
    bool enough; /* the waits for them are at least half of the stretch */
};

bool finder_sees_pending(const struct view *view)
{
    const struct argus_arrival *arrivals;
    const struct argus_unread *unread;
    if (argus_graph_arrivals(view->graph, &arrivals) || argus_graph_unread(view->graph, &unread))
        return true;
    for (size_t i = 0; i < view->edge_count; i++)
        if (view->edges[i].message || view->edges[i].kind == ARGUS_EDGE_MESSAGE)
            return true;
    return false;
}

/* The thread that ended the wait of `vertex`; ARGUS_NONE: none, or the thread itself. */
static uint32_t ended_by(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    uint32_t thread =
        cause == ARGUS_NONE ? ARGUS_NONE : view->vertices[view->edges[cause].from].thread;
    return thread == view->vertices[vertex].thread ? ARGUS_NONE : thread;
}

/* Whether the wait of `vertex`, which `other` ended, was for a process that the thread's process
 * had started. */
static bool is_for_child(const struct view *view, uint32_t vertex, uint32_t other)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    if (v->wait.kind == ARGUS_WAIT_CHILD || v->wait.kind == ARGUS_WAIT_STOPPED)
        return v->wait.kind == ARGUS_WAIT_CHILD;
    return other != ARGUS_NONE && process_descends_from(view, view->threads[other].process,
                                                        view->threads[v->thread].process);
}

static void note_child(const struct view *view, uint32_t thread, struct children *children)
{
    uint32_t process = thread == ARGUS_NONE ? ARGUS_NONE : view->threads[thread].process;
    for (size_t i = 0; i < children->count; i++)
        if (children->processes[i] == process)
            return;
    children->all |= process == ARGUS_NONE || children->count == MOST_CHILDREN;
    if (!children->all)
        children->processes[children->count++] = process;
}

/* The processes that the thread waited for in the stretch and that its process had started. */
static struct children children_of(const struct view *view, const struct argus_hang *hang)
{
    struct children children = {.count = 0};
    uint64_t waited_ns = 0;
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    for (; v != ARGUS_NONE && view->vertices[v].start_ns < hang->end_ns;
         v = timeline_next(view, v)) {
        uint64_t from_ns = view->vertices[v].end_ns, to_ns = timeline_wait_end(view, v);
        from_ns = from_ns > hang->start_ns ? from_ns : hang->start_ns;
        to_ns = to_ns < hang->end_ns ? to_ns : hang->end_ns;
        uint32_t other = ended_by(view, v);
        if (from_ns >= to_ns || !is_for_child(view, v, other))
            continue;
        waited_ns += to_ns - from_ns;
        note_child(view, other, &children);
    }
    children.enough = waited_ns >= (hang->end_ns - hang->start_ns) / 2;
    return children;
}

/* Whether `process` is one of `children`, or a descendant or ancestor of one. */
static bool is_one_of(const struct view *view, const struct children *children, uint32_t process)
{
    for (size_t i = 0; !children->all && i < children->count; i++) {
        uint32_t child = children->processes[i];
        if (child == process || process_descends_from(view, process, child) ||
            process_descends_from(view, child, process))
            return true;
    }
    return children->all;
}

/* Whether only such processes end the waits of the thread's loop. */
static bool serves_children(const struct view *view, const struct habits *habits, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    bool any = false;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(habits, &view->vertices[v]);
        uint32_t other = habit && habit->home ? ended_by(view, v) : ARGUS_NONE;
        if (other == ARGUS_NONE)
            continue;
        if (!is_for_child(view, v, other))
            return false;
        any = true;
    }
    return any;
}

/* Whether the stretch began when a process that this one had started ended or sent something. */
static bool is_set_off_by_child(const struct view *view, const struct argus_hang *hang)
{
    uint32_t first = argus_graph_vertex_at(view->graph, hang->thread, hang->start_ns);
    uint32_t before = first == ARGUS_NONE ? ARGUS_NONE : argus_graph_previous(view->graph, first);
    return before != ARGUS_NONE && is_for_child(view, before, ended_by(view, before));
}

/* Whether a wait was a pause: a sleep, or a poll that nothing ended before its time was over (a
 * service that works now and then). A poll for a reply that did not come is none. */
static bool is_pause(const struct view *view, const struct habits *habits, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    const struct habit *habit = habits_of(habits, &view->vertices[vertex]);
    return wait->kind == ARGUS_WAIT_SLEEP ||
           (wait->kind == ARGUS_WAIT_POLL && wait->outcome == ARGUS_OUTCOME_TIMED_OUT && habit &&
            !habit->nested && !habit->answers);
}

/* Whether the thread pauses for at least half of the stretch, and its own timer or a child set the
 * stretch off. */
static bool sleeps(const struct view *view, const struct habits *habits,
                   const struct argus_hang *hang)
{
    return hang->vertex != ARGUS_NONE && hang->type == ARGUS_TYPE_LONG_WAIT &&
           is_pause(view, habits, hang->vertex) &&
           (hang_is_set_off_by_itself(view, hang) || is_set_off_by_child(view, hang));
}

/* Whether the thread waits in a handler of a loop that waits for a condition. */
static bool is_in_handler(const struct view *view, const struct habits *habits, uint32_t vertex)
{
    const struct habit *habit = habits_of(habits, &view->vertices[vertex]);
    for (size_t i = 0; habit && habit->nested && i < habits->items.length; i++)
        if (habits->items.data[i].loop && habits->items.data[i].kind == ARGUS_WAIT_FUTEX)
            return true;
    return false;
}

/* Whether the thread waits at a futex, and its polls were only for replies. */
static bool is_polled_for(const struct view *view, const struct habits *habits,
                          const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT ||
        view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_FUTEX ||
        is_in_handler(view, habits, hang->vertex))
        return false;
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].kind == ARGUS_WAIT_POLL &&
            habits->items.data[i].longest_ns >= LONGEST_REPLY_NS)
            return false;
    return true;
}

/* Whether a child process, or the user who types for it, may have sent what is pending. */
static bool is_of_child(const struct view *view, const struct argus_hang *hang,
                        const struct children *children, const struct argus_pending *pending)
{
    uint64_t mode = pending->ready.type & MODE_MASK;
    if (pending->kind == ARGUS_PENDING_READY)
        return mode == MODE_CHARACTER || mode == MODE_PIPE;
    if (pending->sender == ARGUS_NONE)
        return false;
    uint32_t sender = view->threads[pending->sender].process;
    return process_descends_from(view, sender, view->threads[hang->thread].process) &&
           is_one_of(view, children, sender);
}

static bool is_awaited(const struct view *view, const struct argus_hang *hang,
                       const struct argus_pendings *pendings, const struct children *children,
                       bool parked)
{
    for (size_t i = 0; i < pendings->count; i++) {
        const struct argus_pending *pending = &pendings->items[i];
        if (pending->kind != ARGUS_PENDING_SET_OFF &&
            !(parked && pending->kind == ARGUS_PENDING_READY) &&
            !(children->enough && is_of_child(view, hang, children, pending)))
            return true;
    }
    return false;
}

/* Whether one of the thread's polls that had to wait ever found something. If not, the polls are
 * for replies that do not come, and not a loop's. */
static bool finds_ready(const struct habits *habits)
{
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].kind == ARGUS_WAIT_POLL && habits->items.data[i].ended > 0)
            return true;
    return false;
}

/* Whether the thread rests again and again where it waits for work. Then its polls are part of some
 * work, and what the next poll finds ready was not pending before. */
static bool is_parked(const struct view *view, const struct habits *habits,
                      const struct argus_hang *hang)
{
    if (hang->vertex == ARGUS_NONE || hang->type != ARGUS_TYPE_LONG_WAIT ||
        view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_FUTEX)
        return false;
    const struct habit *habit = habits_of(habits, &view->vertices[hang->vertex]);
    return habit && (habit->home || !finds_ready(habits));
}

/* Whether users wait for the thread: an application's main thread, or one that gets the input of
 * its windows (brought_input.c). */
static bool is_for_users(const struct view *view, const struct habits *habits, uint32_t thread)
{
    if (view->processes[view->threads[thread].process].main_thread == thread)
        return true;
    for (size_t i = 0; i < habits->items.length; i++)
        if (habits->items.data[i].loop && input_is_brought(&habits->items.data[i]))
            return true;
    return false;
}

bool hang_is_unnoticed(const struct finder *finder, const struct habits *habits,
                       const struct argus_hang *hang, bool sure)
{
    const struct view *view = finder->view;
    struct argus_pendings pendings;
    if (!finder->sees_pending)
        return false;
    if (hang_draws_frames(view, hang))
        return true;
    bool is_main = is_for_users(view, habits, hang->thread);
    struct children children = children_of(view, hang);
    struct argus_error *error = argus_pending_find(view->graph, hang, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    bool awaited =
        is_awaited(view, hang, &pendings, &children, !is_main && is_parked(view, habits, hang));
    /* UI events that it read afterwards may be what ended the stretch; if they were pending before,
     * so were their messages. */
    bool idle = !pendings_any(&pendings, 1u << ARGUS_PENDING_UI_EVENT) &&
                stretch_is_idle(view, habits, hang, children.count > 0 || children.all);
    argus_pendings_deinit(&pendings);
    if (idle)
        return true;
    return !awaited &&
           (!sure || !is_main ||
            (children.enough && !finder_has_windows(finder, hang->thread) &&
             !keeps_terminal(finder, habits, hang)) ||
            (sleeps(view, habits, hang) && !hang_is_named(finder->options)) ||
            (is_polled_for(view, habits, hang) && late_answer(view, hang) == ARGUS_NONE) ||
            serves_children(view, habits, hang->thread));
}

bool hang_leaves_message(const struct view *view, const struct argus_hang *hang)
{
    struct argus_pendings pendings;
    bool leaves = false;
    struct argus_error *error = argus_pending_find(view->graph, hang, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    for (size_t i = 0; i < pendings.count; i++)
        leaves |= pendings.items[i].kind == ARGUS_PENDING_MESSAGE ||
                  pendings.items[i].kind == ARGUS_PENDING_CALLBACK;
    argus_pendings_deinit(&pendings);
    return leaves;
}
