/* The applications with which a segment interacts. */
#ifndef ARGUS_GRAPH_PEERS_H
#define ARGUS_GRAPH_PEERS_H

#include "argus/graph.h"

/* The applications with which a vertex interacts, each once. */
enum { MOST_PEERS = 32 };
struct peer_list {
    uint32_t applications[MOST_PEERS];
    uint32_t causes;  /* bits of peers that caused the vertex */
    uint32_t effects; /* bits of peers in which the vertex caused something */
    uint32_t count;
};

static inline void peers_clear(struct peer_list *list)
{
    list->count = list->causes = list->effects = 0;
}

/* The bit of `application`, which is added if it is not in the list; 0 if the list is full. */
uint32_t peer_bit(struct peer_list *list, uint32_t application);

/* Whether two or more applications caused the vertex, or it caused something in two or more. */
bool peers_are_mixed(const struct peer_list *list);

/* Whether the edge is an interaction between programs. */
bool peers_interact_by(const struct argus_edge *edge);

#endif
