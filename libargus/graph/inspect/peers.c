/* The applications with which a segment interacts.
 *
 * A segment interacts with the other end of its wake-ups, messages, callbacks and data flags. A
 * child's exit and a signal are no request; a timer and a disk have no application; and a fork
 * makes a process that has not asked for anything yet.
 */
#include "graph/inspect/peers.h"

#include "graph/inspect/inspector.h"
#include "graph/rules.h"

bool peers_interact_by(const struct argus_edge *edge)
{
    static const bool talks[ARGUS_EDGE_KINDS] = {
        [ARGUS_EDGE_WAKE] = true,
        [ARGUS_EDGE_MESSAGE] = true,
        [ARGUS_EDGE_DISPATCH] = true,
        [ARGUS_EDGE_FLAG] = true,
    };
    return edge->message || (talks[edge->kind] && edge->rule != RULE_WAKE_EXIT);
}

uint32_t peer_bit(struct peer_list *list, uint32_t application)
{
    uint32_t i = 0;
    while (i < list->count && list->applications[i] != application)
        i++;
    if (i == MOST_PEERS)
        return 0;
    if (i == list->count)
        list->applications[list->count++] = application;
    return UINT32_C(1) << i;
}

bool peers_are_mixed(const struct peer_list *list)
{
    return __builtin_popcount(list->causes) > 1 || __builtin_popcount(list->effects) > 1;
}

void peers_of(const struct inspector *inspector, uint32_t vertex, struct peer_list *ret)
{
    const struct argus_edge *in;
    const uint32_t *out;
    size_t in_count = argus_graph_in_edges(inspector->graph, vertex, &in);
    size_t out_count = argus_graph_out_edges(inspector->graph, vertex, &out);
    uint32_t own = inspector_application(inspector, vertex);
    peers_clear(ret);
    for (size_t i = 0; i < in_count; i++) {
        uint32_t peer = inspector_application(inspector, in[i].from);
        if (peer != own && peer != ARGUS_NONE && peers_interact_by(&in[i]))
            ret->causes |= peer_bit(ret, peer);
    }
    for (size_t i = 0; i < out_count; i++) {
        const struct argus_edge *edge = &inspector->edges[out[i]];
        uint32_t peer = inspector_application(inspector, edge->to);
        if (peer != own && peer != ARGUS_NONE && peers_interact_by(edge))
            ret->effects |= peer_bit(ret, peer);
    }
}
