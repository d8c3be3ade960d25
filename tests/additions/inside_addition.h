/* Added by tests/additions: an edge rule about other records. */
#ifndef ARGUS_GRAPH_RULES_INSIDE_ADDITION_H
#define ARGUS_GRAPH_RULES_INSIDE_ADDITION_H

#include "argus/record.h"

struct builder;
struct cpu_state;

/* An edge from the thread whose id the record has in place of an inode. */
void rule_addition(struct builder *builder, const struct cpu_state *cpu,
                   const struct argus_record *record);

#endif
