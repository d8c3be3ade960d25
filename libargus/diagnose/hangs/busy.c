/* A thread with windows that does not reach its event loop before the trace ends, or not for a
 * while: the recording began during the freeze, or the program has so much to do that it never
 * waits. Its event loop is unknown, but it is known to have windows (window_threads.c). From one UI
 * event to the next, without a rest, the thread computes. Such a stretch counts if something is
 * pending for the thread. So does the wait in which it is when the trace ends, if the display
 * server has sent it something in that time which it has not read: in its loop it would have. (Only
 * of a thread that hands on UI events: the owner of the clipboard has a window, but no user.) */
#include "diagnose/hangs/finder.h"

/* When `vertex` last handed a UI event to the program; 0: never. */
static uint64_t handed_ns(const struct view *view, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(view->graph, vertex, &callbacks);
    while (count > 0 && callbacks[count - 1].what != ARGUS_CALLBACK_UI_EVENT)
        count--;
    return count ? callbacks[count - 1].time_ns : 0;
}

static bool add_if_busy(struct finder *finder, const struct habits *habits, struct argus_hang hang)
{
    if (hang.end_ns < hang.start_ns ||
        hang.end_ns - hang.start_ns < finder_threshold(finder, &hang))
        return true;
    hang.vertex = ARGUS_NONE;
    hang_measure(finder->view, &hang);
    return hang.type != ARGUS_TYPE_LONG_RUNNING ||
           hang_is_unnoticed(finder, habits, &hang, false) || finder_add(finder, &hang);
}

bool busy_before_loop(struct finder *finder, const struct habits *habits, uint32_t thread,
                      uint64_t until_ns)
{
    const struct view *view = finder->view;
    const struct argus_thread *t = &view->threads[thread];
    struct argus_hang hang = {.thread = thread,
                              .start_ns = view->vertices[t->first_vertex].start_ns,
                              .indicator = ARGUS_INDICATOR_EVENT_LOOP};
    if (!finder->sees_pending || !finder_has_windows(finder, thread))
        return true;
    bool done = true;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        uint64_t back_ns = timeline_wait_end(view, v), came_ns = handed_ns(view, v);
        bool is_last = timeline_next(view, v) == ARGUS_NONE || vertex->end_ns >= until_ns;
        bool rests = back_ns - vertex->end_ns >= RESTING_NS;
        if (came_ns) {
            hang.end_ns = came_ns;
            done = add_if_busy(finder, habits, hang);
            hang.start_ns = came_ns;
        }
        if (done && (rests || is_last)) {
            hang.end_ns = vertex->end_ns < until_ns ? vertex->end_ns : until_ns;
            hang.ongoing = !rests && timeline_next(view, v) == ARGUS_NONE &&
                           !(vertex->flags & ARGUS_VERTEX_EXITED);
            done = add_if_busy(finder, habits, hang);
            hang.start_ns = back_ns;
        }
        if (is_last)
            break;
    }
    return done;
}

bool waits_at_end(struct finder *finder, uint32_t thread)
{
    const struct view *view = finder->view;
    const struct argus_thread *t = &view->threads[thread];
    const uint64_t end_ns = argus_graph_end_ns(view->graph);
    const struct argus_vertex *last = &view->vertices[t->first_vertex + t->vertex_count - 1];
    struct argus_hang hang = {.thread = thread,
                              .start_ns = last->start_ns,
                              .end_ns = end_ns,
                              .vertex = ARGUS_NONE,
                              .indicator = ARGUS_INDICATOR_EVENT_LOOP,
                              .ongoing = true};
    if (last->wait.outcome != ARGUS_OUTCOME_NEVER || last->wait.kind == ARGUS_WAIT_NONE ||
        last->wait.kind == ARGUS_WAIT_POLL || end_ns < last->end_ns ||
        end_ns - last->end_ns < finder_threshold(finder, &hang) ||
        !thread_hands_events(view, thread) ||
        !thread_leaves_display_unread(view, thread, last->end_ns, end_ns - LONG_PENDING_NS))
        return true;
    hang_measure(view, &hang);
    return finder_add(finder, &hang);
}
