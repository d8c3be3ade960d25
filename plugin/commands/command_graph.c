#include "plugin/analysis.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = argus_report_graph_summary(&analysis.report, analysis.json);
    if (!error && !analysis.json && analysis.trace->kept)
        session_printf(session, "           %s\n", analysis.trace->kept);
    return error;
}

const struct command command_graph = {
    .name = "graph",
    .summary = "build the event graph and say how large it is",
    .details = "Prints records and losses, processes, threads, vertices, edges by kind, what\n"
               "was left out and how often, and how long building took, or from which file the\n"
               "graph was loaded. A vertex is one execution segment of one thread and the wait\n"
               "that ended it. An edge means that one vertex caused another to run.",
    .example = "argus graph freeze.argus\nargus graph show freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
