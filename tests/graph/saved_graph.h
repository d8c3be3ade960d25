/* A graph must be the same after saving and loading. */
#ifndef ARGUS_TESTS_SAVED_GRAPH_H
#define ARGUS_TESTS_SAVED_GRAPH_H

#include "argus/graph.h"

/* Saves and loads a graph, and aborts with a message if the loaded one differs in any byte. */
void saved_graph_check(const struct argus_graph *graph);

#endif
