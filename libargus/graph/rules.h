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

/* Name, stage and description of every rule, counts 0. */
extern const struct argus_rule rule_rows[RULE_COUNT];

#endif
