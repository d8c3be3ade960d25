/* Samples, and which thread used which object: on_stack.c. */
#ifndef ARGUS_GRAPH_ON_STACK_H
#define ARGUS_GRAPH_ON_STACK_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"

/* The state of this feature. */
struct sightings {
    struct idmap use_by_key;    /* of the graph's uses: the first of those with one key */
    VEC(uint32_t) use_next;     /* the next one with the same key, or ARGUS_NONE */
    VEC(uint32_t) sample_slots; /* of the graph's samples, while building */
};
struct sightings *sightings_create(void);
void sightings_destroy(struct sightings *sightings);

#endif
