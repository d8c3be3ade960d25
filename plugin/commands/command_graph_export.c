/* Exports a part of the graph for other viewers (argus/export.h): by conditions, or around one
 * vertex. */
#include "argus/export.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "plugin/export_hangs.h"
#include "plugin/output_file.h"
#include "plugin/vertex_filter.h"

enum { DEFAULT_HOPS = 3 };

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write to FILE, not to standard output"},
    {"format", 0, "trace-events|perfetto|pprof|firefox|dot|jsonl|jsonl-gz|sqlite",
     "format [FILE's]"},
    {"around", 0, "V", "only this vertex and those near it"},
    {"hops", 0, "N", "with --around: those up to N edges away (3)"},
    VERTEX_FILTER_OPTIONS,
    {"threshold", 't', "DURATION", "count as a hang what lasts DURATION or longer (2s)"},
    {"limit", 'n', "N", "write at most N vertices [by format]"},
    COMMAND_OPTIONS_END,
};

/* Chosen by --format, else by the suffix of the file. */
static struct argus_error *format_get(const struct arguments *arguments,
                                      const struct argus_export_format **ret)
{
    const char *name = arguments_option(arguments, "format");
    const char *path = arguments_option(arguments, "output");
    size_t count = argus_export_formats(ret);
    const struct argus_export_format *all = *ret;
    char names[256];
    struct text text = {names, sizeof(names), 0};
    if (name)
        *ret = argus_export_format_named(name);
    else if (path && argus_export_format_of(path))
        *ret = argus_export_format_of(path);
    for (size_t i = 0; i < count; i++)
        text_add(&text, "%s%s", i ? ", " : "", all[i].name);
    if (!*ret)
        return argus_error_create(ARGUS_ERROR_USAGE, "--format: '%s' is none of %s", name, names);
    if ((*ret)->lacks)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "this build of argus cannot write the format %s: it was built "
                                  "without %s",
                                  (*ret)->name, (*ret)->lacks);
    if ((*ret)->is_binary && !path)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "the format %s is not text: write it to a file, with -o FILE",
                                  (*ret)->name);
    return NULL;
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

/* What is exported, and how. */
struct export
{
    struct analysis analysis;
    const struct argus_export_format *format;
    struct vertex_filter filter;
    vertex_list found;
    size_t count; /* of these, how many are written: the nearest ones to a vertex, or thread by
                     thread */
    struct export_hangs hangs;
    struct argus_contexts *contexts; /* owned; NULL: the trace has no stacks */
    char *folder;                    /* owned; of the file; NULL: it has none */
};

/* The folder of a new or plain file, which has room for it; NULL: another one must do. The caller
 * frees it. */
static char *folder_of(const char *path)
{
    struct stat info;
    char *folder = stat(path, &info) == 0 && !S_ISREG(info.st_mode) ? NULL : strdup(path);
    char *slash = folder ? strrchr(folder, '/') : NULL;
    if (slash)
        slash[slash == folder] = '\0';
    else if (folder)
        snprintf(folder, strlen(path) + 1, ".");
    return folder;
}

static struct argus_error *write_part(struct export *export)
{
    struct analysis *analysis = &export->analysis;
    uint64_t edges_cut = 0;
    argus_export_order(export->found.data, export->count);
    struct argus_export part = {
        .vertices = export->found.data,
        .count = export->count,
        .hangs = export->hangs.items,
        .hang_count = export->hangs.count,
        .contexts = export->contexts,
        .folder = export->folder,
    };
    struct argus_error *error = export->format->write(&analysis->report, &part, &edges_cut);
    if (!error && export->count < export->found.length)
        session_note(analysis->session, "%zu of %zu vertices written: --limit=N writes more",
                     export->count, export->found.length);
    if (!error && edges_cut)
        session_note(analysis->session, "%llu edges lead out of the part and were left out",
                     (unsigned long long)edges_cut);
    if (!error)
        analysis_note_unnamed(analysis);
    return error;
}

static struct argus_error *collect(struct export *export)
{
    struct analysis *analysis = &export->analysis;
    const char *around = arguments_option(analysis->arguments, "around");
    uint64_t limit = export->format->limit;
    struct argus_error *error = arguments_number(analysis->arguments, "limit", &limit);
    if (!error)
        error = vertex_filter_get(analysis, &export->filter);
    if (error)
        return error;
    if (around)
        error = collect_around(analysis, around, &export->filter, limit, &export->found);
    else if (arguments_has(analysis->arguments, "hops"))
        error = argus_error_create(ARGUS_ERROR_USAGE, "--hops needs --around=V");
    else
        error = vertex_filter_search(analysis, &export->filter, &export->found);
    export->count = export->found.length < limit ? export->found.length : (size_t)limit;
    return error;
}

