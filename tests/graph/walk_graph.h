/* Touches everything that a graph leads to, as its users do: what a sanitizer then finds is a fault of the graph. */
#ifndef ARGUS_TESTS_WALK_GRAPH_H
#define ARGUS_TESTS_WALK_GRAPH_H

#include "argus/graph.h"

/* Returns a number that depends on all of it. */
uint64_t walk_graph(const struct argus_graph *graph);

#endif
