/* Errors of the inferred latencies of contexts. */
#ifndef ARGUS_BENCH_LATENCY_ERRORS_H
#define ARGUS_BENCH_LATENCY_ERRORS_H

#include "coverage.h"

/* |inferred - true| / true over contexts: median and 90th percentile. */
struct error_figures {
    uint64_t contexts;
    double median, p90;
};

struct latency_errors {
    struct error_figures total[ARGUS_ESTIMATES]; /* of the sums of all calls of a context */
    struct error_figures mean[ARGUS_ESTIMATES];  /* of the means of one call */
    uint64_t never_called; /* inferred contexts that did not occur in the run */
    uint64_t inferred;     /* inferred contexts of hooked functions */
};

/* Of the contexts that `contexts` has, in the slowest 1 % or all. False without memory. */
bool latency_errors_get(const struct coverage *coverage, const struct argus_contexts *contexts,
                        bool only_top, struct latency_errors *ret);

#endif