/* Writes to -o FILE or to the command's normal output. */
static struct argus_error *write_somewhere(struct export *export)
{
    struct analysis *analysis = &export->analysis;
    const char *path = arguments_option(analysis->arguments, "output");
    struct output_file file;
    if (!path)
        return write_part(export);
    struct argus_error *error = export->format->is_binary ? output_file_open_binary(path, &file)
                                                          : output_file_open(path, &file);
    if (error)
        return error;
    analysis->report.sink = &file.sink;
    export->folder = folder_of(path);
    error = write_part(export);
    analysis->report.sink = &analysis->sink;
    if (!error && session_interrupted(analysis->session))
        error = session_interrupt_error();
    error = output_file_close(&file, error);
    if (!error)
        session_note(analysis->session, "%s: %zu vertices, for %s", path, export->count,
                     export->format->viewer);
    return error;
}

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

static struct argus_error *find_contexts(struct export *export)
{
    struct analysis *analysis = &export->analysis;
    struct argus_contexts_options wanted = ARGUS_CONTEXTS_OPTIONS;
    wanted.process = export->filter.process;
    struct argus_error *error =
        argus_contexts_create(analysis->graph, analysis->report.symbols, &wanted, show_progress,
                              analysis->session, &export->contexts);
    if (error && error->code == ARGUS_ERROR_NOT_FOUND) {
        argus_error_destroy(error);
        return NULL;
    }
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct export export = {.count = 0};
    struct argus_error *error = format_get(arguments, &export.format);
    if (!error)
        error = analysis_begin(session, arguments, 0, 0, &export.analysis);
    if (!error)
        error = collect(&export);
    if (!error && export.format->wants_hangs)
        error = export_hangs_find(&export.analysis, &export.filter, &export.hangs);
    if (!error && export.format->wants_contexts)
        error = find_contexts(&export);
    if (!error)
        error = write_somewhere(&export);
    argus_contexts_destroy(export.contexts);
    export_hangs_deinit(&export.hangs);
    free(export.folder);
    vec_deinit(&export.found);
    return error;
}

const struct command command_graph_export = {
    .name = "graph export",
    .summary = "write a part of the graph for other programs: Perfetto, SQLite …",
    .details = "All conditions have to hold; without one it is the whole graph. Edges are\n"
               "written where both ends are; those that lead out are counted.\n"
               "\n"
               "  perfetto (.pftrace): Perfetto's own format, for ui.perfetto.dev and its\n"
               "  trace_processor. What each CPU ran, states of threads, segments named after\n"
               "  what ran (callback, function, system call), waits with their call stacks,\n"
               "  CPU samples, edges as arrows, and a track with each hang and its root\n"
               "  causes; with the time of day.\n"
               "\n"
               "  trace-events (.json): for ui.perfetto.dev or chrome://tracing. Threads as\n"
               "  tracks, segments and waits as slices, edges as arrows.\n"
               "\n"
               "  pprof (.pb.gz): for 'go tool pprof'. Call stacks with their CPU samples,\n"
               "  time on a CPU, and the waits that began in them; labels: process, thread.\n"
               "\n"
               "  firefox (.profile.json): for profiler.firefox.com. For each thread its CPU\n"
               "  samples with call stacks; waits, and hangs with their diagnoses, as markers.\n"
               "\n"
               "  dot (.dot): for Graphviz. Threads as frames, weak edges dashed.\n"
               "\n"
               "  jsonl (.jsonl), jsonl-gz (.jsonl.gz), sqlite (.sqlite): rows for programs:\n"
               "  processes, threads, vertices, edges, hangs, steps of their paths, root\n"
               "  causes, calling contexts (of the whole trace). The schema rows.json\n"
               "  describes each row; a table of SQLite has the same columns.\n"
               "\n"
               "Without --limit, perfetto and firefox have at most 1,000,000 vertices,\n"
               "trace-events 200,000, dot 500; the others have all.",
    .example = "argus graph export -o freeze.pftrace freeze.argus\n"
               "argus graph export -o freeze.jsonl.gz freeze.argus\n"
               "argus graph export --from=+2s --to=+6s freeze.argus -o freeze.json\n"
               "argus graph export --format=dot --around=v1234 freeze.argus | dot -Tsvg > v.svg",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
