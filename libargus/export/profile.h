/* Call stacks and what they cost, for the formats of profilers: CPU samples, and waits with the
 * stack in which they began. Stacks are a tree of frames; names are interned. */
#ifndef ARGUS_EXPORT_PROFILE_H
#define ARGUS_EXPORT_PROFILE_H

#include "argus/export.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "slice/timeline.h"

/* A function; the numbers are those of strings. */
struct profile_frame {
    uint32_t name, image; /* image 0: none */
};

/* A frame below the frames of its parent; ARGUS_NONE: the outermost one. */
struct profile_node {
    uint32_t parent, frame;
};

/* What a thread did in one stack: a CPU sample, a wait, or the CPU time of a vertex without
 * samples. */
struct profile_item {
    uint64_t time_ns;
    uint64_t cpu_ns;  /* the share of a sample in the CPU time of its vertex */
    uint64_t wait_ns; /* length of a wait */
    uint32_t node;
    uint32_t thread;
    uint32_t vertex;
    bool is_sample;
};

struct profile {
    const struct argus_report_context *context;
    const struct argus_export *part;
    struct view view;
    struct strtab *names;
    VEC(struct profile_frame) frames;
    VEC(struct profile_node) nodes;
    VEC(struct profile_item) items; /* in the order of the part's vertices */
    struct idmap frame_numbers, node_numbers, stack_nodes;
    uint32_t longest; /* frames of the longest stack */
    bool failed;      /* no memory */
};

/* To be ended by profile_deinit(), also after an error, of which MEMORY is the only one. */
struct argus_error *profile_collect(const struct argus_report_context *context,
                                    const struct argus_export *part, struct profile *ret);
void profile_deinit(struct profile *profile);

#endif
