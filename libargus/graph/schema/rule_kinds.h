/* The kinds of rules that a user can write. Used by the parser, the schema and the man page's
 * test. */
#ifndef ARGUS_GRAPH_RULE_KINDS_H
#define ARGUS_GRAPH_RULE_KINDS_H

#include "argus/schema.h"

/* The parts of a rule's line, apart from its function. */
enum rule_part {
    RULE_PART_FROM = 1 << 0, /* the word "from" before the function */
    RULE_PART_IN = 1 << 1,   /* in LIBRARY */
    RULE_PART_KEY = 1 << 2,
    RULE_PART_SPACE = 1 << 3,
    RULE_PART_LABEL = 1 << 4,
    RULE_PART_RAN = 1 << 5,
    RULE_PART_WEAK = 1 << 6,
    RULE_PART_FIFO = 1 << 7,
    RULE_PART_REPEATS = 1 << 8,
};

struct rule_kind_row {
    const char *word;        /* first word of the rule's line */
    const char *stage;       /* as in graph/rules.def */
    const char *meaning;     /* for people: what the rule says about FUNCTION */
    const char *description; /* for the row in a graph's schema; %s is the function */
    unsigned parts;          /* enum rule_part: parts that the line may have */
    unsigned needs;          /* parts that it must have */
    bool probed;             /* recording sets a probe for it */
};

extern const struct rule_kind_row rule_kinds[ARGUS_RULE_KINDS];

#endif
