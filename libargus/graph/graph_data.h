/* The internals of struct argus_graph: flat arrays, filled by the builder, returned by the
 * accessors. */
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
    /* All vectors (vertices, edges …). To add one: a row in that table, so that it is also
     * saved. */
#define ARRAY(name, type)
#define GRAPH_ARRAY(name, type) VEC(type) name;
#include "graph/file/graph_arrays.def"
#undef ARRAY
    uint32_t *in_first;       /* owned; vertex count + 1 */
    uint32_t *out_first;      /* owned; vertex count + 1 */
    uint32_t *out_edges;      /* owned; edge count: by source, then time */
    struct argus_rule *rules; /* owned: the rows of rules.def, then the user's rules */
    uint32_t rule_count;
    struct strtab *rule_texts; /* owned: texts of the user's rules */
    uint64_t start_ns, end_ns;
    uint64_t rule_set; /* identity of the user's rules that it was built with; 0: none */
    double build_seconds;
    char *loaded_from; /* owned: path of the mapped file; NULL: the graph was built */
    /* owned: the file that holds the arrays (graph_load.c); NULL: the arrays are vectors */
    void *mapped;
    size_t mapped_bytes;
    uint64_t damaged_chunks;
    struct argus_message_counts messages;
};

/* The last vertex of `thread` that starts at or before `time_ns`, else its first one; ARGUS_NONE if
 * the thread has none. O(log n). */
uint32_t graph_vertex_started(const struct argus_graph *graph, uint32_t thread, uint64_t time_ns);

/* Returns NULL, or a sentence in `buffer` that says what is wrong with the graph. Checks that times
 * are ordered, edges lie inside of their vertices, no strong edge goes backward in time, ids are in
 * range, and the adjacency is complete. For tests; O(vertices + edges). */
const char *graph_check(const struct argus_graph *graph, char *buffer, size_t buffer_bytes);

#endif
