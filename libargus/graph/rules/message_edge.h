/* The edges of messages: message_edge.c. */
#ifndef ARGUS_GRAPH_RULES_MESSAGE_EDGE_H
#define ARGUS_GRAPH_RULES_MESSAGE_EDGE_H

#include "argus/graph.h"
#include "event/pairing/pairing.h"

struct builder;

/* Same contract as pairing_found: a send and its receive have been paired. */
void rule_message(void *context, const struct pairing_pair *pair);
/* Merges a message and a wake-up between the same two vertices into one edge. `edges`: all edges
 * into one vertex; they are reordered. Returns how many are left. */
size_t rule_message_merge(struct builder *builder, struct argus_edge *edges, size_t count);

#endif
