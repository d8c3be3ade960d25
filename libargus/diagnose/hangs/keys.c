/* Which waits the keys of a terminal ended. */
#include "diagnose/hangs/keys.h"

#include "diagnose/hangs/finder.h"
#include "diagnose/vertex_deeds.h"

#define MODE_MASK      0170000u
#define MODE_CHARACTER 0020000u

bool wait_reads_device(const struct argus_wait *wait)
{
    return wait->kind == ARGUS_WAIT_READ && wait->inode &&
           (wait->object_type & MODE_MASK) == MODE_CHARACTER;
}

bool is_device_input(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    if (!timeline_is_kernel(view, edge->from))
        return false;
    const struct argus_wait_detail *ready =
        wait->kind == ARGUS_WAIT_POLL ? wait_detail(view, wait, ARGUS_DETAIL_READY) : NULL;
    return ready ? (ready->arg[3] & MODE_MASK) == MODE_CHARACTER : wait_reads_device(wait);
}

bool is_from_child(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    uint32_t sender = edge->from;
    uint32_t cause =
        timeline_is_kernel(view, sender) ? argus_graph_cause(view->graph, sender) : ARGUS_NONE;
    if (cause != ARGUS_NONE && view->edges[cause].kind == ARGUS_EDGE_WORK)
        sender = view->edges[cause].from;
    return process_descends_from(view, view->threads[view->vertices[sender].thread].process,
                                 view->threads[view->vertices[vertex].thread].process);
}

/* Whether the thread that ended the wait is of the same process and had just got such input. */
static bool is_brought_input(const struct view *view, uint32_t vertex,
                             const struct argus_edge *edge)
{
    uint32_t other = view->vertices[edge->from].thread, thread = view->vertices[vertex].thread;
    if (other == thread || view->threads[other].process != view->threads[thread].process)
        return false;
    uint32_t before = argus_graph_previous(view->graph, edge->from);
    uint32_t cause = argus_graph_cause(view->graph, edge->from);
    return before != ARGUS_NONE && cause != ARGUS_NONE &&
           is_device_input(view, before, &view->edges[cause]);
}

bool is_key(const struct view *view, uint32_t vertex, const struct argus_edge *edge)
{
    return (is_device_input(view, vertex, edge) && !is_from_child(view, vertex, edge)) ||
           is_brought_input(view, vertex, edge);
}

bool was_ended_by_keys(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    return cause != ARGUS_NONE && is_key(view, vertex, &view->edges[cause]);
}
