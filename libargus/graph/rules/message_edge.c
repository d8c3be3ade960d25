/* Messages: from the vertex that sent to the vertex that received.
 *
 * Which send a receive belongs to is found by event/pairing.c, sometimes long after both. The edge leaves the sender's
 * vertex at the record of the send, or at the receive, should that be on record first. It often connects two vertices
 * that a wake-up connects already; then there is one edge, which keeps both reasons.
 */
#include "graph/builder.h"

/* Whether `slot` still is the vertex that it was at `time_ns`. */
static bool is_same_vertex(const struct builder *builder, uint32_t slot, uint64_t time_ns)
{
    return builder->graph->vertices.data[slot].start_ns <= time_ns;
}

/* Many messages go between the same two vertices: one edge is enough, that of the one sent first. */
static bool is_known(struct builder *builder, struct thread_state *receiver,
                     const struct argus_edge *edge)
{
    if (receiver->last_message == ARGUS_NONE)
        return false;
    struct argus_edge *last = &builder->graph->edges.data[receiver->last_message];
    bool same = last->from == edge->from && last->to == edge->to &&
                is_same_vertex(builder, edge->from, last->from_ns) &&
                is_same_vertex(builder, edge->from, edge->from_ns) &&
                is_same_vertex(builder, edge->to, last->to_ns) &&
                is_same_vertex(builder, edge->to, edge->to_ns);
    if (!same)
        return false;
    last->strong |= edge->strong;
    if (edge->from_ns < last->from_ns) {
        last->from_ns = edge->from_ns;
        last->to_ns = edge->to_ns;
    }
    return true;
}

void rule_message(void *context, const struct pairing_pair *pair)
{
    struct builder *builder = context;
    uint64_t sent_ns = pair->send->record_ns, received_ns = pair->receive->record_ns;
    struct argus_edge edge = {
        .from_ns = sent_ns < received_ns ? sent_ns : received_ns,
        .to_ns = received_ns,
        .from = pair->send->tag,
        .to = pair->receive->tag,
        .kind = ARGUS_EDGE_MESSAGE,
        .strong = pair->exact,
        .rule = RULE_MESSAGE,
        .stack = ARGUS_NONE,
    };
    struct thread_state *receiver = thread_at(builder, pair->receive->thread);
    if (is_known(builder, receiver, &edge))
        return;
    if (builder->graph->edges.length >= ARGUS_NONE - 1) {
        builder->full = true;
        return;
    }
    receiver->last_message = (uint32_t)builder->graph->edges.length;
    if (!vec_push(&builder->graph->edges, edge))
        builder->no_memory = true;
}

/* By source; a message behind what else there is. */
static int by_source(const void *left, const void *right)
{
    const struct argus_edge *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    bool message[2] = {a->kind == ARGUS_EDGE_MESSAGE, b->kind == ARGUS_EDGE_MESSAGE};
    if (message[0] != message[1])
        return message[0] ? 1 : -1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    return a->to_ns < b->to_ns ? -1 : a->to_ns > b->to_ns;
}

size_t rule_message_merge(struct builder *builder, struct argus_edge *edges, size_t count)
{
    size_t kept = 0;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any |= edges[i].kind == ARGUS_EDGE_MESSAGE;
    if (!any || count < 2)
        return count;
    qsort(edges, count, sizeof(*edges), by_source);
    struct argus_edge *wake = NULL; /* of the same source */
    for (size_t i = 0; i < count; i++) {
        struct argus_edge edge = edges[i];
        if (wake && wake->from != edge.from)
            wake = NULL;
        bool message = edge.kind == ARGUS_EDGE_MESSAGE;
        if (message && wake) {
            wake->strong |= edge.strong;
            if (wake->kind != ARGUS_EDGE_MESSAGE && !wake->message) {
                wake->message = true;
                builder_count(builder, RULE_MERGE_MESSAGE);
            }
            continue;
        }
        edges[kept++] = edge;
        if (message || edge.kind == ARGUS_EDGE_WAKE)
            wake = &edges[kept - 1];
    }
    return kept;
}
