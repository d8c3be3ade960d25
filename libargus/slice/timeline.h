/* One thread's vertices as a timeline, with the queries that walks need. */
#ifndef ARGUS_SLICE_TIMELINE_H
#define ARGUS_SLICE_TIMELINE_H

#include "argus/graph.h"

/* The arrays of a graph, fetched once, because every walk needs them in its inner loop. */
struct view {
    const struct argus_graph *graph;
    const struct argus_process *processes;
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    size_t process_count, thread_count, vertex_count, edge_count;
};

struct view view_of(const struct argus_graph *graph);

/* The last vertex of `thread` that starts before `time_ns`; ARGUS_NONE: none. Unlike
 * argus_graph_vertex_at(), it also answers for times after the end of the thread's life. O(log
 * n). */
uint32_t timeline_before(const struct view *view, uint32_t thread, uint64_t time_ns);

/* The next vertex of the same thread; ARGUS_NONE: none. */
uint32_t timeline_next(const struct view *view, uint32_t vertex);

/* The process of a vertex. */
const struct argus_process *timeline_process(const struct view *view, uint32_t vertex);

/* Whether it is a kernel or idle thread: causality passes through it, but it is never blamed. */
bool timeline_is_kernel(const struct view *view, uint32_t vertex);

/* The end of the wait of `vertex`: the start of the next vertex, or the wait's own end if there is
 * none. */
uint64_t timeline_wait_end(const struct view *view, uint32_t vertex);

/* The kernel's thread that ended the wait of `vertex` when its device had something for it;
 * ARGUS_NONE: no device ended it, or the interrupt itself did. */
uint32_t timeline_device_server(const struct view *view, uint32_t vertex);

/* Whether a signal cut the wait short, or it is no real wait (stopped). The sender of the signal
 * did not do what was waited for, so its earlier work does not explain the time. */
bool timeline_was_cut_short(const struct view *view, uint32_t vertex);

/* The vertex in which the thread began the wait of `vertex`. It is an earlier one if signals
 * interrupted the wait and the thread resumed it each time: the same call with the same object. */
uint32_t timeline_wait_begin(const struct view *view, uint32_t vertex);

/* A wait in pieces: a thread that gives a condition, a lock or a poll a time-out, looks, and waits
 * again at the same place. Only the last piece may have been ended by another thread. */
struct timeline_pieces {
    uint32_t first, last; /* vertices, from the first piece to the last; both are included */
    uint32_t count;
    uint64_t start_ns, end_ns;
};

/* The pieces around the wait of `vertex`; it alone (count is 1) if it is in one piece. */
struct timeline_pieces timeline_pieces(const struct view *view, uint32_t vertex);

#endif
