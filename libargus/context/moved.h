/* Compares the sums of functions where two builds have other paths. */
#ifndef ARGUS_CONTEXT_MOVED_H
#define ARGUS_CONTEXT_MOVED_H

#include "context/match.h"

/* Fills `moved`, `is_moved` and `like` of the ranking if the traces have other builds of some file.
 * Called after match_nodes(). False: no memory. */
bool moved_find(const struct match *match, const struct argus_contexts *contexts,
                const struct argus_contexts *base, const struct argus_ranking_options *options,
                struct argus_ranking *ret);

#endif
