/* A graph reduced to the ends of its edges, so that two kinds of graph are measured by the same
 * code. */
#ifndef ARGUS_GRAPH_NETWORK_H
#define ARGUS_GRAPH_NETWORK_H

#include "argus/compare.h"

enum network_edge_flags {
    NETWORK_WEAK = 1,
    NETWORK_SEQUENCE = 2,    /* to the next vertex of the same thread */
    NETWORK_INTERACTION = 4, /* an interaction of two programs: peers.h */
};

struct network {
    size_t vertex_count, edge_count;
    uint32_t *process; /* owned: by vertex */
    uint32_t *from, *to;
    uint64_t *from_ns; /* by edge: the time of the cause */
    uint8_t *flags;
    uint32_t *in_first, *in;   /* edges into a vertex: in[in_first[v]] … */
    uint32_t *out_first, *out; /* edges out of a vertex, likewise */
};

/* Allocates room for so many; the caller fills it. False without memory; call network_deinit() in
 * that case too. */
bool network_init(struct network *network, size_t vertices, size_t edges);
/* Makes the lists of edges. To be called when process, from, to, from_ns and flags are filled. */
void network_finish(struct network *network);
void network_deinit(struct network *network);

/* Counts. Edges with a flag in `skip` are ignored. `applications`: by process, ARGUS_NONE for the
 * kernel's. */
void network_count(const struct network *network, uint8_t skip, const uint32_t *applications,
                   struct argus_graph_figures *ret);
/* A start of a backward walk over all edges without a flag in `skip`. The walk is made twice: over
 * all causes, and only over causes at or after `since_ns`. False without memory. */
struct network_start {
    uint64_t since_ns;
    uint32_t vertex;
};
bool network_reach(const struct network *network, uint8_t skip, const struct network_start *starts,
                   size_t start_count, size_t process_count, struct argus_graph_figures *ret);

#endif
