#include "plugin/analysis.h"
#include "plugin/steps/step_files.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *show(const struct analysis *analysis, uint32_t vertex)
{
    struct step_files steps;
    uint64_t identity = argus_trace_identity(analysis->trace->trace);
    struct argus_error *error = step_files_find(analysis->trace->path, identity, vertex, &steps);
    if (!error)
        error = argus_report_vertex(&analysis->report, vertex, steps.files.data, steps.files.length,
                                    analysis->json);
    step_files_deinit(&steps);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    uint32_t vertex;
    struct argus_error *error = analysis_begin(session, arguments, 1, 1, &analysis);
    if (!error)
        error = analysis_vertex(&analysis, analysis_word(&analysis, 0), &vertex);
    return error ? error : show(&analysis, vertex);
}

const struct command command_graph_show = {
    .name = "graph show",
    .arguments = "V",
    .missing = "V is missing: a vertex such as v1234 (argus hangs and argus graph find list them)",
    .summary = "show one vertex: what it ran, its wait, its causes and effects",
    .details = "Lists step files of the vertex (argus step) that are in the trace's folder.",
    .example = "argus graph show freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
