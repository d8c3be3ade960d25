/* The times and costs of functions, summed over their contexts. */
#ifndef ARGUS_CONTEXT_FUNCTION_SUMS_H
#define ARGUS_CONTEXT_FUNCTION_SUMS_H

#include "argus/contexts.h"

struct function_sum {
    double cost_ns;           /* its own */
    double inclusive_cost_ns; /* with its callees; recursion counts once */
    uint64_t own_ns, waited_ns, calls;
    uint64_t total_ns; /* with its callees; recursion counts once */
    uint32_t function; /* index: argus_contexts_functions() */
    uint32_t contexts; /* 0: it is in none */
};

struct function_sums {
    struct function_sum
        *items;   /* owned; the highest cost first, functions without a context last */
    size_t count; /* functions with a context */
};

struct argus_error *function_sums_create(const struct argus_contexts_report *report,
                                         struct function_sums *ret);
void function_sums_deinit(struct function_sums *sums);

#endif
