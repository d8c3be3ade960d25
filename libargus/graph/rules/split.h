/* Splitting finished vertices: rules/split.c decides where, rules/pieces.c does it. */
#ifndef ARGUS_GRAPH_RULES_SPLIT_H
#define ARGUS_GRAPH_RULES_SPLIT_H

#include "argus/graph.h"
#include "base/vec.h"
#include "graph/build/cut_points.h"

struct builder;

/* A vertex is cut just before a message, or before a call of a function that a user's rule
 * names. */
struct cut {
    uint32_t vertex; /* final id, before any vertex is split */
    uint32_t point;  /* the message or function call */
    uint32_t flag;   /* ARGUS_VERTEX_PEERS or ARGUS_VERTEX_BATCHED; 0: a user's rule */
};

struct cuts {
    VEC(struct cut) cuts;
};

/* The final vertex that contains a cut point. ARGUS_NONE: it was dropped, or is a yield run, which
 * is never split. */
uint32_t split_vertex_of(const struct argus_graph *graph, const uint32_t *new_id,
                         const struct cut_point *point);

/* schema/rule_calls.c: adds the cuts of users' begin rules for functions that toolkits' probes
 * reported. */
bool rule_cut_calls(struct builder *builder, const uint32_t *new_id, struct cuts *cuts);

/* Splits vertices and updates `new_id`. `slots`: the number of slots, including dropped ones. False
 * without memory. */
bool pieces_make(struct builder *builder, const struct cuts *cuts, uint32_t *new_id, size_t slots);

/* split.c: splits vertices that serve several peers. `new_id`: the final ids of the slots; it is
 * updated. False without memory. */
bool rule_split(struct builder *builder, uint32_t *new_id, size_t slots);

#endif
