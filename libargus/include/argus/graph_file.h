/* A graph that was built is saved to a file and mapped the next time, which takes a tenth of the time.
 *
 * The file is good for one trace as it is now, one build of Argus and one set of a user's rules, and says which; it is
 * not for other machines. Whatever is wrong with it, loading says so and the caller builds the graph again: nothing in
 * it is believed before it was checked (libargus/graph/file/graph_load.c).
 */
#ifndef ARGUS_GRAPH_FILE_H
#define ARGUS_GRAPH_FILE_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads the graph of `trace`, as argus_graph_build() with `options` would build it, from `path`. Arguments are as of that
 * function. ARGUS_ERROR_NOT_FOUND: there is no such file. Any other error says why the file cannot be used.
 *
 * The file stays mapped until argus_graph_destroy(). Argus itself never writes to a saved file, only puts another one
 * in its place; the file has to belong to the user who loads it, so that nobody else can cut it off meanwhile. */
struct argus_error *argus_graph_load(const struct argus_trace *trace,
                                     const struct argus_graph_options *options, const char *path,
                                     struct argus_graph **ret);

/* Writes `graph` to `path`: a new file, mode 0600, that is put in the place of an older one when it is whole. Fails for
 * want of permission or room (more than half of what the file system has left is not taken), and for a trace whose copied
 * stacks had to be unwound when it was opened: what those are depends on more than the trace. `progress` may be NULL. */
struct argus_error *argus_graph_save(const struct argus_graph *graph, const char *path,
                                     argus_progress progress, void *context);

/* The file that the graph was loaded from, borrowed; NULL: it was built. argus_graph_build_seconds() says how long the one or
 * the other took. */
const char *argus_graph_loaded_from(const struct argus_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
