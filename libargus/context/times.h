/* The one definition of a node's times, from which every output takes them. */
#ifndef ARGUS_CONTEXT_TIMES_H
#define ARGUS_CONTEXT_TIMES_H

#include "context/tree.h"

/* Computes own_ns and total_ns of all nodes, after inference_sum() and sampled_finish(). */
void times_settle(struct tree *tree);

/* Own work: own time without waits for others, for a CPU, and for a time. Waits for devices and
 * page faults count as work. */
double node_work_ns(const struct argus_context_node *node, enum argus_estimate estimate);

/* Own time on a CPU. */
uint64_t node_cpu_ns(const struct argus_context_node *node, enum argus_estimate estimate);

/* Duration of one call: its product with the number of calls is the total. */
double node_mean_ns(const struct argus_context_node *node, enum argus_estimate estimate);

#endif
