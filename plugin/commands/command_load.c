#include "plugin/command.h"

#include <stdlib.h>

#include "plugin/session_trace.h"
#include "plugin/trace_choice.h"

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    char *newest = NULL;
    struct argus_error *error = arguments_expect(arguments, 0, 1);
    if (!error && arguments_count(arguments) == 0)
        error = trace_choice_newest(session, &newest);
    if (!error)
        error = session_load(session, arguments, newest ? newest : arguments_word(arguments, 0));
    free(newest);
    if (error)
        return error;
    const struct argus_graph *graph = session->trace->graph;
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    session_printf(session, "%s: %llu records (%llu lost), %zu vertices, %zu edges\n",
                   session->trace->path,
                   (unsigned long long)argus_trace_record_count(session->trace->trace),
                   (unsigned long long)argus_trace_lost_count(session->trace->trace),
                   argus_graph_vertices(graph, &vertices), argus_graph_edges(graph, &edges));
    return NULL;
}

const struct command command_load = {
    .name = "load",
    .arguments = "[FILE]",
    .summary = "load a trace into this LLDB session",
    .details = "The other commands then work on it without naming FILE. A trace that was\n"
               "loaded before is replaced; if FILE cannot be read, it stays. Without FILE:\n"
               "the newest *.argus of the folder that LLDB runs in.",
    .example = "(lldb) argus load freeze.argus\n(lldb) argus diagnose",
    .flags = COMMAND_LLDB | COMMAND_GRAPH,
    .run = run,
};
