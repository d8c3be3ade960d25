/* What ended the last long wait of a thread tells why it ended. Short waits and waits for disks
 * come after that: a server that was told to end still writes its files. The end of a child is no
 * such reason, although it sends a signal.
 *
 * A thread that is killed, or whose process another thread ends, returns from its wait into the
 * kernel's exit. */
#include "context/led_lives.h"

#define SHORT_WAIT 100 /* shorter than this part of the life */

/* The edge from another thread that ended the wait before `vertex`; NULL: none. */
static const struct argus_edge *ender_of(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_edge *edges;
    const struct argus_vertex *vertices;
    argus_graph_edges(graph, &edges);
    argus_graph_vertices(graph, &vertices);
    uint32_t cause = argus_graph_cause(graph, vertex);
    if (cause == ARGUS_NONE || vertices[edges[cause].from].thread == vertices[vertex].thread)
        return NULL;
    return &edges[cause];
}

static bool is_minor(const struct argus_graph *graph, const struct argus_edge *edge,
                     const struct argus_vertex *vertex)
{
    uint64_t life_ns = led_life_ns(graph, vertex->thread, 0);
    return vertex->wait.by_device || argus_vertex_wait_ns(vertex) < life_ns / SHORT_WAIT ||
           (edge && (edge->kind == ARGUS_EDGE_BLOCK || edge->kind == ARGUS_EDGE_WORK));
}

/* Whether the thread of `edge`, which ended the wait of `last`, told that thread to end: by a
 * signal, or as the worker of its process. A main thread ends when its work is done, also if a
 * worker handed that over last. The last segment of a thread that ends its process interrupts all
 * other threads; one that ends alone only wakes those that wait for it. */
static bool tells_to_end(const struct argus_graph *graph, const struct argus_edge *edge,
                         const struct argus_vertex *last)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_vertices(graph, &vertices);
    argus_graph_threads(graph, &threads);
    argus_graph_processes(graph, &processes);
    uint32_t from = vertices[edge->from].thread, process = threads[last->thread].process;
    bool is_own = threads[from].process == process;
    if (vertices[edge->from].flags & ARGUS_VERTEX_EXITED)
        return is_own && last->wait.outcome == ARGUS_OUTCOME_INTERRUPTED;
    return edge->kind == ARGUS_EDGE_SIGNAL ||
           (is_own && processes[process].main_thread != last->thread);
}

bool led_life_is(const struct argus_graph *graph, uint32_t thread, bool by_trace)
{
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    argus_graph_threads(graph, &threads);
    argus_graph_vertices(graph, &vertices);
    uint32_t first = threads[thread].first_vertex, at = first + threads[thread].vertex_count;
    if (at == first || !(vertices[at - 1].flags & ARGUS_VERTEX_EXITED))
        return by_trace;
    while (--at > first) {
        const struct argus_edge *edge = ender_of(graph, at);
        if (vertices[at - 1].wait.outcome == ARGUS_OUTCOME_KILLED ||
            (edge && tells_to_end(graph, edge, &vertices[at - 1])))
            return true;
        if (!is_minor(graph, edge, &vertices[at - 1]))
            return false;
    }
    return false;
}

/* When the thread began the wait in which the trace ended; `end_ns`: it has ended, or was at
 * work. */
static uint64_t without_open_wait(const struct argus_graph *graph,
                                  const struct argus_thread *thread, uint64_t end_ns)
{
    const struct argus_vertex *vertices;
    argus_graph_vertices(graph, &vertices);
    if (!thread->vertex_count)
        return end_ns;
    const struct argus_vertex *last = &vertices[thread->first_vertex + thread->vertex_count - 1];
    bool is_open = !(last->flags & ARGUS_VERTEX_EXITED) && last->wait.kind != ARGUS_WAIT_NONE;
    return is_open && last->end_ns < end_ns ? last->end_ns : end_ns;
}

uint64_t led_life_ns(const struct argus_graph *graph, uint32_t thread, uint64_t since_ns)
{
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_threads(graph, &threads);
    argus_graph_processes(graph, &processes);
    uint64_t exec_ns = processes[threads[thread].process].exec_ns;
    uint64_t from_ns = threads[thread].start_ns, to_ns = threads[thread].end_ns;
    uint64_t first_ns = argus_graph_start_ns(graph), last_ns = argus_graph_end_ns(graph);
    from_ns = from_ns > first_ns ? from_ns : first_ns;
    from_ns = from_ns > since_ns ? from_ns : since_ns;
    from_ns = from_ns > exec_ns ? from_ns : exec_ns;
    to_ns = without_open_wait(graph, &threads[thread], to_ns < last_ns ? to_ns : last_ns);
    return to_ns > from_ns ? to_ns - from_ns : 0;
}
