/* Messages: from the vertex that sent to the vertex that received.
 *
 * event/pairing/pairing.c finds the send that a receive belongs to, sometimes long after both. The
 * edge leaves the sender's vertex at the record of the send; if the receive was recorded first, at
 * the receive's time. It often connects two vertices that a wake-up connects already; then one edge
 * is kept, with both reasons.
 */
#include "graph/rules/message_edge.h"

#include "event/pairing/pairing.h"
#include "graph/build/builder.h"
#include "graph/build/cut_points.h"

void rule_message(void *context, const struct pairing_pair *pair)
{
    struct builder *builder = context;
    struct cut_point *send = &builder->cut_points->all.data[pair->send->tag];
    struct cut_point *receive = &builder->cut_points->all.data[pair->receive->tag];
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

/* Order by source; messages after other edges. */
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
    struct argus_edge *wake = NULL; /* from the same source */
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
