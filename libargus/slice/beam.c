/* Estimates what is behind a weak edge: a beam search over the next few steps.
 *
 * A weak edge may lead away from the cause. If there are several and nothing distinguishes them,
 * the better guess is the one after which the walk continues on certain ground: by strong edges, to
 * an input, to a thread that waits in its event loop, or to the beginning of the window. A walk
 * costs the sum of its edges; a strong edge costs nothing (boost.h). A walk that ends where nothing
 * is known costs as much as if the remaining steps were weak, so that a short dead end is not
 * cheap. At each step the few cheapest walks are kept; among equal ones, those that took the latest
 * edges.
 */
#include "slice/slicer.h"

#define BEAM_WIDTH 8
#define BEAM_DEPTH 4

struct walk {
    uint32_t vertex, cost;
    uint64_t left_ns;
};

struct beam {
    struct walk walks[BEAM_WIDTH];
    size_t count;
};

/* Inserts a walk after those of the same cost, and drops the most expensive one if there are too
 * many. */
static void beam_add(struct beam *beam, struct walk walk)
{
    size_t at = beam->count;
    if (at == BEAM_WIDTH && beam->walks[at - 1].cost <= walk.cost)
        return;
    at -= at == BEAM_WIDTH;
    beam->count = at + 1;
    for (; at > 0 && beam->walks[at - 1].cost > walk.cost; at--)
        beam->walks[at] = beam->walks[at - 1];
    beam->walks[at] = walk;
}

static struct argus_error *follow(struct slicer *slicer, const struct walk *walk, uint32_t edge,
                                  struct beam *next)
{
    struct argus_boost boost;
    const struct argus_edge *e = &slicer->view.edges[edge];
    struct argus_error *error = slicer_boost(slicer, edge, &boost);
    if (error)
        return error;
    uint32_t cost = e->strong ? 0 : ARGUS_COST_WEAK - boost.boost;
    beam_add(next, (struct walk){e->from, walk->cost + cost, e->from_ns});
    return NULL;
}

/* The total cost of a walk that goes no further. */
static uint32_t end_cost(const struct slicer *slicer, const struct walk *walk, uint32_t steps_left)
{
    enum argus_slice_end end = slicer_natural_end(slicer, walk->vertex);
    bool known = end == ARGUS_SLICE_HOME || end == ARGUS_SLICE_WINDOW;
    return walk->cost + (known ? 0 : steps_left * ARGUS_COST_WEAK);
}

/* Extends `walk` by one step; `*least`: cost of the cheapest walk that has ended. */
static struct argus_error *extend(struct slicer *slicer, const struct walk *walk,
                                  uint32_t steps_left, struct beam *next, uint32_t *least)
{
    struct choice choice = slicer_choice(slicer, walk->vertex, walk->left_ns);
    uint32_t split = choice.count ? ARGUS_NONE : slicer_split_edge(slicer, walk->vertex);
    struct argus_error *error = NULL;
    if (split != ARGUS_NONE)
        return follow(slicer, walk, split, next);
    uint32_t cost = UINT32_MAX;
    if (slicer_is_input(slicer, walk->vertex))
        cost = walk->cost;
    else if (!choice.count)
        cost = end_cost(slicer, walk, steps_left);
    *least = cost < *least ? cost : *least;
    for (size_t i = 0; i < choice.count && cost == UINT32_MAX && !error; i++)
        error = follow(slicer, walk, choice.edges[i], next);
    return error;
}

struct argus_error *beam_cost(struct slicer *slicer, uint32_t edge, uint32_t *ret)
{
    const struct argus_edge *first = &slicer->view.edges[edge];
    struct beam beam = {.count = 1, .walks = {{first->from, 0, first->from_ns}}};
    uint32_t least = UINT32_MAX;
    struct argus_error *error = NULL;
    for (uint32_t left = BEAM_DEPTH; left > 0 && beam.count && !error; left--) {
        struct beam next = {.count = 0};
        for (size_t i = 0; i < beam.count && !error; i++)
            error = extend(slicer, &beam.walks[i], left, &next, &least);
        beam = next;
    }
    if (beam.count && beam.walks[0].cost < least)
        least = beam.walks[0].cost;
    *ret = least;
    return error;
}
