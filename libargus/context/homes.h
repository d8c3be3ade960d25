/* Where threads wait for work, if their path is not in the base: an interpreter that has optimized
 * its program, or another caller, makes another path to the same wait. */
#ifndef ARGUS_CONTEXT_HOMES_H
#define ARGUS_CONTEXT_HOMES_H

#include "context/match.h"

/* For each node that is a system call and that the base lacks: the node of the base where most time
 * was waited in the same call, on behalf of the same functions (charged_node(), charged_script())
 * of the same program, if one of both paths has only functions that the other has, too; else
 * ARGUS_NONE. The caller frees the array; NULL: no memory. */
uint32_t *homes_find(const struct match *match, const struct argus_contexts *contexts,
                     const struct argus_contexts *base, const struct argus_ranking_options *options,
                     const struct argus_ranking *ranking);

#endif
