/* Shares covered: of all, and of the slowest 1 %. A context is as slow as its calls are on average. */
#include <stdlib.h>
#include <string.h>

#include "coverage.h"

enum { TOP_SHARE = 100 };

static int by_latency(const void *left, const void *right, void *context)
{
    const struct context_figures *figures = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    double mean_a = (double)figures[a].total_ns / (double)figures[a].count;
    double mean_b = (double)figures[b].total_ns / (double)figures[b].count;
    if (mean_a < mean_b || mean_a > mean_b)
        return mean_a < mean_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

uint32_t *coverage_by_latency(const struct coverage *coverage, size_t *ret_count)
{
    size_t count = 0;
    uint32_t *order = calloc(coverage->contexts.length + 1, sizeof(*order));
    for (uint32_t i = 0; order && i < coverage->contexts.length; i++)
        if (coverage->contexts.data[i].count)
            order[count++] = i;
    if (order)
        qsort_r(order, count, sizeof(*order), by_latency, coverage->contexts.data);
    *ret_count = count;
    return order;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

size_t coverage_top(size_t count)
{
    return count > TOP_SHARE ? count / TOP_SHARE : count != 0;
}

static void count_seen(uint64_t seen, uint64_t ret[SCHEMES])
{
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        ret[scheme] += seen >> scheme & 1;
}

static void to_shares(const uint64_t seen[SCHEMES], size_t of, double ret[SCHEMES])
{
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        ret[scheme] = of ? (double)seen[scheme] / (double)of : 0;
}

static bool share_contexts(const struct coverage *coverage, struct shares *ret)
{
    uint64_t all[SCHEMES] = {0}, top[SCHEMES] = {0};
    size_t count;
    uint32_t *order = coverage_by_latency(coverage, &count);
    for (size_t i = 0; order && i < count; i++) {
        uint32_t seen = coverage->contexts.data[order[i]].seen;
        count_seen(seen, all);
        if (i + coverage_top(count) >= count)
            count_seen(seen, top);
    }
    ret->contexts = count;
    to_shares(all, count, ret->contexts_all);
    to_shares(top, coverage_top(count), ret->contexts_top);
    free(order);
    return order != NULL;
}

bool coverage_shares(const struct coverage *coverage, struct shares *ret)
{
    uint64_t all[SCHEMES] = {0}, top[SCHEMES] = {0};
    size_t count = coverage->instances.length;
    uint64_t *sorted = malloc((count + 1) * sizeof(*sorted));
    *ret = (struct shares){.instances = count};
    if (!sorted)
        return false;
    if (count)
        memcpy(sorted, coverage->instances.data, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_number);
    for (size_t i = 0; i < count; i++) {
        count_seen(sorted[i], all);
        if (i + coverage_top(count) >= count)
            count_seen(sorted[i], top);
    }
    ret->top_ns = count ? sorted[count - coverage_top(count)] >> 8 : 0;
    to_shares(all, count, ret->instances_all);
    to_shares(top, coverage_top(count), ret->instances_top);
    free(sorted);
    return share_contexts(coverage, ret);
}
