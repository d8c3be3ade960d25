/* Writes a part of the graph for other viewers. Both writers get a list of vertices and write them
 * with all edges between them. An edge that leaves this part is not written, only counted.
 *
 * perfetto: the Trace Event Format in JSON, which ui.perfetto.dev, chrome://tracing and speedscope
 * open. A thread is a track,
 *           a vertex a slice and so is its wait; an edge is a flow from the moment of its cause to that of its effect; a cpu
 *           sample is an instant. Times are microseconds after the beginning of the trace.
 * dot:      Graphviz. A thread is a cluster, a vertex a box; weak edges are dashed, the order of a
 * thread is dotted.
 */
#ifndef ARGUS_EXPORT_H
#define ARGUS_EXPORT_H

#include "argus/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_export {
    const uint32_t *vertices; /* ascending, without duplicates */
    size_t count;
};

/* Sorts the IDs and removes duplicates. */
void argus_export_order(uint32_t *vertices, size_t count);

struct argus_error *argus_export_perfetto(const struct argus_report_context *context,
                                          const struct argus_export *part, uint64_t *ret_edges_cut);
struct argus_error *argus_export_dot(const struct argus_report_context *context,
                                     const struct argus_export *part, uint64_t *ret_edges_cut);

#ifdef __cplusplus
}
#endif
#endif
