/* Yield runs: yield.c. */
#ifndef ARGUS_GRAPH_RULES_YIELD_H
#define ARGUS_GRAPH_RULES_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"

struct builder;

/* Merges the current vertex, whose wait has just ended, into the yield run before it. */
bool rule_yield(struct builder *builder, uint32_t thread);
/* Same for the vertex before the current one, when a result has just shown that its timer woke
 * it. */
void rule_yield_told(struct builder *builder, uint32_t thread);

#endif
