#include "plugin/analysis.h"

static const struct command_option options[] = {
    {"waits", 0, "N", "go back from the ends of the N longest waits (20)"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { DEFAULT_WAITS = 20 };

/* Each of them may be a walk through the whole graph. */
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
    session_end_progress(session);
    error = argus_report_comparison(&analysis.report, &comparison, analysis.json);
    argus_comparison_deinit(&comparison);
    return error;
}

const struct command command_graph_stats = {
    .name = "graph stats",
    .summary = "compare the graph with what traditional causal tracing makes of the trace",
    .details =
        "Beside each other: the plain causal graph, which is built of the same records from\n"
        "wake-ups and messages only (a vertex from one wait of a thread to the next, every\n"
        "wake-up an edge, one out of an interrupt charged to the interrupted thread); the\n"
        "graph with its strong edges, which a walk follows without asking; and the graph\n"
        "with all edges.\n"
        "\n"
        "  several causes     vertices with two or more incoming edges; sequence edges, to\n"
        "                     the next vertex of the same thread, are not counted\n"
        "  mix applications   vertices of programs that two or more other applications\n"
        "                     caused, or that caused something in two or more\n"
        "  behind a long wait how many vertices, and processes, one comes to by going back\n"
        "                     over all edges from the vertex that a long wait ended in\n"
        "\n"
        "What became of each edge of the plain graph: kept strong, kept weak, given to\n"
        "another cause, culled, merged. Over-connections avoided are those that are weak,\n"
        "another's, or culled; and by how much fewer vertices mix applications.\n"
        "\n"
        "Then edges by the rule that made them, and what the other rules did.",
    .example = "argus graph stats freeze.argus\n"
               "argus graph stats --waits=100 --json freeze.argus",
    .options = options,
    .flags = COMMAND_TRACE,
    .run = run,
};
