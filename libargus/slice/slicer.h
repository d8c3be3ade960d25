/* The state of a walk, for the files of a slice. */
#ifndef ARGUS_SLICE_SLICER_H
#define ARGUS_SLICE_SLICER_H

#include "argus/boost.h"
#include "argus/slice.h"
#include "slice/ask.h"
#include "slice/timeline.h"

/* A question with more options than this is of no help to a person: the latest ones are offered. */
#define MAX_OPTIONS 6

struct slicer {
    struct view view;
    struct argus_slice_options options;
    struct ask_list questions;
    struct argus_boosts *boosts; /* owned; NULL until the first weak edge */
    VEC(struct argus_step) steps;
    uint8_t *visited; /* a bit for each vertex */
    enum argus_slice_end end;
    bool ended;
    const char *why; /* the edge of the next step is followed */
};

/* What can be followed from one vertex. */
struct choice {
    uint32_t
        edges[MAX_OPTIONS]; /* the latest first, but the one that began the vertex before all */
    size_t count;
    uint32_t others; /* left out of `edges` */
};

/* --- slice.c --- */

/* The causes of `vertex`, which the walk leaves at `left_ns`: what came to it later is none. */
struct choice slicer_choice(const struct slicer *slicer, uint32_t vertex, uint64_t left_ns);
/* How the walk ends at a vertex that nothing known has caused. */
enum argus_slice_end slicer_natural_end(const struct slicer *slicer, uint32_t vertex);
/* The edge to what a vertex without a cause goes on with; ARGUS_NONE. */
uint32_t slicer_split_edge(const struct slicer *slicer, uint32_t vertex);
bool slicer_is_input(const struct slicer *slicer, uint32_t vertex);
struct argus_error *slicer_boost(struct slicer *slicer, uint32_t edge, struct argus_boost *ret);

/* --- beam.c --- */

/* What the cheapest walk behind `edge` costs, as far as it is looked at. */
struct argus_error *beam_cost(struct slicer *slicer, uint32_t edge, uint32_t *ret);

#endif
