#include "plugin/analysis.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    return error ? error : argus_report_graph_summary(&analysis.report, analysis.json);
}

const struct command command_graph = {
    .name = "graph",
    .summary = "build the event graph and say how large it is",
    .details = "Prints records and losses, processes, threads, vertices, edges by kind, what\n"
               "was left out and how often, and how long building took. A vertex is one\n"
               "execution segment of one thread and the wait that ended it; an edge says\n"
               "that one vertex made another run.",
    .example = "argus graph freeze.argus\nargus graph show freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
