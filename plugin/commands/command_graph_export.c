/* Exports a part of the graph for other viewers (argus/export.h): by conditions, or around one
 * vertex. */
#include "argus/export.h"

#include <string.h>

#include "plugin/output_file.h"
#include "plugin/vertex_filter.h"

enum { DEFAULT_HOPS = 3 };

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write to FILE, not to standard output"},
    {"format", 0, "perfetto|dot", "perfetto (the default) or dot"},
    {"around", 0, "V", "only this vertex and those near it"},
    {"hops", 0, "N", "with --around: those up to N edges away (3)"},
    VERTEX_FILTER_OPTIONS,
    {"limit", 'n', "N", "write at most N vertices (200000; dot: 500)"},
    COMMAND_OPTIONS_END,
};

/* The formats. To add one: a row, its writer in libargus/report, a sentence in argus/export.h. */
static const struct format {
    const char *name;
    struct argus_error *(*write)(const struct argus_report_context *context,
                                 const struct argus_export *part, uint64_t *ret_edges_cut);
    uint64_t limit; /* number of vertices that its viewers can handle */
    const char *viewer;
} formats[] = {
    {"perfetto", argus_export_perfetto, 200000, "ui.perfetto.dev or chrome://tracing"},
    {"dot", argus_export_dot, 500, "Graphviz: dot -Tsvg"},
};

static struct argus_error *format_get(const struct arguments *arguments, const struct format **ret)
{
    const char *name = arguments_option(arguments, "format");
    *ret = &formats[0];
    for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(name, formats[i].name) == 0) {
            *ret = &formats[i];
            return NULL;
        }
    return name ? argus_error_create(ARGUS_ERROR_USAGE, "--format: '%s' is none of perfetto, dot",
                                     name)
                : NULL;
}

/* The vertices around a given one, nearest first. */
struct surroundings {
    const struct argus_graph *graph;
    vertex_list found;
    bool *seen; /* by vertex */
};

static bool reach(struct surroundings *around, uint32_t vertex)
{
    if (vertex == ARGUS_NONE || around->seen[vertex])
        return true;
    around->seen[vertex] = true;
    return vec_push(&around->found, vertex);
}

/* Adds causes, effects, and the previous vertex of the same thread. */
static bool reach_neighbours(struct surroundings *around, uint32_t vertex)
{
    const struct argus_edge *in, *all;
    const uint32_t *out;
    argus_graph_edges(around->graph, &all);
    bool ok = reach(around, argus_graph_previous(around->graph, vertex));
    size_t in_count = argus_graph_in_edges(around->graph, vertex, &in);
    for (size_t i = 0; ok && i < in_count; i++)
        ok = reach(around, in[i].from);
    size_t out_count = argus_graph_out_edges(around->graph, vertex, &out);
    for (size_t i = 0; ok && i < out_count; i++)
        ok = reach(around, all[out[i]].to);
    return ok;
}

static struct argus_error *search_around(struct surroundings *around, uint32_t vertex,
                                         uint64_t hops, uint64_t limit)
{
    bool ok = reach(around, vertex);
    for (size_t first = 0; ok && hops > 0 && first < around->found.length; hops--) {
        size_t end = around->found.length;
        for (; ok && first < end && around->found.length <= limit; first++)
            ok = reach_neighbours(around, around->found.data[first]);
        first = end;
    }
    return ok ? NULL : argus_error_memory();
}

static struct argus_error *collect_around(struct analysis *analysis, const char *word,
                                          const struct vertex_filter *filter, uint64_t limit,
                                          vertex_list *ret)
{
    const struct argus_vertex *vertices;
    struct surroundings around = {.graph = analysis->graph};
    uint32_t vertex;
    uint64_t hops = DEFAULT_HOPS;
    struct argus_error *error = analysis_vertex(analysis, word, &vertex);
    if (!error)
        error = arguments_number(analysis->arguments, "hops", &hops);
    if (error)
        return error;
    around.seen = calloc(argus_graph_vertices(analysis->graph, &vertices), sizeof(bool));
    error = around.seen ? search_around(&around, vertex, hops, limit) : argus_error_memory();
    for (size_t i = 0; !error && i < around.found.length; i++)
        if (vertex_filter_matches(analysis->graph, filter, around.found.data[i]) &&
            !vec_push(ret, around.found.data[i]))
            error = argus_error_memory();
    vec_deinit(&around.found);
    free(around.seen);
    return error;
}

