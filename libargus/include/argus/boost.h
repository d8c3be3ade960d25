/* Boosts of weak edges: two vertices that share a function which few others have in their call stacks probably work on the
 * same thing, so the weak edge between them is followed rather than another one.
 *
 * The stacks of a vertex are that of the wait that ended it, those of its cpu samples and of its wake-ups; of the later vertex
 * also that of the wait which the edge ended. A function is rare when at most one vertex in twenty (or four, in a small
 * trace) has it. The rarer it is, the higher the boost.
 *
 * Names are looked up when first asked for. One thread.
 */
#ifndef ARGUS_BOOST_H
#define ARGUS_BOOST_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_boosts;

/* What following an edge costs a walk: nothing for a strong one, ARGUS_COST_WEAK less its boost for a weak one. */
#define ARGUS_COST_WEAK 100u

struct argus_boost {
    uint32_t boost;       /* 0: none, at most ARGUS_COST_WEAK - 1 */
    uint32_t vertices;    /* so many have `function` in the stack of their wait */
    const char *function; /* the rarest that both have; borrowed from the boosts; NULL: none */
};

/* `graph` is borrowed and must outlive the result. O(vertices). */
struct argus_error *argus_boosts_create(const struct argus_graph *graph, struct argus_boosts **ret);
void argus_boosts_destroy(struct argus_boosts *boosts);

/* The boost of an edge (index); none for a strong one. */
struct argus_boost argus_boost_of(struct argus_boosts *boosts, uint32_t edge);

#ifdef __cplusplus
}
#endif
#endif
