#include "plugin/graph_cache.h"

#include "plugin/cache_trim.h"
#include "plugin/paths.h"
#include "plugin/sidecar.h"

/* --- saving --- */

/* `*ret_kept` says where the graph was saved, or why it was not. The only error is an interruption
 * by Ctrl-C. */
static struct argus_error *keep(const struct argus_graph *graph, const struct sidecar *places,
                                argus_progress progress, void *context, char **ret_kept)
{
    struct argus_error *error = NULL;
    for (int i = 0; i < SIDECAR_PLACES; i++) {
        if (!places->path[i])
            continue;
        if (i == SIDECAR_IN_CACHE)
            paths_make_directories(places->directory);
        argus_error_destroy(error);
        error = argus_graph_save(graph, places->path[i], progress, context);
        if (error &&
            (error->code == ARGUS_ERROR_INTERRUPTED || error->code == ARGUS_ERROR_UNSUPPORTED))
            break;
        if (error)
            continue;
        if (i == SIDECAR_IN_CACHE)
            cache_trim(places->directory, ".graph", GRAPH_CACHE_MOST_BYTES);
        if (asprintf(ret_kept, "kept as %s", places->path[i]) < 0)
            *ret_kept = NULL;
        return NULL;
    }
    if (error && error->code == ARGUS_ERROR_INTERRUPTED)
        return error;
    if (error && asprintf(ret_kept, "not kept: %s", error->message) < 0)
        *ret_kept = NULL;
    argus_error_destroy(error);
    return NULL;
}

/* --- loading --- */

static struct argus_error *load(const struct argus_trace *trace,
                                const struct argus_graph_options *options,
                                const struct sidecar *places, struct argus_graph **ret)
{
    struct argus_error *why = NULL;
    for (int i = 0; i < SIDECAR_PLACES; i++) {
        if (!places->path[i])
            continue;
        struct argus_error *error = argus_graph_load(trace, options, places->path[i], ret);
        if (!error) {
            argus_error_destroy(why);
            return NULL;
        }
        bool says_more = !why || why->code == ARGUS_ERROR_NOT_FOUND;
        argus_error_destroy(says_more ? why : error);
        why = says_more ? error : why;
    }
    return why;
}

/* Loads the saved graph if it exists and is valid. */
static void try_to_load(struct session *session, const struct argus_trace *trace,
                        const struct argus_graph_options *options, const struct sidecar *places,
                        struct argus_graph **ret)
{
    struct argus_error *why = load(trace, options, places, ret);
    if (why && why->code != ARGUS_ERROR_NOT_FOUND)
        session_note(session, "%s: the graph is built again", why->message);
    argus_error_destroy(why);
}

struct argus_error *graph_cache_get(struct session *session, const struct argus_trace *trace,
                                    const struct argus_graph_options *options,
                                    argus_progress progress, struct argus_graph **ret,
                                    char **ret_kept)
{
    struct sidecar places;
    struct argus_graph *graph = NULL;
    bool used = !session->no_cache && argus_trace_record_count(trace) >= GRAPH_CACHE_LEAST_RECORDS;
    *ret_kept = NULL;
    if (!used)
        return argus_graph_build(trace, options, progress, session, ret);
    sidecar_init(&places, argus_trace_path(trace), ".graph");
    try_to_load(session, trace, options, &places, &graph);
    struct argus_error *error = NULL;
    if (!graph) {
        error = argus_graph_build(trace, options, progress, session, &graph);
        if (!error)
            error = keep(graph, &places, progress, session, ret_kept);
    }
    sidecar_deinit(&places);
    if (error)
        argus_graph_destroy(graph);
    else
        *ret = graph;
    return error;
}
