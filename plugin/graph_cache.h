/* Graphs that are saved between two commands: next to the trace as FILE.graph, or, if that folder
 * is not writable, in $XDG_CACHE_HOME/argus (~/.cache/argus).
 *
 * Graphs that are built in an instant are not saved: only those of traces with at least
 * GRAPH_CACHE_LEAST_RECORDS records.
 */
#ifndef ARGUS_PLUGIN_GRAPH_CACHE_H
#define ARGUS_PLUGIN_GRAPH_CACHE_H

#include "argus/graph_file.h"
#include "plugin/session.h"

#define GRAPH_CACHE_LEAST_RECORDS 100000u

/* Size limit of the folder in the user's cache; the oldest graphs are deleted. Those next to traces
 * are never deleted. */
#define GRAPH_CACHE_MOST_BYTES (4ull << 30)

/* Loads the graph of `trace`, or builds and saves it. If a saved graph cannot be used, one line
 * says so. `*ret_kept` says where a newly built graph was saved, or why it was not: owned by the
 * caller; NULL: no attempt was made. */
struct argus_error *graph_cache_get(struct session *session, const struct argus_trace *trace,
                                    const struct argus_graph_options *options,
                                    argus_progress progress, struct argus_graph **ret,
                                    char **ret_kept);

#endif
