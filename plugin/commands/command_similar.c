#include "plugin/analysis.h"

static const struct command_option options[] = {
    {"limit", 'n', "N", "print the N best (10)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_similars similars;
    uint32_t vertex;
    uint64_t limit = 10;
    struct argus_error *error = arguments_number(arguments, "limit", &limit);
    if (!error)
        error = analysis_begin(session, arguments, 1, 1, &analysis);
    if (!error)
        error = analysis_vertex(&analysis, analysis_word(&analysis, 0), &vertex);
    if (!error)
        error = argus_similar_find(analysis.graph, vertex, limit, &similars);
    if (error)
        return error;
    error = argus_report_similars(&analysis.report, vertex, &similars, analysis.json);
    argus_similars_deinit(&similars);
    return error;
}

const struct command command_similar = {
    .name = "similar",
    .arguments = "V",
    .summary = "find vertices like V whose wait went otherwise: candidates for a baseline",
    .details = "Compares what the vertices did, in order, the stacks they waited in and the\n"
               "processes they dealt with. The best baseline comes first.",
    .example = "argus similar freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
