#include "plugin/analysis.h"

static const struct command_option options[] = {
    {"waits", 0, "N", "go back from the ends of the N longest waits (20)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { DEFAULT_WAITS = 20 };

/* For each of them the whole graph may have to be walked. */
#define MOST_WAITS 10000u

static bool show_progress(void *context, const char *what, double share)
{
    struct session *session = context;
    session_progress(session, what, (uint64_t)(share * 100), 100);
    return !session_interrupted(session);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct analysis analysis;
    struct argus_comparison comparison;
    uint64_t waits = DEFAULT_WAITS;
    struct argus_error *error = arguments_number(arguments, "waits", &waits);
    if (!error && waits > MOST_WAITS)
        error = argus_error_create(ARGUS_ERROR_USAGE, "--waits: at most %u", MOST_WAITS);
    if (!error)
        error = analysis_begin(session, arguments, 0, 0, &analysis);
    if (!error)
        error = argus_compare(analysis.graph, (size_t)waits, show_progress, session, &comparison);
    if (error)
        return error;
    struct argus_abilities abilities = {0};
    error =
        argus_abilities_read(argus_graph_trace(analysis.graph), show_progress, session, &abilities);
    session_end_progress(session);
    if (!error)
        error = argus_report_comparison(&analysis.report, &comparison, &abilities, analysis.json);
    argus_abilities_deinit(&abilities);
    argus_comparison_deinit(&comparison);
    return error;
}

const struct command command_graph_stats = {
    .name = "graph stats",
    .summary = "compare the graph with what traditional causal tracing makes of the trace",
    .details = "Compares three graphs: the plain causal graph, which is built of the same\n"
               "records from wake-ups and messages only (a vertex from one wait of a thread to\n"
               "the next, each wake-up an edge, one from an interrupt charged to the\n"
               "interrupted thread); the graph with its strong edges, which a walk follows\n"
               "without asking; and the graph with all edges.\n"
               "\n"
               "  several causes        vertices with two or more incoming edges; edges\n"
               "                        between consecutive vertices of a thread are not\n"
               "                        counted\n"
               "  mix applications      vertices of programs that two or more other\n"
               "                        applications caused, or that caused something in\n"
               "                        two or more\n"
               "  within a long wait    how many vertices, and processes, are reached by\n"
               "                        going back from the end of the wait over all\n"
               "                        edges whose causes are within the wait\n"
               "  back to the beginning the same without that limit\n"
               "\n"
               "The plain graph also lacks edges: from the thread that created a thread, armed\n"
               "a timer, queued a callback, or sent a request to a disk. So a walk back may\n"
               "end early in it.\n"
               "\n"
               "Then the fate of each edge of the plain graph: kept strong, kept weak,\n"
               "attributed to another cause, culled, merged. Over-connections avoided are the\n"
               "edges that are weak, attributed to another cause, or culled, and the decrease\n"
               "in vertices that mix applications.\n"
               "\n"
               "Then the edges by the rule that made them, and the effects of the other rules.\n"
               "\n"
               "For a trace of macOS or iOS, also what each rule can do with it: that system\n"
               "writes some records only on some machines, or only on request.",
    .example = "argus graph stats freeze.argus\n"
               "argus graph stats --waits=100 --json freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE | COMMAND_GRAPH,
    .run = run,
};
