/* One thread's vertices as a timeline, and what the walks ask of it. */
#ifndef ARGUS_SLICE_TIMELINE_H
#define ARGUS_SLICE_TIMELINE_H

#include "argus/graph.h"

/* The arrays of a graph, got once: every walk needs them in its inner loop. */
struct view {
    const struct argus_graph *graph;
    const struct argus_process *processes;
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    size_t process_count, thread_count, vertex_count, edge_count;
};

struct view view_of(const struct argus_graph *graph);

/* The last vertex of `thread` that starts before `time_ns`; ARGUS_NONE. Unlike argus_graph_vertex_at() it
 * also answers behind the end of the thread's life. O(log n). */
uint32_t timeline_before(const struct view *view, uint32_t thread, uint64_t time_ns);

/* The vertex after `vertex` in its thread; ARGUS_NONE. */
uint32_t timeline_next(const struct view *view, uint32_t vertex);

/* The process of a vertex. */
const struct argus_process *timeline_process(const struct view *view, uint32_t vertex);

/* A kernel or idle thread: causality passes through it, blame does not stay there. */
bool timeline_is_kernel(const struct view *view, uint32_t vertex);

/* Where the wait of `vertex` ended: the start of the next vertex, or the wait's own end if there is none. */
uint64_t timeline_wait_end(const struct view *view, uint32_t vertex);

/* A wait that a signal cut short, or that is none at all (stopped): whoever sent the signal did not do what was waited
 * for, so the time is not explained by what he did before. */
bool timeline_was_cut_short(const struct view *view, uint32_t vertex);

#endif
