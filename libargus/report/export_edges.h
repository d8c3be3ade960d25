/* The edges of a part of the graph: what its writers share. */
#ifndef ARGUS_REPORT_EXPORT_EDGES_H
#define ARGUS_REPORT_EXPORT_EDGES_H

#include "argus/export.h"

bool export_has(const struct argus_export *part, uint32_t vertex);

/* An edge that is drawn: both ends are in the part, and it is not only the order of a thread, which its track or frame shows. */
bool export_draws(const struct argus_export *part, const struct argus_edge *edge);

/* Edges, other than a thread's order, that only one end of is in the part. */
uint64_t export_count_cut(const struct argus_graph *graph, const struct argus_export *part);

#endif
