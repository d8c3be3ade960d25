#include "plugin/analysis.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    return error ? error : argus_report_rules(&analysis.report, analysis.json);
}

const struct command command_schema = {
    .name = "schema",
    .summary = "list the rules that make the graph, and how often each applied",
    .details = "Boundary rules end a vertex, edge rules connect two, cull rules leave out\n"
               "what is not causality, split and merge rules cut vertices and join them.",
    .example = "argus schema freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
