/* The creation of threads: fork.c. */
#ifndef ARGUS_GRAPH_RULES_FORK_H
#define ARGUS_GRAPH_RULES_FORK_H

#include <stdint.h>

struct builder;

/* `creator` creates the thread `child`. */
void rule_fork(struct builder *builder, uint32_t creator, uint32_t child);

#endif
