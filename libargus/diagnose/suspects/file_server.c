/* Finds the server of a file for which a thread waits.
 *
 * A call for a file, or a page fault, looks the same whether the file is on a disk or in a file
 * system in user space. But of the latter, the kernel hands the request to the server: the waiting
 * thread wakes a thread of another process that reads a device (/dev/fuse), and it does so in the
 * same call or fault in which it then waits. A disk's request wakes only threads of the kernel.
 *
 * A server that is busy is not woken. It is guessed if
 *   - the wait is for a file, but a signal can end it (a wait for a disk cannot be ended so);
 *   - the same process last asked this server for something;
 *   - the server does not come back to read requests while the thread waits.
 */
#include "diagnose/suspects/file_server.h"
#include "diagnose/hangs/keys.h"

#include "diagnose/suspects/chunk_records.h"
#include "diagnose/vertex_deeds.h"
#include "event/tracepoints.h"
#include "graph/text/object_text.h"

#define MOST_LOOKED 256 /* vertices of a thread that may have asked a server */

/* --- whether a system call of the thread began or ended in a window --- */

struct call_search {
    const struct argus_trace *trace;
    uint64_t tid;
    struct window window;
    bool found;
};

static bool find_call(void *context, struct argus_record *records, size_t count)
{
    struct call_search *search = context;
    for (size_t i = 0; i < count && !search->found; i++) {
        if (records[i].tid != search->tid || !tracepoint_is_syscall(records[i].debugid))
            continue;
        uint64_t time_ns = argus_trace_ticks_to_ns(search->trace, records[i].timestamp);
        search->found = time_ns > search->window.start_ns && time_ns <= search->window.end_ns;
    }
    return true;
}

/* Whether the wake-up of `edge` was in the call, or outside of any, in which its thread then
 * waited. */
static struct argus_error *is_of_wait(const struct view *view, const struct argus_edge *edge,
                                      bool *ret)
{
    const struct argus_vertex *v = &view->vertices[edge->from];
    struct call_search search = {.trace = argus_graph_trace(view->graph),
                                 .tid = view->threads[v->thread].tid,
                                 .window = {edge->from_ns, v->end_ns}};
    struct argus_error *error =
        chunk_records_read_window(search.trace, search.window, find_call, &search);
    *ret = !error && !search.found;
    return error;
}

/* --- the server --- */

/* Whether the wait is in a call for a file, and a signal can end it, as one for such a server: so
 * the kernel does not count it as one for a disk. */
static bool is_interruptible(const struct view *view, const struct argus_wait *wait)
{
    switch (wait->kind) {
    case ARGUS_WAIT_READ:
    case ARGUS_WAIT_WRITE:
        return object_is_file(wait->object_type);
    case ARGUS_WAIT_OTHER:
        return wait_detail(view, wait, ARGUS_DETAIL_PATH) != NULL;
    default:
        return false;
    }
}

static bool is_for_file(const struct view *view, const struct argus_wait *wait)
{
    return wait->kind == ARGUS_WAIT_DISK || wait->kind == ARGUS_WAIT_FAULT ||
           is_interruptible(view, wait);
}

/* Whether nothing ended the wait of `vertex` in `window`, or only a signal. */
static bool is_owed(const struct view *view, uint32_t vertex, struct window window)
{
    return !view->vertices[vertex].wait.by_device &&
           (timeline_next(view, vertex) == ARGUS_NONE ||
            timeline_wait_end(view, vertex) > window.end_ns ||
            timeline_was_cut_short(view, vertex));
}

/* Whether the edge ended another program's wait for requests from a device. */
static bool wakes_server(const struct view *view, const struct argus_edge *edge)
{
    uint32_t before = argus_graph_previous(view->graph, edge->to);
    return edge->kind == ARGUS_EDGE_WAKE && edge->strong && before != ARGUS_NONE &&
           view->threads[view->vertices[edge->to].thread].process !=
               view->threads[view->vertices[edge->from].thread].process &&
           wait_reads_device(&view->vertices[before].wait);
}

/* The last edge by which `vertex` woke a program's thread; NULL: none. */
static const struct argus_edge *last_wakeup(const struct view *view, uint32_t vertex)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    const struct argus_edge *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        if (edge->kind == ARGUS_EDGE_SEQUENCE || edge->kind == ARGUS_EDGE_TIMER ||
            timeline_is_kernel(view, edge->to))
            continue;
        last = !last || edge->from_ns >= last->from_ns ? edge : last;
    }
    return last;
}

/* --- a server that is busy with an earlier request --- */

/* The last request of `thread` before `time_ns`; NULL: none of its last vertices made one. */
static const struct argus_edge *last_request(const struct view *view, uint32_t thread,
                                             uint64_t time_ns)
{
    uint32_t v = timeline_before(view, thread, time_ns);
    for (int i = 0; i < MOST_LOOKED && v != ARGUS_NONE; i++) {
        const struct argus_edge *edge = last_wakeup(view, v);
        if (edge && edge->from_ns < time_ns && wakes_server(view, edge))
            return edge;
        v = argus_graph_previous(view->graph, v);
    }
    return NULL;
}

/* Whether the thread waits for requests at some time in the window. */
static bool reads_requests(const struct view *view, uint32_t thread, struct window window)
{
    for (uint32_t v = timeline_before(view, thread, window.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < window.end_ns; v = timeline_next(view, v))
        if (wait_reads_device(&view->vertices[v].wait) &&
            timeline_wait_end(view, v) > window.start_ns &&
            view->vertices[v].end_ns < window.end_ns)
            return true;
    return false;
}

static uint32_t find_busy(const struct view *view, uint32_t vertex, struct window window)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_edge *last = NULL;
    if (!is_interruptible(view, &v->wait))
        return ARGUS_NONE;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        if (view->threads[i].process != view->threads[v->thread].process)
            continue;
        const struct argus_edge *edge = last_request(view, i, v->end_ns);
        if (edge && (!last || edge->from_ns > last->from_ns))
            last = edge;
    }
    if (!last)
        return ARGUS_NONE;
    uint32_t server = view->vertices[last->to].thread;
    struct window wait = {v->end_ns, window.end_ns};
    return reads_requests(view, server, wait) ? ARGUS_NONE : server;
}

struct argus_error *file_server_find(const struct view *view, uint32_t vertex, struct window window,
                                     uint32_t *ret, bool *ret_busy)
{
    *ret = ARGUS_NONE;
    *ret_busy = false;
    if (!is_owed(view, vertex, window) || timeline_is_kernel(view, vertex) ||
        !argus_graph_trace(view->graph))
        return NULL;
    const struct argus_edge *edge =
        is_for_file(view, &view->vertices[vertex].wait) ? last_wakeup(view, vertex) : NULL;
    bool is_server = false;
    struct argus_error *error =
        edge && wakes_server(view, edge) ? is_of_wait(view, edge, &is_server) : NULL;
    if (is_server)
        *ret = view->vertices[edge->to].thread;
    else if (!error)
        *ret = find_busy(view, vertex, window);
    *ret_busy = !is_server && *ret != ARGUS_NONE;
    return error;
}
