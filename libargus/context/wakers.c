/* A wait that another thread ended is not the cost of its own context. So the list of contexts does
 * not show it, and what the other thread did meanwhile is elsewhere in the list, if at all. These
 * rows connect both: who waited longer, and in which context the thread was that let it go on. */
#include "context/wakers.h"

#include "base/lower_bound.h"
#include "context/contexts_data.h"

uint32_t program_of_node(const struct argus_context_node *nodes, uint32_t node)
{
    while (nodes[node].depth > 1)
        node = nodes[node].parent;
    return node;
}

static double expected_of(const struct argus_contexts_report *report, uint32_t node, uint32_t other,
                          double waited_ns)
{
    const struct argus_context_node *nodes, *others;
    enum argus_estimate estimate = ARGUS_CONSERVATIVE; /* wakers are known for this one */
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_nodes(report->base, &others);
    const struct sleeps *here = &report->contexts->moments.waits.sleeps[estimate];
    const struct sleeps *there = &report->base->moments.waits.sleeps[estimate];
    return sleeps_expected((struct sleeper){&nodes[node], here, node, estimate},
                           (struct sleeper){&others[other], there, other, estimate}, waited_ns);
}

/* The time of the same pair that is to be expected from the base: a worker whose life another thread
 * ends waits for as long as its process is needed (sleeps.c). */
static double expected_ns(const struct argus_contexts_report *report, uint32_t node, uint32_t waker)
{
    const struct argus_context_waker *rows;
    const uint32_t *base_node = report->ranking->base_node;
    size_t count = report->base ? argus_contexts_wakers(report->base, &rows) : 0, at;
    if (!count || base_node[node] == ARGUS_NONE || base_node[waker] == ARGUS_NONE)
        return 0;
    LOWER_BOUND(at, count, rows[at].node < base_node[node]);
    for (; at < count && rows[at].node == base_node[node]; at++)
        if (rows[at].waker == base_node[waker])
            return expected_of(report, node, base_node[node], (double)rows[at].ns);
    return 0;
}

/* Puts `row` into its place among the longest. */
static size_t keep(struct waker_row *rows, size_t count, size_t room, struct waker_row row)
{
    size_t at = count < room ? count : room;
    for (; at > 0 && rows[at - 1].ns < row.ns; at--)
        if (at < room)
            rows[at] = rows[at - 1];
    if (at < room)
        rows[at] = row;
    return count < room ? count + 1 : room;
}

size_t wakers_longest(const struct argus_contexts_report *report, uint32_t program,
                      struct waker_row *ret, size_t room)
{
    const struct argus_context_node *nodes;
    const struct argus_context_waker *rows;
    size_t count = argus_contexts_wakers(report->contexts, &rows), kept = 0;
    argus_contexts_nodes(report->contexts, &nodes);
    for (size_t i = 0; i < count; i++) {
        if (program_of_node(nodes, rows[i].node) != program)
            continue;
        double ns = (double)rows[i].ns - expected_ns(report, rows[i].node, rows[i].waker);
        struct waker_row row = {ns, rows[i].count, rows[i].node, rows[i].waker};
        kept = keep(ret, kept, room, row);
    }
    return kept;
}
