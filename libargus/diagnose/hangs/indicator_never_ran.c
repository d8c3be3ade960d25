/* A program with windows that waited from before the first record to the end, and left what was
 * sent to it unread: it froze before the recording began. No loop of it is known, since it made no
 * turn. Its wait comes from the records at the end (graph/build/on_waiting.c). A program whose wait
 * is for input would have been woken by what was sent.
 */
#include "base/lower_bound.h"
#include "diagnose/hangs/finder.h"

static bool left_messages(const struct view *view, uint32_t thread)
{
    const struct argus_unread *unread;
    size_t first, count = argus_graph_unread(view->graph, &unread);
    LOWER_BOUND(first, count, unread[first].receiver < thread);
    return first < count && unread[first].receiver == thread &&
           unread[first].sent_ns + LONG_PENDING_NS <= argus_graph_end_ns(view->graph);
}

bool thread_never_ran(const struct view *view, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_vertex *only = &view->vertices[t->first_vertex];
    return t->vertex_count == 1 && only->run_ns == 0 && only->runnable_ns == 0 &&
           only->wait.kind != ARGUS_WAIT_NONE && only->wait.outcome == ARGUS_OUTCOME_NEVER;
}

static bool add_if_frozen(struct finder *finder, uint32_t thread)
{
    const struct view *view = finder->view;
    const struct argus_thread *t = &view->threads[thread];
    if (!hang_is_wanted(view, finder->options, thread) ||
        t->tid != view->processes[t->process].pid || !thread_never_ran(view, thread) ||
        !left_messages(view, thread) || !process_has_toolkit(view, t->process))
        return true;
    struct argus_hang hang = {.thread = thread,
                              .start_ns = view->vertices[t->first_vertex].start_ns,
                              .end_ns = argus_graph_end_ns(view->graph),
                              .vertex = ARGUS_NONE,
                              .indicator = ARGUS_INDICATOR_NEVER_RAN,
                              .ongoing = true};
    if (hang.end_ns - hang.start_ns < finder_threshold(finder, &hang))
        return true;
    hang_measure(view, &hang);
    return finder_add(finder, &hang);
}

bool indicator_never_ran(struct finder *finder)
{
    bool done = true;
    for (uint32_t thread = 0; done && thread < finder->view->thread_count; thread++)
        done = add_if_frozen(finder, thread);
    return done;
}
