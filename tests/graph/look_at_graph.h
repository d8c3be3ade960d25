/* For fuzzers of the graph: argus_inspect() and argus_compare() must work on every graph. */
#ifndef ARGUS_TESTS_LOOK_AT_GRAPH_H
#define ARGUS_TESTS_LOOK_AT_GRAPH_H

#include "argus/graph.h"

/* Their findings do not matter, but their figures must be consistent with the graph and each other;
 * otherwise this aborts with a message. */
void look_at_graph(const struct argus_graph *graph);

#endif
