#include "slice/timeline.h"

#include "base/lower_bound.h"

struct view view_of(const struct argus_graph *graph)
{
    struct view view = {.graph = graph};
    view.process_count = argus_graph_processes(graph, &view.processes);
    view.thread_count = argus_graph_threads(graph, &view.threads);
    view.vertex_count = argus_graph_vertices(graph, &view.vertices);
    view.edge_count = argus_graph_edges(graph, &view.edges);
    return view;
}

uint32_t timeline_before(const struct view *view, uint32_t thread, uint64_t time_ns)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t first; /* index of the first vertex that starts at time_ns or later */
    LOWER_BOUND(first, t->vertex_count, view->vertices[t->first_vertex + first].start_ns < time_ns);
    return first > 0 ? t->first_vertex + first - 1 : ARGUS_NONE;
}

uint32_t timeline_next(const struct view *view, uint32_t vertex)
{
    const struct argus_thread *t = &view->threads[view->vertices[vertex].thread];
    return vertex + 1 < t->first_vertex + t->vertex_count ? vertex + 1 : ARGUS_NONE;
}

const struct argus_process *timeline_process(const struct view *view, uint32_t vertex)
{
    return &view->processes[view->threads[view->vertices[vertex].thread].process];
}

bool timeline_is_kernel(const struct view *view, uint32_t vertex)
{
    return timeline_process(view, vertex)->kernel ||
           view->threads[view->vertices[vertex].thread].idle;
}

uint64_t timeline_wait_end(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t next = timeline_next(view, vertex);
    if (next != ARGUS_NONE)
        return view->vertices[next].start_ns;
    return v->wait.kind != ARGUS_WAIT_NONE && v->wait.end_ns > v->end_ns ? v->wait.end_ns
                                                                         : v->end_ns;
}

uint32_t timeline_device_server(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t edge = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (!view->vertices[vertex].wait.by_device || edge == ARGUS_NONE ||
        !timeline_is_kernel(view, view->edges[edge].from))
        return ARGUS_NONE;
    return view->vertices[view->edges[edge].from].thread;
}

/* A killed thread's system call need not return before the trace ends; then only the wake-up
 * tells. */
static bool was_ended_by_signal(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_SIGNAL &&
           !view->vertices[vertex].wait.has_result &&
           view->vertices[vertex].wait.kind != ARGUS_WAIT_CHILD;
}

bool timeline_was_cut_short(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    bool cut = wait->outcome == ARGUS_OUTCOME_KILLED ||
               wait->outcome == ARGUS_OUTCOME_INTERRUPTED || was_ended_by_signal(view, vertex);
    return wait->kind == ARGUS_WAIT_STOPPED ||
           (wait->kind == ARGUS_WAIT_SIGNAL ? wait->outcome == ARGUS_OUTCOME_KILLED : cut);
}

/* Whether `before`, the vertex before `vertex`, ends in the same wait, which a signal
 * interrupted. */
static bool is_resumed(const struct view *view, uint32_t before, uint32_t vertex)
{
    const struct argus_wait *first = &view->vertices[before].wait,
                            *second = &view->vertices[vertex].wait;
    return first->outcome == ARGUS_OUTCOME_INTERRUPTED && first->kind == second->kind &&
           first->syscall == second->syscall && first->object == second->object;
}

uint32_t timeline_wait_begin(const struct view *view, uint32_t vertex)
{
    uint32_t first = view->threads[view->vertices[vertex].thread].first_vertex;
    while (vertex > first && is_resumed(view, vertex - 1, vertex))
        vertex--;
    return vertex;
}

/* Whether `vertex` goes on with the wait of the vertex before it, whose time was over: the same
 * call at the same place, after next to no work. glibc's conditions take turns with two futexes, so
 * the object may differ. */
static bool goes_on_with(const struct view *view, uint32_t before, uint32_t vertex)
{
    const struct argus_wait *first = &view->vertices[before].wait,
                            *second = &view->vertices[vertex].wait;
    bool has_pieces = first->kind == ARGUS_WAIT_FUTEX || first->kind == ARGUS_WAIT_POLL;
    bool is_same = first->kind == second->kind && first->syscall == second->syscall &&
                   first->user_stack == second->user_stack && first->user_stack != ARGUS_NONE;
    return has_pieces && is_same && first->outcome == ARGUS_OUTCOME_TIMED_OUT &&
           view->vertices[vertex].run_ns <=
               (timeline_wait_end(view, before) - view->vertices[before].end_ns) / 100;
}

struct timeline_pieces timeline_pieces(const struct view *view, uint32_t vertex)
{
    const struct argus_thread *thread = &view->threads[view->vertices[vertex].thread];
    uint32_t end = thread->first_vertex + thread->vertex_count;
    struct timeline_pieces ret = {.first = vertex, .last = vertex};
    while (ret.first > thread->first_vertex && goes_on_with(view, ret.first - 1, ret.first))
        ret.first--;
    while (ret.last + 1 < end && goes_on_with(view, ret.last, ret.last + 1))
        ret.last++;
    ret.count = ret.last - ret.first + 1;
    ret.start_ns = view->vertices[ret.first].end_ns;
    ret.end_ns = timeline_wait_end(view, ret.last);
    return ret;
}
