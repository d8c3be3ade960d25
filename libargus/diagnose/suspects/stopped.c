/* Finds the process that was stopped while something that it should have received stayed pending.
 *
 * If no thread was seen to use the receiving end of a channel, and the recording does not say which
 * process has it open, then one of the processes that did not run has it. A process that a signal
 * or a debugger has stopped is one of these, and stopping is rare. It is a guess, and only made if
 * one process was stopped.
 */
#include "diagnose/suspects/suspect_search.h"

/* Whether `thread` was stopped for at least half of `window`, up to its end. */
static bool is_stopped(const struct view *view, uint32_t thread, struct window window)
{
    uint32_t v = timeline_before(view, thread, window.end_ns);
    if (v == ARGUS_NONE || view->vertices[v].wait.kind != ARGUS_WAIT_STOPPED)
        return false;
    return view->vertices[v].end_ns <= window.start_ns + window_ns(window) / 2 &&
           timeline_wait_end(view, v) >= window.end_ns;
}

uint32_t find_stopped(const struct view *view, struct window window)
{
    uint32_t found = ARGUS_NONE;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *thread = &view->threads[i];
        if (!thread->vertex_count || !is_stopped(view, i, window))
            continue;
        if (found != ARGUS_NONE && view->threads[found].process != thread->process)
            return ARGUS_NONE;
        if (found == ARGUS_NONE || view->processes[thread->process].main_thread == i)
            found = i;
    }
    return found;
}
