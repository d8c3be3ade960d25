/* Messages: from the vertex that sent to the vertex that received.
 *
 * Which send a receive belongs to is found by event/pairing/pairing.c, sometimes long after both. The edge leaves the sender's
 * vertex at the record of the send, or at the receive, should that be on record first. It often connects two vertices
 * that a wake-up connects already; then there is one edge, which keeps both reasons.
 */
#include "graph/rules/message_edge.h"

#include "event/pairing/pairing.h"
#include "graph/build/builder.h"
#include "graph/build/talk.h"

void rule_message(void *context, const struct pairing_pair *pair)
{
    struct builder *builder = context;
    struct talk *send = &builder->talks->all.data[pair->send->tag];
    struct talk *receive = &builder->talks->all.data[pair->receive->tag];
    uint64_t sent_ns = pair->send->record_ns, received_ns = pair->receive->record_ns;
    struct argus_edge edge = {
        .from_ns = sent_ns < received_ns ? sent_ns : received_ns,
        .to_ns = received_ns,
        .from = send->slot,
        .to = receive->slot,
        .kind = ARGUS_EDGE_MESSAGE,
        .strong = pair->exact,
        .rule = RULE_MESSAGE,
        .stack = ARGUS_NONE,
    };
    if (send->partner == ARGUS_NONE)
        send->partner = pair->receive->tag;
    if (receive->partner == ARGUS_NONE)
        receive->partner = pair->send->tag;
    builder_add_edge(builder, &edge);
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
