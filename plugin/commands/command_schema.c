/* `argus schema` and `argus schema list`, which are the same. */
#include "plugin/analysis.h"
#include "plugin/probes/rule_files.h"

static const struct command_option options[] = {
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

/* Lists the rules without a trace, so without counts. */
static struct argus_error *list_alone(struct session *session, const struct arguments *arguments,
                                      const struct argus_rule_set *rules)
{
    struct argus_sink sink = session_sink(session);
    return argus_report_schema(&sink, NULL, rules, arguments_has(arguments, "json"));
}

static struct argus_error *list_of_trace(struct session *session, const struct arguments *arguments,
                                         const struct argus_rule_set *rules)
{
    struct analysis analysis;
    struct argus_error *error = analysis_begin(session, arguments, 0, 0, &analysis);
    return error ? error
                 : argus_report_schema(&analysis.sink, analysis.graph, rules, analysis.json);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct argus_rule_set *rules;
    bool has_trace = arguments_count(arguments) || session->trace;
    struct argus_error *error = rule_files_of(session, arguments, &rules);
    if (error)
        return error;
    error = has_trace ? list_of_trace(session, arguments, rules)
                      : list_alone(session, arguments, rules);
    argus_rule_set_destroy(rules);
    return error;
}

#define DETAILS                                                                                    \
    "Boundary rules end a vertex, edge rules connect two, cull rules leave out\n"                  \
    "what is not causality, split and merge rules cut vertices and join them.\n"                   \
    "Yours come last: argus-rules(5) says how to write them."

const struct command command_schema = {
    .name = "schema",
    .arguments = "[FILE]",
    .summary = "list the rules that make the graph, and how often each applied",
    .details = DETAILS,
    .example = "argus schema freeze.argus\nargus schema",
    .options = options,
    .flags = COMMAND_GRAPH,
    .run = run,
};

const struct command command_schema_list = {
    .name = "schema list",
    .arguments = "[FILE]",
    .summary = "list the rules that make the graph, and how often each applied",
    .details = DETAILS,
    .example = "argus schema list --rules=my.rules freeze.argus",
    .options = options,
    .flags = COMMAND_GRAPH,
    .run = run,
};
