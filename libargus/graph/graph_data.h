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
    /* All vectors: vertices, edges … Another one is a row in that table, so that it is saved with the others. */
#define ARRAY(name, type)
#define GRAPH_ARRAY(name, type) VEC(type) name;
#include "graph/file/graph_arrays.def"
#undef ARRAY
    uint32_t *in_first;       /* owned; vertex count + 1 */
    uint32_t *out_first;      /* owned; vertex count + 1 */
    uint32_t *out_edges;      /* owned; edge count: by source, then time */
    struct argus_rule *rules; /* owned: the rows of rules.def, and behind them the user's */
    uint32_t rule_count;
    struct strtab *rule_texts; /* owned: of the user's */
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
