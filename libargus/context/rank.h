/* Parts of the ranking that the outputs use, too. */
#ifndef ARGUS_CONTEXT_RANK_H
#define ARGUS_CONTEXT_RANK_H

#include "context/contexts_data.h"

/* What a node alone costs without a base, in ns: by ARGUS_RANK_BLAME or ARGUS_RANK_TOTAL. */
double rank_value(const struct argus_context_node *node,
                  const struct argus_ranking_options *options);

/* The same against a base that lacks the node: all waits that timed out count. */
double rank_alone(const struct argus_contexts *contexts, uint32_t node,
                  const struct argus_ranking_options *options);

/* A node in both traces. The difference of the values is its cost. */
struct rank_pair {
    double now_ns, base_ns;
};
struct rank_pair rank_pair_of(const struct argus_contexts_report *report, uint32_t node);

/* The costs of all nodes: what the list and everything that it leaves out add up to. */
double rank_total(const struct argus_contexts_report *report);

/* By node of the base: whether its time is not compared with any node's. The caller frees the
 * array; NULL: no memory. */
bool *rank_find_gone(const struct argus_contexts_report *report);

/* The values of these: what the list leaves out of the difference of both traces. 0 without a base.
 */
struct argus_error *rank_gone_ns(const struct argus_contexts_report *report, double *ret);

/* What the base took in paths that the trace lacks, and that is compared by function (moved.c). */
double rank_moved_ns(const struct argus_contexts_report *report);

/* Why a cost that is `by_chance` may be that. */
const char *rank_chance_reason(const struct argus_ranked_path *path);

/* Merges paths that differ only above the culprit, and computes what chance makes of each cost. The
 * ranking's paths are sorted by cost before, and not sorted after. */
struct argus_error *folds_make(const struct argus_contexts *contexts,
                               const struct argus_contexts *base,
                               const struct argus_ranking_options *options,
                               struct argus_ranking *ranking);

#endif
