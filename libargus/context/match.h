/* Which nodes of two traces are equivalent. */
#ifndef ARGUS_CONTEXT_MATCH_H
#define ARGUS_CONTEXT_MATCH_H

#include "context/builds.h"
#include "context/contexts_data.h"

/* Two traces' functions and files. */
struct match {
    build_pair_vec pairs; /* owned */
    /* owned; by function: the one of the base that is the same, or ARGUS_NONE. NULL without a base.
     */
    uint32_t *functions;
    /* owned; by function of the base: the first one with the same plain name in the same file. In
     * another build, copies of a generic function of Rust differ in their hashes only, so they are
     * compared as one. NULL without a base. */
    uint32_t *base_functions;
};

/* `base` NULL: nothing matches. The caller calls match_deinit(), after errors, too. False: no
 * memory. */
bool match_init(struct match *match, const struct argus_contexts *contexts,
                const struct argus_contexts *base);
void match_deinit(struct match *match);

/* Fills base_node and the numbers of paths and programs. */
bool match_nodes(const struct match *match, const struct argus_contexts *contexts,
                 const struct argus_contexts *base, struct argus_ranking *ret);

/* By node of the base (`base_count`): whether one of the `count` nodes is equivalent to it. The
 * caller frees the array; NULL: no memory. */
bool *match_find_here(const struct argus_ranking *ranking, size_t count, size_t base_count);

/* Whether a function is without a name in a file of which the base has another build: then its
 * place in the file says nothing. The pair's index is written to `ret`. `there`: it is a function
 * of the base. */
bool match_is_nameless(const struct match *match, const struct argus_contexts *contexts,
                       uint32_t function, bool there, uint32_t *ret);

#endif
