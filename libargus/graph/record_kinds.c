/* Which kinds of records the graph was built from. On Linux the recorder writes all of them; what a
 * user switched off is said by argus/gaps.h. On Darwin any tool may have chosen others. */
#include <string.h>

#include "graph/graph_data.h"

static bool is_darwin(const struct argus_graph *graph)
{
    return argus_trace_header(argus_graph_trace(graph))->os == ARGUS_OS_DARWIN;
}

/* Each wake-up is counted by the one rule that it matches. */
bool argus_graph_lacks_wakeups(const struct argus_graph *graph)
{
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(graph, &rules);
    if (!is_darwin(graph))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool by_wakeup = !strncmp(rules[i].name, "wake.", 5) ||
                         !strncmp(rules[i].name, "cull.", 5) ||
                         !strcmp(rules[i].name, "timer.fired");
        if (by_wakeup && rules[i].count)
            return false;
    }
    return true;
}

bool argus_graph_lacks_calls(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    if (!is_darwin(graph))
        return false;
    for (size_t i = 0; i < count; i++)
        if (vertices[i].wait.kind != ARGUS_WAIT_NONE &&
            vertices[i].wait.syscall != ARGUS_NO_SYSCALL)
            return false;
    return true;
}
