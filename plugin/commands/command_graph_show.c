#include "plugin/analysis.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    uint32_t vertex;
    struct argus_error *error = analysis_begin(session, arguments, 1, 1, &analysis);
    if (!error)
        error = analysis_vertex(&analysis, analysis_word(&analysis, 0), &vertex);
    return error ? error : argus_report_vertex(&analysis.report, vertex, analysis.json);
}

const struct command command_graph_show = {
    .name = "graph show",
    .arguments = "V",
    .summary = "show one vertex: what it ran, its wait, its causes and effects",
    .example = "argus graph show freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
