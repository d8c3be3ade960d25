/* Graphs that are kept between two commands: beside the trace as FILE.graph, or, where that cannot be written, in
 * $XDG_CACHE_HOME/argus (~/.cache/argus).
 *
 * A graph that is built in the blink of an eye is not kept: only those of GRAPH_CACHE_LEAST_RECORDS records and more. */
#ifndef ARGUS_PLUGIN_GRAPH_CACHE_H
#define ARGUS_PLUGIN_GRAPH_CACHE_H

#include "argus/graph_file.h"
#include "plugin/session.h"

#define GRAPH_CACHE_LEAST_RECORDS 100000u

/* What the directory in the user's cache may hold: the oldest graphs go. Those beside traces are the user's own matter. */
#define GRAPH_CACHE_MOST_BYTES (4ull << 30)

/* Loads the graph of `trace`, or builds and keeps it. A kept graph that cannot be used is told in one line; where a built one
 * is kept now, or why it could not be, is in `*ret_kept`: owned by the caller; NULL: nothing was tried. */
struct argus_error *graph_cache_get(struct session *session, const struct argus_trace *trace,
                                    const struct argus_graph_options *options,
                                    argus_progress progress, struct argus_graph **ret,
                                    char **ret_kept);

#endif
