/* Which threads have windows. Any of these shows it:
 *   - the thread hands UI events to the program (a probe in a toolkit reports them);
 *   - it reads an event that only windows get (a probe in the display server's client library);
 *   - it receives something from a display server that it did not ask for. This also works for
 *     programs without a toolkit that the probes know, and without probes. A program that only
 *     sends requests and takes the answers, like a tool that reads the pointer's position, has no
 *     window. When a recording ends, the recorder notes which processes are display servers.
 */
#include "base/lower_bound.h"
#include "diagnose/hangs/answered_waits.h"
#include "diagnose/hangs/finder.h"

static bool hands_event(const struct view *view, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(view->graph, vertex, &callbacks);
    for (size_t i = 0; i < count; i++)
        if (callbacks[i].what == ARGUS_CALLBACK_UI_EVENT)
            return true;
    return false;
}

static bool reads_window_event(const struct view *view, uint32_t vertex)
{
    const struct argus_callback *callbacks;
    size_t count = argus_graph_callbacks(view->graph, vertex, &callbacks);
    for (size_t i = 0; i < count; i++)
        if (callbacks[i].what == ARGUS_CALLBACK_UI_READ && callbacks[i].ui_event != ARGUS_UI_OTHER)
            return true;
    return false;
}

bool thread_serves_display(const struct view *view, uint32_t thread)
{
    return view->processes[view->threads[thread].process].serves_display;
}

static bool is_display(const struct view *view, uint32_t vertex, uint32_t own)
{
    uint32_t thread = view->vertices[vertex].thread;
    return thread_serves_display(view, thread) && view->threads[thread].process != own;
}

static bool is_from_display(const struct view *view, uint32_t vertex, uint32_t edge)
{
    return is_display(view, view->edges[edge].from,
                      view->threads[view->vertices[vertex].thread].process);
}

/* Whether a display server ended the wait before `vertex`, and not with an answer. */
static bool receives_event(const struct view *view, uint32_t vertex)
{
    uint32_t cause = argus_graph_cause(view->graph, vertex);
    if (cause == ARGUS_NONE || !is_from_display(view, vertex, cause))
        return false;
    uint32_t before = argus_graph_previous(view->graph, vertex);
    return before != ARGUS_NONE && !is_answered_wait(view, before);
}

static bool any_vertex(const struct view *view, uint32_t thread,
                       bool (*is_sign)(const struct view *view, uint32_t vertex))
{
    const struct argus_thread *t = &view->threads[thread];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++)
        if (is_sign(view, v))
            return true;
    return false;
}

bool thread_hands_events(const struct view *view, uint32_t thread)
{
    return any_vertex(view, thread, hands_event);
}

bool thread_leaves_display_unread(const struct view *view, uint32_t thread, uint64_t first_ns,
                                  uint64_t last_ns)
{
    const struct argus_unread *unread;
    size_t i, count = argus_graph_unread(view->graph, &unread);
    LOWER_BOUND(i, count, unread[i].receiver < thread);
    for (; i < count && unread[i].receiver == thread; i++)
        if (unread[i].sent_ns >= first_ns && unread[i].sent_ns < last_ns &&
            thread_serves_display(view, unread[i].sender))
            return true;
    return false;
}

bool vertex_sends_to_display(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    uint32_t own = view->threads[view->vertices[vertex].thread].process;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    for (size_t i = 0; i < count; i++)
        if (is_display(view, view->edges[out[i]].to, own))
            return true;
    return false;
}

/* Whether it receives from a display server, or sends to one: a toolkit of Java draws in a thread
 * whose answers another one may take. */
static bool uses_display(const struct view *view, uint32_t vertex)
{
    const struct argus_edge *edges;
    uint32_t own = view->threads[view->vertices[vertex].thread].process;
    size_t count = argus_graph_in_edges(view->graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (is_display(view, edges[i].from, own))
            return true;
    return vertex_sends_to_display(view, vertex);
}

bool thread_uses_display(const struct view *view, uint32_t thread)
{
    return any_vertex(view, thread, uses_display);
}

bool finder_has_windows(const struct finder *finder, uint32_t thread)
{
    uint8_t *answer = &finder->windows[thread];
    if (*answer == WINDOWS_NOT_ASKED)
        *answer = thread_hands_events(finder->view, thread) ||
                          any_vertex(finder->view, thread, receives_event) ||
                          any_vertex(finder->view, thread, reads_window_event)
                      ? WINDOWS_SOME
                      : WINDOWS_NONE;
    return *answer == WINDOWS_SOME;
}
