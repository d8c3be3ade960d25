/* The state of a walk, shared by the files of a slice. */
#ifndef ARGUS_SLICE_SLICER_H
#define ARGUS_SLICE_SLICER_H

#include "argus/boost.h"
#include "argus/slice.h"
#include "slice/ask.h"
#include "slice/timeline.h"

/* More options would not help a person; only the latest ones are offered. */
#define MAX_OPTIONS 6

struct slicer {
    struct view view;
    struct argus_slice_options options;
    struct ask_list questions;
    struct argus_boosts *boosts; /* owned; NULL until the first weak edge */
    VEC(struct argus_step) steps;
    uint8_t *visited; /* one bit for each vertex */
    enum argus_slice_end end;
    bool ended;
    enum argus_step_reason why; /* of the next step */
};

/* The edges that can be followed from one vertex. */
struct choice {
    /* the edge that began the vertex comes first, then the latest ones */
    uint32_t edges[MAX_OPTIONS];
    size_t count;
    uint32_t others; /* number of edges that did not fit into `edges` */
};

/* --- slice.c --- */

/* The causes of `vertex`, which the walk leaves at `left_ns`: what reached it later is no cause. */
struct choice slicer_choice(const struct slicer *slicer, uint32_t vertex, uint64_t left_ns);
/* How the walk ends at a vertex without a known cause. */
enum argus_slice_end slicer_natural_end(const struct slicer *slicer, uint32_t vertex);
/* The edge to the vertex that a vertex without a cause continues; ARGUS_NONE: none. */
uint32_t slicer_split_edge(const struct slicer *slicer, uint32_t vertex);
bool slicer_is_input(const struct slicer *slicer, uint32_t vertex);
struct argus_error *slicer_boost(struct slicer *slicer, uint32_t edge, struct argus_boost *ret);

/* --- beam.c --- */

/* The cost of the cheapest walk after `edge`, as far as the search looks ahead. */
struct argus_error *beam_cost(struct slicer *slicer, uint32_t edge, uint32_t *ret);

#endif
