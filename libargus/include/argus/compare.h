/* The graph beside the one that traditional causal tracing would have made of the same records: the comparison of the Argus paper
 * (section 6, table 2).
 *
 * The plain graph is really built, by a second look at the records (libargus/graph/inspect/plain.c): a vertex from one blocking wait of a
 * thread to the next, an edge for each wake-up and each message, nothing else. A wake-up out of an interrupt is charged to the
 * thread that was interrupted; nothing is split, culled, merged, or doubted.
 */
#ifndef ARGUS_COMPARE_H
#define ARGUS_COMPARE_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_plain_vertex {
    uint64_t start_ns, end_ns; /* woken or first seen; began to wait, or last seen */
    uint32_t thread;           /* of the graph */
};

struct argus_plain_edge {
    uint64_t from_ns, to_ns;
    uint32_t from, to;
    bool message; /* otherwise a wake-up */
};

struct argus_plain;

/* Reads the records of the graph's trace twice. `graph` is borrowed and must outlive the result. */
struct argus_error *argus_plain_build(const struct argus_graph *graph, argus_progress progress,
                                      void *context, struct argus_plain **ret);
void argus_plain_destroy(struct argus_plain *plain);
/* By thread, then time; and in the order of their targets. Borrowed. */
size_t argus_plain_vertices(const struct argus_plain *plain, const struct argus_plain_vertex **ret);
size_t argus_plain_edges(const struct argus_plain *plain, const struct argus_plain_edge **ret);

/* --- the comparison --- */

/* How far one goes back from the end of a wait, over all edges that are there. */
struct argus_reach {
    uint64_t median, most;
};

struct argus_graph_figures {
    uint64_t vertices, edges;
    uint64_t several_causes; /* vertices with two or more incoming edges, sequence not counted */
    uint64_t
        mixed; /* vertices of programs that two or more other applications caused, or that caused something in two or more */
    struct argus_reach reach,
        processes; /* vertices, the first one counted, and the processes that they are of … */
    struct argus_reach window_reach,
        window_processes; /* … and over causes that lie within the wait only */
};

/* What became of an edge of the plain graph. */
enum argus_edge_fate {
    ARGUS_FATE_STRONG, /* the graph has it */
    ARGUS_FATE_WEAK,   /* it has it, but a walk asks before it follows */
    ARGUS_FATE_MOVED, /* another one is the cause: who armed the timer, issued the request, queued the work … */
    ARGUS_FATE_CULLED, /* nobody in the trace is the cause */
    ARGUS_FATE_MERGED, /* nothing begins there: a wait that went on, a turn of a loop, a message that says nothing new */
    ARGUS_FATES
};
const char *argus_edge_fate_name(enum argus_edge_fate fate);

/* What one rule did to edges. */
struct argus_rule_edges {
    uint64_t strong, weak;
};

struct argus_comparison {
    struct argus_graph_figures plain;
    struct argus_graph_figures
        strong; /* the graph without its weak edges: what a walk follows without asking */
    struct argus_graph_figures all;
    uint64_t wakeup_fates[ARGUS_FATES], message_fates[ARGUS_FATES]; /* of the plain graph's edges */
    struct argus_rule_edges *rules; /* owned; by row of argus_graph_rules() */
    size_t rule_count;
    uint64_t split_vertices; /* that begin at a split or a callback, not at a wait */
    uint64_t waits;          /* from which the reach was measured: the longest that ended */
};

/* `waits`: from the beginning of how many vertices behind the longest waits to go back. */
struct argus_error *argus_compare(const struct argus_graph *graph, size_t waits,
                                  argus_progress progress, void *context,
                                  struct argus_comparison *ret);
void argus_comparison_deinit(struct argus_comparison *comparison);

#ifdef __cplusplus
}
#endif
#endif
