/* The writers of the formats in export_formats.c. Each writes `part` to the context's sink, and
 * counts the edges that lead out of it. */
#ifndef ARGUS_EXPORT_WRITERS_H
#define ARGUS_EXPORT_WRITERS_H

#include "argus/export.h"

/* The Trace Event Format in JSON, which ui.perfetto.dev, chrome://tracing and speedscope open. A
 * thread is a track, a vertex a slice and so is its wait; an edge is a flow from the moment of its
 * cause to that of its effect; a CPU sample is an instant. Times are microseconds after the
 * beginning of the trace. */
struct argus_error *argus_export_trace_events(const struct argus_report_context *context,
                                              const struct argus_export *part,
                                              uint64_t *ret_edges_cut);
/* Graphviz. A thread is a cluster, a vertex a box; weak edges are dashed, the order of a thread is
 * dotted. */
struct argus_error *argus_export_dot(const struct argus_report_context *context,
                                     const struct argus_export *part, uint64_t *ret_edges_cut);
/* Perfetto's own format: export_perfetto.c. */
struct argus_error *argus_export_perfetto(const struct argus_report_context *context,
                                          const struct argus_export *part, uint64_t *ret_edges_cut);
/* Call stacks of CPU samples and of waits, for pprof and the Firefox Profiler: export_pprof.c,
 * export_firefox.c. */
struct argus_error *argus_export_pprof(const struct argus_report_context *context,
                                       const struct argus_export *part, uint64_t *ret_edges_cut);
struct argus_error *argus_export_firefox(const struct argus_report_context *context,
                                         const struct argus_export *part, uint64_t *ret_edges_cut);
/* Rows (rows.def) as JSON Lines, also packed by gzip, and as an SQLite database. */
struct argus_error *argus_export_jsonl(const struct argus_report_context *context,
                                       const struct argus_export *part, uint64_t *ret_edges_cut);
struct argus_error *argus_export_jsonl_gz(const struct argus_report_context *context,
                                          const struct argus_export *part, uint64_t *ret_edges_cut);
struct argus_error *argus_export_sqlite(const struct argus_report_context *context,
                                        const struct argus_export *part, uint64_t *ret_edges_cut);

#endif
