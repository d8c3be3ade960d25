/* A graph must be the same when it was saved and loaded. */
#ifndef ARGUS_TESTS_SAVED_GRAPH_H
#define ARGUS_TESTS_SAVED_GRAPH_H

#include "argus/graph.h"

/* Saves and loads a graph that was built, and aborts with a sentence when the loaded one differs in any byte. */
void saved_graph_check(const struct argus_graph *graph);

#endif
