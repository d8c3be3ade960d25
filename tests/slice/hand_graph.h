/* A hand-made graph, read through the accessors of argus/graph.h: the walks are tested without the
 * builder.
 *
 * Threads one after the other, each with its vertices in time order; then edges in any order; then
 * hand_graph_finish().
 */
#ifndef ARGUS_TESTS_HAND_GRAPH_H
#define ARGUS_TESTS_HAND_GRAPH_H

#include "argus/graph.h"

/* An empty graph; end with argus_graph_destroy(). */
struct argus_graph *hand_graph_create(void);

/* A new process with one thread of the same name and id; the thread's index. */
uint32_t hand_thread(struct argus_graph *graph, const char *name);

/* The same as a further thread of the process of `first`. */
uint32_t hand_thread_beside(struct argus_graph *graph, uint32_t first, const char *name);

/* A vertex of the latest thread that runs for all of [start, end) and ends in a wait of `kind`. */
uint32_t hand_vertex(struct argus_graph *graph, uint64_t start_ns, uint64_t end_ns,
                     enum argus_wait_kind kind);
struct argus_vertex *hand_vertex_get(struct argus_graph *graph, uint32_t vertex);

void hand_edge(struct argus_graph *graph, enum argus_edge_kind kind, uint32_t from, uint32_t to,
               uint64_t from_ns);

/* Sorts edges, sets the ends of waits that have a vertex after them; the other waits last until
 * `end_ns`. */
void hand_graph_finish(struct argus_graph *graph, uint64_t end_ns);

#endif
