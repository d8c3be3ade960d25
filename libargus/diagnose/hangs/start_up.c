/* The start of a program: until its main thread first asked for input. What came before that was
 * pending while the program started, and the thread was not expected to take it. A user who started
 * a program with windows waits for the first one. */
#include <string.h>

#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/keys.h"

static uint64_t first_visit_ns(const struct view *view, uint32_t thread)
{
    const struct argus_visits *visits;
    return argus_graph_thread_visits(view->graph, thread, &visits) ? visits[0].first_ns
                                                                   : UINT64_MAX;
}

/* When `vertex` first took a message of another process; UINT64_MAX: it took none. */
static uint64_t first_message_ns(const struct view *view, uint32_t vertex)
{
    const struct argus_edge *edges;
    const struct argus_vertex *v = &view->vertices[vertex];
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < count; i++)
        if ((edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE) &&
            edges[i].to_ns < first_ns &&
            view->threads[view->vertices[edges[i].from].thread].process !=
                view->threads[v->thread].process)
            first_ns = edges[i].to_ns;
    return first_ns;
}

uint64_t start_up_end(const struct view *view, uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    uint64_t end_ns = first_visit_ns(view, thread);
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        uint64_t message_ns = first_message_ns(view, v);
        if (vertex->start_ns >= end_ns)
            break;
        end_ns = message_ns < end_ns ? message_ns : end_ns;
        if (vertex->wait.kind == ARGUS_WAIT_POLL && vertex->end_ns < end_ns)
            end_ns = vertex->end_ns;
    }
    return end_ns == UINT64_MAX ? 0 : end_ns;
}

/* Whether a file of this path has a probe for UI events. */
static bool hands_ui_events(const struct argus_trace *trace, const char *path)
{
    const struct argus_probe_entry *probes;
    size_t count = argus_trace_probes(trace, &probes);
    for (size_t i = 0; i < count; i++)
        if (probes[i].shape == ARGUS_PROBE_UI && strcmp(probes[i].library, path) == 0)
            return true;
    return false;
}

bool process_has_toolkit(const struct view *view, uint32_t process)
{
    const struct argus_trace *trace = argus_graph_trace(view->graph);
    const struct argus_image_entry *images;
    size_t count = trace ? argus_trace_images(trace, &images) : 0;
    for (size_t i = 0; i < count; i++)
        if (images[i].pid == view->processes[process].pid && hands_ui_events(trace, images[i].path))
            return true;
    return false;
}

/* Whether the wait of `vertex` is for a thread or a device, and not for a time, a child or orders.
 */
static bool is_for_another(const struct argus_wait *wait)
{
    return wait->kind != ARGUS_WAIT_SLEEP && wait->kind != ARGUS_WAIT_CHILD &&
           wait->kind != ARGUS_WAIT_SIGNAL && wait->kind != ARGUS_WAIT_NONE &&
           !(wait->kind == ARGUS_WAIT_READ && wait->object == 0);
}

static bool will_have_windows(const struct finder *finder, const struct argus_hang *hang)
{
    const struct view *view = finder->view;
    return process_has_toolkit(view, view->threads[hang->thread].process) ||
           finder_has_windows(finder, hang->thread) ||
           (hang->ongoing && thread_uses_display(view, hang->thread) &&
            view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_POLL);
}

bool start_up_waits(const struct finder *finder, const struct argus_hang *hang,
                    uint64_t threshold_ns)
{
    const struct view *view = finder->view;
    if (hang->type != ARGUS_TYPE_LONG_WAIT || hang->vertex == ARGUS_NONE)
        return false;
    uint64_t wait_ns = timeline_wait_end(view, hang->vertex) - view->vertices[hang->vertex].end_ns;
    return hang->wait_ns >= threshold_ns && wait_ns >= hang->wait_ns / 2 &&
           is_for_another(&view->vertices[hang->vertex].wait) &&
           !was_ended_by_keys(view, hang->vertex) && will_have_windows(finder, hang);
}

/* That a toolkit is mapped is not enough: a program with windows may also be run as a command, as
 * an editor that compiles its own code. */
bool process_connects_to_display(const struct finder *finder, uint32_t thread)
{
    const struct view *view = finder->view;
    for (uint32_t i = 0; i < view->thread_count; i++)
        if (view->threads[i].process == view->threads[thread].process &&
            thread_uses_display(view, i))
            return true;
    return finder_has_windows(finder, thread);
}

bool start_up_starves(const struct finder *finder, const struct argus_hang *hang,
                      uint64_t threshold_ns)
{
    return hang->nature == ARGUS_NATURE_NO_CPU && hang->runnable_ns >= threshold_ns &&
           process_connects_to_display(finder, hang->thread);
}
