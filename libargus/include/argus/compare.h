/* Compares the graph with the one that traditional causal tracing would build from the same
 * records, as the Argus paper does (section 6, table 2).
 *
 * The traditional graph is called the plain graph. It is built by a second pass over the records
 * (libargus/graph/inspect/plain.c): a vertex lasts from one blocking wait of a thread to the next,
 * and each wake-up and each message is an edge. A wake-up from an interrupt is charged to the
 * interrupted thread. Nothing is split, culled or merged, and no edge is weak.
 */
#ifndef ARGUS_COMPARE_H
#define ARGUS_COMPARE_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_plain_vertex {
    uint64_t start_ns, end_ns; /* start: woken or first seen; end: began to wait or last seen */
    uint32_t thread;           /* index in the graph */
};

struct argus_plain_edge {
    uint64_t from_ns, to_ns;
    uint32_t from, to;
    bool message; /* true: a message; false: a wake-up */
};

struct argus_plain;

/* Reads the records of the graph's trace twice. `graph` is borrowed and must outlive the result. */
struct argus_error *argus_plain_build(const struct argus_graph *graph, argus_progress progress,
                                      void *context, struct argus_plain **ret);
void argus_plain_destroy(struct argus_plain *plain);
/* Vertices are sorted by thread, then time; edges by target. Borrowed. */
size_t argus_plain_vertices(const struct argus_plain *plain, const struct argus_plain_vertex **ret);
size_t argus_plain_edges(const struct argus_plain *plain, const struct argus_plain_edge **ret);

/* --- the comparison --- */

/* How far a backward walk from the end of a wait reaches, over all edges. */
struct argus_reach {
    uint64_t median, most;
};

struct argus_graph_figures {
    uint64_t vertices, edges;
    uint64_t several_causes; /* vertices with two or more incoming edges, sequence not counted */
    /* vertices of programs that two or more other applications caused, or that caused something in
     * two or more others */
    uint64_t mixed;
    /* vertices on the way back, the first one included, and the number of their processes … */
    struct argus_reach reach, processes;
    /* … and the same over causes that lie within the wait only */
    struct argus_reach window_reach, window_processes;
};

/* What the full graph made of an edge of the plain graph. */
enum argus_edge_fate {
    ARGUS_FATE_STRONG, /* the graph has it as a strong edge */
    ARGUS_FATE_WEAK,   /* the graph has it as a weak edge: a walk asks before it follows */
    /* the graph names another cause: the thread that armed the timer, issued the request, queued
     * the work … */
    ARGUS_FATE_MOVED,
    ARGUS_FATE_CULLED, /* the graph dropped it: nothing in the trace is the cause */
    /* no vertex begins there: a wait that went on, a turn of a loop, a message that adds nothing */
    ARGUS_FATE_MERGED,
    ARGUS_FATES
};
const char *argus_edge_fate_name(enum argus_edge_fate fate);

/* What one rule did to edges. */
struct argus_rule_edges {
    uint64_t strong, weak;
};

struct argus_comparison {
    struct argus_graph_figures plain;
    /* the graph without its weak edges: what a walk follows without asking */
    struct argus_graph_figures strong;
    struct argus_graph_figures all;
    /* fates of the plain graph's edges */
    uint64_t wakeup_fates[ARGUS_FATES], message_fates[ARGUS_FATES];
    struct argus_rule_edges *rules; /* owned; by row of argus_graph_rules() */
    size_t rule_count;
    uint64_t split_vertices; /* vertices that begin at a split or a callback, not at a wait */
    /* number of waits from which the reach was measured: the longest ones that ended */
    uint64_t waits;
};

/* `waits`: how many of the longest waits to walk back from, each from the vertex behind it. */
struct argus_error *argus_compare(const struct argus_graph *graph, size_t waits,
                                  argus_progress progress, void *context,
                                  struct argus_comparison *ret);
void argus_comparison_deinit(struct argus_comparison *comparison);

#ifdef __cplusplus
}
#endif
#endif
