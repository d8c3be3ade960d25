/* The rules that shape the graph, by number; rules.def is the table. */
#ifndef ARGUS_GRAPH_RULES_H
#define ARGUS_GRAPH_RULES_H

#include "argus/graph.h"

enum rule_id {
#define RULE(symbol, name, stage, description) RULE_##symbol,
#include "graph/rules.def"
#undef RULE
    RULE_COUNT
};

struct argus_graph;
struct argus_rule_set;

/* Makes the rows of a graph: the built-in rules, then those of `set` (may be NULL), whose texts are
 * copied. The counts are 0. */
bool rules_init(struct argus_graph *graph, const struct argus_rule_set *set);
void rules_deinit(struct argus_graph *graph);

/* The row of the user's rule `index`. */
static inline enum rule_id rule_of_user(uint32_t index)
{
    return (enum rule_id)(RULE_COUNT + index);
}

#endif
