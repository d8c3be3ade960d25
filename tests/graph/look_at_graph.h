/* For those who build graphs of any records: argus_inspect() and argus_compare() must work on each. */
#ifndef ARGUS_TESTS_LOOK_AT_GRAPH_H
#define ARGUS_TESTS_LOOK_AT_GRAPH_H

#include "argus/graph.h"

/* What they find does not matter; their figures must fit the graph and each other, otherwise this aborts and says why. */
void look_at_graph(const struct argus_graph *graph);

#endif
