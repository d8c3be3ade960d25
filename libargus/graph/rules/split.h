/* Splitting finished vertices: rules/split.c decides where, rules/pieces.c does it. */
#ifndef ARGUS_GRAPH_RULES_SPLIT_H
#define ARGUS_GRAPH_RULES_SPLIT_H

#include "graph/builder.h"

/* A vertex is cut just before a message. */
struct cut {
    uint32_t vertex; /* final id, before any vertex is split */
    uint32_t talk;   /* the message */
    uint32_t flag;   /* ARGUS_VERTEX_PEERS or ARGUS_VERTEX_BATCHED */
};

struct cuts {
    VEC(struct cut) cuts;
};

/* Splits vertices and brings `new_id` up to date; `slots`: with those that are gone. False without memory. */
bool pieces_make(struct builder *builder, const struct cuts *cuts, uint32_t *new_id, size_t slots);

#endif
