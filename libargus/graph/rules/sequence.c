#include "graph/builder.h"

struct argus_edge rule_sequence(const struct argus_graph *graph, uint32_t to)
{
    bool continues = graph->vertices.data[to].flags & ARGUS_VERTEX_CONTINUES;
    return (struct argus_edge){
        .from_ns = graph->vertices.data[to - 1].end_ns,
        .to_ns = graph->vertices.data[to].start_ns,
        .from = to - 1,
        .to = to,
        .kind = ARGUS_EDGE_SEQUENCE,
        .rule = continues ? RULE_SEQUENCE_CALLBACK : RULE_SEQUENCE,
        .strong = continues,
        .stack = ARGUS_NONE,
    };
}