/* Writes the first `limit` of the found vertices: the nearest ones to a vertex, or thread by
 * thread. */
static struct argus_error *write_part(struct analysis *analysis, const struct format *format,
                                      vertex_list *found, uint64_t limit)
{
    size_t count = found->length < limit ? found->length : (size_t)limit;
    uint64_t edges_cut = 0;
    argus_export_order(found->data, count);
    struct argus_export part = {found->data, count};
    struct argus_error *error = format->write(&analysis->report, &part, &edges_cut);
    if (!error && count < found->length)
        session_note(analysis->session, "%zu of %zu vertices written: --limit=N writes more", count,
                     found->length);
    if (!error && edges_cut)
        session_note(analysis->session, "%llu edges lead out of the part and were left out",
                     (unsigned long long)edges_cut);
    if (!error)
        analysis_note_unnamed(analysis);
    return error;
}

static struct argus_error *collect(struct analysis *analysis, uint64_t limit, vertex_list *ret)
{
    const char *around = arguments_option(analysis->arguments, "around");
    struct vertex_filter filter;
    struct argus_error *error = vertex_filter_get(analysis, &filter);
    if (error)
        return error;
    if (around)
        return collect_around(analysis, around, &filter, limit, ret);
    if (arguments_has(analysis->arguments, "hops"))
        return argus_error_create(ARGUS_ERROR_USAGE, "--hops needs --around=V");
    return vertex_filter_search(analysis, &filter, ret);
}

/* Writes to -o FILE or to the command's normal output. */
static struct argus_error *write_somewhere(struct analysis *analysis, const struct format *format,
                                           vertex_list *found, uint64_t limit)
{
    const char *path = arguments_option(analysis->arguments, "output");
    struct output_file file;
    if (!path)
        return write_part(analysis, format, found, limit);
    struct argus_error *error = output_file_open(path, &file);
    if (error)
        return error;
    analysis->report.sink = &file.sink;
    error = write_part(analysis, format, found, limit);
    analysis->report.sink = &analysis->sink;
    if (!error && session_interrupted(analysis->session))
        error = session_interrupt_error();
    error = output_file_close(&file, error);
    if (!error)
        session_note(analysis->session, "%s: %zu vertices, for %s", path,
                     found->length < limit ? found->length : (size_t)limit, format->viewer);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    const struct format *format;
    vertex_list found = {0};
    struct argus_error *error = format_get(arguments, &format);
    uint64_t limit = error ? 0 : format->limit;
    if (!error)
        error = arguments_number(arguments, "limit", &limit);
    if (!error)
        error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = collect(&analysis, limit, &found);
    if (!error)
        error = write_somewhere(&analysis, format, &found, limit);
    vec_deinit(&found);
    return error;
}

const struct command command_graph_export = {
    .name = "graph export",
    .summary = "write a part of the graph for other viewers: Perfetto, Graphviz",
    .details = "All conditions have to hold; without one it is the whole graph. Edges are\n"
               "written where both ends are; those that lead out are counted.\n"
               "\n"
               "  perfetto  a file for ui.perfetto.dev or chrome://tracing: threads as\n"
               "            tracks, segments and waits as slices, edges as arrows\n"
               "  dot       for Graphviz: threads as frames, weak edges dashed",
    .example = "argus graph export --from=+2s --to=+6s freeze.argus -o freeze.json\n"
               "argus graph export --format=dot --around=v1234 freeze.argus | dot -Tsvg > v.svg",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
