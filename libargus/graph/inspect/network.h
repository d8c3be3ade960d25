/* A graph with nothing but ends of edges, so that two kinds of graph are measured by the same code. */
#ifndef ARGUS_GRAPH_NETWORK_H
#define ARGUS_GRAPH_NETWORK_H

#include "argus/compare.h"

enum network_edge_flags {
    NETWORK_WEAK = 1,
    NETWORK_SEQUENCE = 2, /* to the next vertex of the same thread */
    NETWORK_TALK = 4,     /* one program deals with another: peers.h */
};

struct network {
    size_t vertex_count, edge_count;
    uint32_t *process; /* owned: of each vertex */
    uint32_t *from, *to;
    uint64_t *from_ns; /* when the cause of each edge happened */
    uint8_t *flags;
    uint32_t *in_first, *in;   /* edges into a vertex: in[in_first[v]] … */
    uint32_t *out_first, *out; /* and out of it */
};

/* Room for so many, to be filled by the caller; false without memory (network_deinit() all the same). */
bool network_init(struct network *network, size_t vertices, size_t edges);
/* After process, from, to, from_ns and flags have been filled: makes the lists of edges. */
void network_finish(struct network *network);
void network_deinit(struct network *network);

/* Counts; `skip`: flags of edges that count as not there. `applications`: by process, ARGUS_NONE for the kernel's. */
void network_count(const struct network *network, uint8_t skip, const uint32_t *applications,
                   struct argus_graph_figures *ret);
/* Goes back from each start (a vertex, or ARGUS_NONE) over all edges but those with a flag of `skip`: once as far as there are
 * edges, and once over causes at or after `since_ns` only. False without memory. */
struct network_start {
    uint64_t since_ns;
    uint32_t vertex;
};
bool network_reach(const struct network *network, uint8_t skip, const struct network_start *starts,
                   size_t start_count, size_t process_count, struct argus_graph_figures *ret);

#endif
