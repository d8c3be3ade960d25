/* Wake-ups from network softirqs that are attributed to the wrong sender.
 *
 * A send over loopback raises a softirq that runs before the call returns (rules/wake.c). The
 * softirq delivers everything in the cpu's queue, including data that another thread sent earlier.
 * So the wake-up can be attributed to the wrong sender. What the woken thread receives shows this:
 * if its read was certainly ended by data that another thread sent during the wait, and it received
 * nothing from the supposed waker, then the wake-up is dropped, and the message is the cause.
 */
#include "graph/rules/wakeup.h"

/* The message that the read before `vertex` received first; NULL: not known. */
static const struct argus_edge *first_received(const struct argus_graph *graph, uint32_t vertex,
                                               const struct argus_edge *edges, size_t count)
{
    uint32_t before = argus_graph_previous(graph, vertex);
    if (before == ARGUS_NONE || graph->vertices.data[before].wait.kind != ARGUS_WAIT_READ)
        return NULL;
    const struct argus_edge *first = NULL;
    for (size_t i = 0; i < count; i++)
        if (edges[i].kind == ARGUS_EDGE_MESSAGE && (!first || edges[i].to_ns < first->to_ns))
            first = &edges[i];
    bool during = first && first->strong && first->from_ns >= graph->vertices.data[before].end_ns &&
                  first->from_ns <= graph->vertices.data[vertex].start_ns;
    return during ? first : NULL;
}

size_t rule_softirq_mend(struct builder *builder, uint32_t vertex, struct argus_edge *edges,
                         size_t count)
{
    size_t wake = 0;
    while (wake < count && (edges[wake].rule != RULE_WAKE_SOFTIRQ_LOCAL || edges[wake].message))
        wake++;
    if (wake == count || !first_received(builder->graph, vertex, edges, count))
        return count;
    builder_count(builder, RULE_CULL_SOFTIRQ);
    for (size_t i = wake + 1; i < count; i++)
        edges[i - 1] = edges[i];
    return count - 1;
}
