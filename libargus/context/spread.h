/* Entries for functions whose callees became slower beyond chance only together. */
#ifndef ARGUS_CONTEXT_SPREAD_H
#define ARGUS_CONTEXT_SPREAD_H

#include "context/contexts_data.h"

/* In standard deviations. More than for other entries, because the entry is the one with the
 * highest cost of many functions and their callers. */
#define SPREAD_CHANCE 3.0

struct spread_options {
    enum argus_estimate estimate;
    const bool *is_counted; /* by node: its cost is in an entry beyond chance; borrowed */
    double least_ns;        /* a lower cost is no entry */
};

/* Adds such entries at the end of the ranking's paths, and removes the paths by chance that are
 * part of them. Only with a base. */
struct argus_error *spread_add(const struct argus_contexts *contexts,
                               const struct argus_contexts *base,
                               const struct spread_options *options, struct argus_ranking *ranking);

#endif
