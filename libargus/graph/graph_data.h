/* The inside of struct argus_graph: flat arrays that the builder fills and the accessors hand out. */
#ifndef ARGUS_GRAPH_GRAPH_DATA_H
#define ARGUS_GRAPH_GRAPH_DATA_H

#include "argus/graph.h"
#include "base/vec.h"
#include "event/machine.h"
#include "event/stacks.h"
#include "graph/rules.h"

struct argus_graph {
    const struct argus_trace *trace; /* borrowed */
    struct machine machine;
    struct stacks stacks;
    VEC(struct argus_vertex) vertices;    /* by thread, then time */
    VEC(struct argus_edge) edges;         /* by target, then time */
    VEC(struct argus_op) ops;             /* by vertex */
    VEC(struct argus_sample) samples;     /* by vertex, then time */
    VEC(struct argus_callback) callbacks; /* by vertex, then time */
    VEC(struct argus_wait_detail) details;
    VEC(struct argus_object_use) uses; /* by inode, then thread */
    VEC(struct argus_visits) visits;   /* by thread, then time */
    VEC(struct argus_unread) unread;   /* by receiver, then time */
    VEC(struct argus_suspension) suspensions;
    uint32_t *in_first;  /* owned; vertex count + 1 */
    uint32_t *out_first; /* owned; vertex count + 1 */
    uint32_t *out_edges; /* owned; edge count: by source, then time */
    struct argus_rule rules[RULE_COUNT];
    uint64_t start_ns, end_ns;
    uint64_t rule_set; /* identity of the user's rules by which it was built; 0: none */
    double build_seconds;
    char *loaded_from; /* path of the file that is mapped; owned; NULL: it was built */
    void *mapped; /* the file that the arrays are in: graph_load.c; owned; NULL: they are vectors */
    size_t mapped_bytes;
    uint64_t damaged_chunks;
    struct argus_message_counts messages;
};

/* The last vertex of `thread` that starts at or before `time_ns`, or its first one; ARGUS_NONE if it has none. O(log n). */
uint32_t graph_vertex_started(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns);

/* NULL, or a sentence in `buffer` that says what is wrong with the graph: times in order, edges inside their vertices,
 * no strong edge backward in time, ids in range, adjacency complete. For tests; O(vertices + edges). */
const char *graph_check(const struct argus_graph *graph, char *buffer, size_t buffer_bytes);

#endif
