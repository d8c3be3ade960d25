/* A wait that another thread ended is not the cost of its own context. So the list of contexts does
 * not show it, and what the other thread did meanwhile is elsewhere in the list, if at all. These
 * rows connect both: who waited longer, and in which context the thread was that let it go on. */
#include "context/wakers.h"

#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "context/charges.h"
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

/* The time of the same pair that is to be expected from the base: a worker whose life another
 * thread ends waits for as long as its process is needed (sleeps.c). */
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

/* --- rows that are shown alike --- */

/* Of a row, all that its line says of functions: those of the waiter, then those of the waker. */
#define KEY_LENGTH (2 * WAKER_CALLERS + 1)

struct keyed_row {
    struct waker_row row;
    uint32_t key[KEY_LENGTH];
};

static void fill_key(const struct argus_contexts *contexts, struct keyed_row *ret)
{
    const struct argus_context_node *nodes;
    uint32_t ends[2] = {ret->row.node, ret->row.waker};
    argus_contexts_nodes(contexts, &nodes);
    for (int end = 0; end < 2; end++) {
        uint32_t at = charged_node(contexts, ends[end]);
        for (int i = 0; i < WAKER_CALLERS && nodes[at].depth >= INFERENCE_FIRST_DEPTH; i++) {
            ret->key[end * WAKER_CALLERS + i] = nodes[at].function + 1;
            at = nodes[at].parent;
        }
    }
    ret->key[KEY_LENGTH - 1] = program_of_node(nodes, ret->row.waker);
}

static int by_key(const void *left, const void *right)
{
    const struct keyed_row *a = left, *b = right;
    int order = memcmp(a->key, b->key, sizeof(a->key));
    if (order)
        return order;
    if (a->row.ns != b->row.ns)
        return a->row.ns > b->row.ns ? -1 : 1;
    return a->row.node < b->row.node ? -1 : a->row.node > b->row.node;
}

static int by_time(const void *left, const void *right)
{
    const struct keyed_row *a = left, *b = right;
    if (a->row.ns != b->row.ns)
        return a->row.ns > b->row.ns ? -1 : 1;
    return a->row.node < b->row.node ? -1 : a->row.node > b->row.node;
}

/* Merges rows with the same key into the longest of them, and returns the number that is left. */
static size_t merge(struct keyed_row *rows, size_t count)
{
    size_t kept = 0;
    qsort(rows, count, sizeof(*rows), by_key);
    for (size_t i = 0; i < count; i++) {
        if (!kept || memcmp(rows[kept - 1].key, rows[i].key, sizeof(rows[i].key)) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
        rows[kept - 1].row.ns += rows[i].row.ns;
        rows[kept - 1].row.count += rows[i].row.count;
    }
    return kept;
}

static size_t rows_of(const struct argus_contexts_report *report, uint32_t program,
                      struct keyed_row *ret)
{
    const struct argus_context_node *nodes;
    const struct argus_context_waker *rows;
    size_t count = argus_contexts_wakers(report->contexts, &rows), kept = 0;
    argus_contexts_nodes(report->contexts, &nodes);
    for (size_t i = 0; i < count; i++) {
        if (program_of_node(nodes, rows[i].node) != program)
            continue;
        double ns = (double)rows[i].ns - expected_ns(report, rows[i].node, rows[i].waker);
        ret[kept] = (struct keyed_row){.row = {ns, rows[i].count, rows[i].node, rows[i].waker}};
        fill_key(report->contexts, &ret[kept++]);
    }
    return kept;
}

struct argus_error *wakers_longest(const struct argus_contexts_report *report, uint32_t program,
                                   struct waker_row *ret, size_t room, size_t *ret_count)
{
    const struct argus_context_waker *all;
    size_t count = argus_contexts_wakers(report->contexts, &all);
    struct keyed_row *rows = malloc((count + 1) * sizeof(*rows));
    *ret_count = 0;
    if (!rows)
        return argus_error_memory();
    count = merge(rows, rows_of(report, program, rows));
    qsort(rows, count, sizeof(*rows), by_time);
    for (; *ret_count < count && *ret_count < room; ++*ret_count)
        ret[*ret_count] = rows[*ret_count].row;
    free(rows);
    return NULL;
}
