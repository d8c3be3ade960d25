/* Boosts of weak edges. Two vertices probably work on the same thing if their call stacks share a
 * function that is rare in the trace. A walk then prefers the weak edge between them to other weak
 * edges.
 *
 * The stacks of a vertex are those of the wait that ended it, of its CPU samples and of its
 * wake-ups. For the later vertex, the stack of the wait that the edge ended counts too. A function
 * is rare when at most one vertex in twenty (or four, in a small trace) has it. The rarer it is,
 * the higher the boost.
 *
 * Function names are looked up on first use. One thread at a time.
 */
#ifndef ARGUS_BOOST_H
#define ARGUS_BOOST_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_boosts;

/* What it costs a walk to follow an edge: nothing if strong, ARGUS_COST_WEAK minus the boost if
 * weak. */
#define ARGUS_COST_WEAK 100u

struct argus_boost {
    uint32_t boost;    /* 0: none, at most ARGUS_COST_WEAK - 1 */
    uint32_t vertices; /* how many vertices have `function` in the stack of their wait */
    /* the rarest function that both have; borrowed from the boosts; NULL: none */
    const char *function;
};

/* `graph` is borrowed and must outlive the result. O(vertices). */
struct argus_error *argus_boosts_create(const struct argus_graph *graph, struct argus_boosts **ret);
void argus_boosts_destroy(struct argus_boosts *boosts);

/* The boost of an edge (index); a strong edge has none. */
struct argus_boost argus_boost_of(struct argus_boosts *boosts, uint32_t edge);

#ifdef __cplusplus
}
#endif
#endif
