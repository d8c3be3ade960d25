#include "graph/rules/sequence.h"

#include "graph/graph_data.h"

struct argus_edge rule_sequence(const struct argus_graph *graph, uint32_t to)
{
    uint32_t flags = graph->vertices.data[to].flags;
    bool continues = flags & ARGUS_VERTEX_CONTINUES;
    enum rule_id rule = continues                      ? RULE_SEQUENCE_CALLBACK
                        : flags & ARGUS_VERTEX_PEERS   ? RULE_SPLIT_PEERS
                        : flags & ARGUS_VERTEX_BATCHED ? RULE_SPLIT_BATCHING
                                                       : RULE_SEQUENCE;
    return (struct argus_edge){
        .from_ns = graph->vertices.data[to - 1].end_ns,
        .to_ns = graph->vertices.data[to].start_ns,
        .from = to - 1,
        .to = to,
        .kind = ARGUS_EDGE_SEQUENCE,
        .rule = (uint16_t)rule,
        .strong = continues,
        .stack = ARGUS_NONE,
    };
}
