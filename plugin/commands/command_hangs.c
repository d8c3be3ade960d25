#include "plugin/hang_options.h"

static const struct command_option options[] = {
    HANG_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_hang_options hang_options;
    struct argus_hangs hangs;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = hang_options_get(&analysis, &hang_options);
    if (!error)
        error = argus_hangs_find(analysis.graph, &hang_options, &hangs);
    if (error)
        return error;
    error = argus_report_hangs(&analysis.report, &hangs, analysis.json);
    argus_hangs_deinit(&hangs);
    return error;
}

const struct command command_hangs = {
    .name = "hangs",
    .summary = "list the hangs: event loops that did not come back to their wait",
    .details = "The longest comes first. 'argus diagnose FILE 2' explains the second of\n"
               "the list.",
    .example =
        "argus hangs freeze.argus\nargus hangs --threshold=500ms --process=gedit freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
