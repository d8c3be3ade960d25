/* Edges of messages: message_edge.c. */
#ifndef ARGUS_GRAPH_RULES_MESSAGE_EDGE_H
#define ARGUS_GRAPH_RULES_MESSAGE_EDGE_H

#include "argus/graph.h"
#include "event/pairing/pairing.h"

struct builder;

/* As pairing_found: a send and its receive have been found. */
void rule_message(void *context, const struct pairing_pair *pair);
/* Makes one edge of a message and the wake-up between the same two vertices. `edges`: all into one vertex, whose order
 * changes; returns how many are left. */
size_t rule_message_merge(struct builder *builder, struct argus_edge *edges, size_t count);

#endif
