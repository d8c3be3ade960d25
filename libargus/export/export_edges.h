/* The edges of a part of the graph, for all export formats. */
#ifndef ARGUS_EXPORT_EDGES_H
#define ARGUS_EXPORT_EDGES_H

#include "argus/export.h"

bool export_has(const struct argus_export *part, uint32_t vertex);

/* Whether an edge is drawn: both ends are in the part, and it is more than the order within a
 * thread, which the thread's track or frame shows. */
bool export_draws(const struct argus_export *part, const struct argus_edge *edge);

/* The number of edges of which only one end is in the part, without the order within threads. */
uint64_t export_count_cut(const struct argus_graph *graph, const struct argus_export *part);

#endif
