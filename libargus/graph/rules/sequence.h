/* Sequence edges: sequence.c. */
#ifndef ARGUS_GRAPH_RULES_SEQUENCE_H
#define ARGUS_GRAPH_RULES_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"

struct argus_graph;

/* Makes the edge to `to` (final id) from the vertex before it. */
struct argus_edge rule_sequence(const struct argus_graph *graph, uint32_t to);

#endif
