/* Searches all vertices; plugin/vertex_filter.h has the conditions. */
#include "plugin/vertex_filter.h"

static const struct command_option options[] = {
    VERTEX_FILTER_OPTIONS,
    {"limit", 'n', "N", "print the first N (100 as text, all as JSON)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { DEFAULT_LIMIT = 100 };

static struct argus_error *print(struct analysis *analysis, const vertex_list *found)
{
    uint64_t limit = analysis->json ? UINT64_MAX : DEFAULT_LIMIT;
    struct argus_error *error = arguments_number(analysis->arguments, "limit", &limit);
    if (error)
        return error;
    size_t shown = found->length < limit ? found->length : (size_t)limit;
    error = argus_report_vertices(&analysis->report, found->data, shown, analysis->json);
    if (!error && !found->length)
        session_note(analysis->session, "no vertex meets all conditions");
    if (!error && shown < found->length)
        session_note(analysis->session, "%zu of %zu vertices shown: --limit=N shows more", shown,
                     found->length);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct vertex_filter filter;
    vertex_list found = {0};
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = vertex_filter_get(&analysis, &filter);
    if (!error)
        error = vertex_filter_search(&analysis, &filter, &found);
    if (!error)
        error = print(&analysis, &found);
    vec_deinit(&found);
    return error;
}

const struct command command_graph_find = {
    .name = "graph find",
    .summary = "find vertices by process, thread, time and duration",
    .details = "All conditions have to hold. Vertices come thread by thread, in time order.",
    .example = "argus graph find --process=gedit --longer-than=100ms freeze.argus\n"
               "argus graph find --time=14:32:10.5 --thread=4711 freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
