#include "plugin/analysis.h"

static const struct command_option options[] = {
    {"limit", 'n', "N", "print the N worst of each kind (10)"},
    {"longer-than", 'l', "DURATION", "list waits without an edge of at least DURATION (100ms)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { DEFAULT_LIMIT = 10 };
#define DEFAULT_LONG_NS 100000000u

/* Nobody reads more, and the limit bounds the memory. */
#define MOST_LISTED 1000000u

static struct argus_error *inspect(struct analysis *analysis, struct argus_inspect_options *wanted)
{
    struct argus_verification verification;
    struct argus_inspection inspection = {0};
    struct argus_error *error = argus_graph_verify(analysis->graph, wanted->limit, &verification);
    if (error)
        return error;
    /* If the graph contradicts itself, it is not examined further, because its ids may lead
     * anywhere. */
    if (!verification.violations)
        error = argus_inspect(analysis->graph, wanted, &inspection);
    if (!error)
        error = argus_report_check(&analysis->report, &inspection, &verification, wanted->long_ns,
                                   analysis->json);
    if (verification.violations)
        session_set_exit_code(analysis->session, EXIT_CODE_FAILED);
    argus_inspection_deinit(&inspection);
    argus_verification_deinit(&verification);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    uint64_t limit = DEFAULT_LIMIT;
    struct argus_inspect_options wanted = {.long_ns = DEFAULT_LONG_NS};
    struct argus_error *error = arguments_number(arguments, "limit", &limit);
    if (!error)
        error = arguments_duration_ns(arguments, "longer-than", &wanted.long_ns);
    if (!error)
        error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (error)
        return error;
    wanted.limit = limit < MOST_LISTED ? (size_t)limit : MOST_LISTED;
    wanted.symbols = analysis.report.symbols;
    return inspect(&analysis, &wanted);
}

const struct command command_graph_check = {
    .name = "graph check",
    .summary = "prove the graph's invariants, and list what looks wrong in it",
    .details = "First it proves that the graph does not contradict itself: times, ends of\n"
               "edges, ids, the lists of edges. Then it lists what the records leave open:\n"
               "\n"
               "Missing records: every gap, damaged parts, categories that were switched\n"
               "off.\n"
               "\n"
               "Batching: segments that two or more applications caused, or that cause\n"
               "something in two or more, and so may serve several requests at a time; with\n"
               "the function at which to split them. An application is a process with those\n"
               "children that run the same program.\n"
               "\n"
               "Wake-ups without a known cause, by thread, and why it is not known.\n"
               "\n"
               "Long waits that ended without an edge, and loops that poll, with the stack\n"
               "at which to look: a data flag may be missing, or a rule (argus schema).\n"
               "\n"
               "Exit code 1 when an invariant does not hold, 4 when the trace is damaged;\n"
               "what only looks wrong does not change it.",
    .example = "argus graph check freeze.argus\n"
               "argus graph check --limit=3 --longer-than=1s freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
