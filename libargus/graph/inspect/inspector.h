/* Shared state of the inspection's parts: see argus/inspect.h. */
#ifndef ARGUS_GRAPH_INSPECTOR_H
#define ARGUS_GRAPH_INSPECTOR_H

#include "argus/inspect.h"
#include "graph/inspect/peers.h"

struct inspector {
    const struct argus_graph *graph;
    const struct argus_inspect_options *options;
    const struct argus_process *processes;
    const struct argus_thread *threads;
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    size_t process_count, thread_count, vertex_count;
    uint32_t *applications; /* owned: by process */
    struct argus_inspection *result;
};

static inline uint32_t inspector_process(const struct inspector *inspector, uint32_t vertex)
{
    return inspector->threads[inspector->vertices[vertex].thread].process;
}

static inline uint32_t inspector_application(const struct inspector *inspector, uint32_t vertex)
{
    return inspector->applications[inspector_process(inspector, vertex)];
}

/* The example vertices of a finding: those with the greatest weight; among equal ones the earliest
 * first. */
struct example_list {
    uint32_t vertices[ARGUS_INSPECT_EXAMPLES];
    uint64_t weights[ARGUS_INSPECT_EXAMPLES];
    uint32_t count;
};
void examples_offer(struct example_list *list, uint32_t vertex, uint64_t weight);

/* Fills `ret` with the applications, apart from its own, with which `vertex` interacts. */
void peers_of(const struct inspector *inspector, uint32_t vertex, struct peer_list *ret);

/* inspect_batching.c, inspect_causes.c: fill in their parts of the result. */
struct argus_error *inspect_batching(struct inspector *inspector);
struct argus_error *inspect_causes(struct inspector *inspector);
/* split_place.c: finds where `vertex` could be cut between the work for two peers. */
struct argus_split_place split_place_find(const struct inspector *inspector, uint32_t vertex);

#endif
