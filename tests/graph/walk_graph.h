/* Reads everything that is reachable in a graph, as its users do: an error found by a sanitizer is
 * an error of the graph. */
#ifndef ARGUS_TESTS_WALK_GRAPH_H
#define ARGUS_TESTS_WALK_GRAPH_H

#include "argus/graph.h"

/* Returns a number that depends on all data read. */
uint64_t walk_graph(const struct argus_graph *graph);

#endif
