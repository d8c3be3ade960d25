#include "plugin/baseline_options.h"

static const struct command_option options[] = {
    {"limit", 'n', "N", "print the N best (10)"},
    BASELINE_OPTIONS,
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

static struct argus_error *search_and_report(struct analysis *analysis, uint32_t vertex,
                                             size_t limit, const struct baseline_options *baseline)
{
    struct argus_similars similars;
    struct argus_similar_options similar_options = {.limit = limit,
                                                    .context = baseline->context,
                                                    .other = baseline->graph,
                                                    .symbols = analysis->report.symbols,
                                                    .other_symbols = baseline->other_symbols};
    struct argus_report_context other = analysis->report;
    if (baseline->graph) {
        other.graph = baseline->graph;
        other.symbols = baseline->other_symbols;
    }
    struct argus_error *error =
        argus_similar_search(analysis->graph, vertex, &similar_options, &similars);
    if (error)
        return error;
    error = argus_report_similars(&analysis->report, vertex, &other, &similars, analysis->json);
    argus_similars_deinit(&similars);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct baseline_options baseline = {.context = 0};
    uint32_t vertex;
    uint64_t limit = 10;
    struct argus_error *error = arguments_number(arguments, "limit", &limit);
    if (!error)
        error = analysis_begin(session, arguments, 1, 1, &analysis);
    if (!error)
        error = analysis_vertex(&analysis, analysis_word(&analysis, 0), &vertex);
    if (!error)
        error = baseline_options_get(&analysis, &baseline);
    if (!error)
        error = search_and_report(&analysis, vertex, limit, &baseline);
    baseline_options_deinit(&baseline);
    return error;
}

const struct command command_similar = {
    .name = "similar",
    .arguments = "V",
    .missing = "V is missing: a vertex such as v1234 (argus hangs and argus graph find list them)",
    .summary = "find vertices like V whose wait ended differently: candidates for a baseline",
    .details = "Compares what the vertices did, in order, the stacks in which they waited, and\n"
               "the processes with which they interacted. The best baseline comes first. For a\n"
               "vertex that was busy rather than waiting, lists those that were busy for less.",
    .example = "argus similar freeze.argus v1234\n"
               "argus similar --baseline=yesterday.argus --context=3 freeze.argus v1234",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
