/* Waits that continue after a short check: rewait.c. */
#ifndef ARGUS_GRAPH_RULES_REWAIT_H
#define ARGUS_GRAPH_RULES_REWAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/graph.h"

struct builder;

/* Takes the current vertex back if the thread only woke up to wait again. True: the wait goes
 * on. */
bool rule_rewait(struct builder *builder, uint32_t thread);

#endif
