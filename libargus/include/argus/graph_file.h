/* Saves a built graph to a file and maps it the next time, which takes a tenth of the time of a
 * build.
 *
 * The file is valid for one state of one trace, one build of Argus and one set of user rules, all
 * of which it names. It is not portable to other machines. If anything about it is wrong, loading
 * fails and the caller builds the graph again: no part of the file is used before it was checked
 * (libargus/graph/file/graph_load.c).
 */
#ifndef ARGUS_GRAPH_FILE_H
#define ARGUS_GRAPH_FILE_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the graph of `trace`, as argus_graph_build() with `options` would build it, from `path`.
 * The arguments are those of argus_graph_build(). ARGUS_ERROR_NOT_FOUND: there is no such file. Any
 * other error says why the file cannot be used.
 *
 * The file is read, so that a later change of it does no harm. It must belong to the user who loads
 * it. */
struct argus_error *argus_graph_load(const struct argus_trace *trace,
                                     const struct argus_graph_options *options, const char *path,
                                     struct argus_graph **ret);

/* Writes `graph` to a new file, mode 0600, and renames it to `path` when it is complete. Fails
 * without permission or room (it takes at most half of what the file system has left, and 16 times
 * the size of the trace if that is more than 16 MiB). Also fails for a trace whose copied stacks
 * were unwound when it was opened: the result of that unwinding depends on more than the trace.
 * `progress` may be NULL. */
struct argus_error *argus_graph_save(const struct argus_graph *graph, const char *path,
                                     argus_progress progress, void *context);

/* The file from which the graph was loaded, borrowed; NULL: it was built.
 * argus_graph_build_seconds() returns how long the build or the load took. */
const char *argus_graph_loaded_from(const struct argus_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
