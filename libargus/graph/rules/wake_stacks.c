/* What call stacks say about futex wake-ups, determined after the last record.
 *
 * Looking up function names is costly. So it is done last, and only for edges that need it: those
 * of futex wake-ups (rules/condition.c), and on Darwin those of all wake-ups. If the stack
 * contradicts the records, the stack is right, and the edge changes its rule and strength. A trace
 * without stacks, or without the files that hold the names, keeps the result of the records.
 */
#include "graph/patterns.h"
#include "graph/rules/wakeup.h"

static bool is_candidate(const struct builder *builder, const struct argus_edge *edge)
{
    bool futex = edge->rule == RULE_WAKE_UNLOCK || edge->rule == RULE_WAKE_CONDITION;
    return futex || (builder->os == ARGUS_OS_DARWIN && edge->rule == RULE_WAKE_TASK);
}

/* The stack of the wait that `edge` ended; ARGUS_NONE: none. */
static uint32_t wait_stack(const struct argus_graph *graph, const struct argus_edge *edge)
{
    uint32_t before = argus_graph_previous(graph, edge->to);
    return before == ARGUS_NONE ? ARGUS_NONE : graph->vertices.data[before].wait.user_stack;
}

/* The rule of the wake-up according to its stacks; if they say nothing, the rule that it has. */
static enum rule_id rule_of(struct patterns *patterns, const struct argus_edge *edge)
{
    const struct argus_vertex *vertices = patterns->graph->vertices.data;
    uint32_t waker = vertices[edge->from].thread, wakee = vertices[edge->to].thread;
    uint32_t waits_in = wait_stack(patterns->graph, edge);
    uint32_t wakes = patterns_innermost(patterns, edge->stack, waker, edge->from_ns,
                                        PATTERN_SIGNALS | PATTERN_UNLOCKS | PATTERN_CLEARS);
    if (wakes & PATTERN_CLEARS)
        return RULE_WAKE_CLEAR_WAIT;
    if (patterns_parks(patterns, waits_in, wakee, edge->to_ns))
        return RULE_WAKE_PARKED;
    if (!wakes) {
        uint32_t waits = patterns_innermost(patterns, waits_in, wakee, edge->to_ns,
                                            PATTERN_AWAITS | PATTERN_LOCKS);
        wakes = waits & PATTERN_LOCKS    ? PATTERN_UNLOCKS
                : waits & PATTERN_AWAITS ? PATTERN_SIGNALS
                                         : 0;
    }
    return wakes & PATTERN_UNLOCKS   ? RULE_WAKE_UNLOCK
           : wakes & PATTERN_SIGNALS ? RULE_WAKE_CONDITION
                                     : (enum rule_id)edge->rule;
}

bool rule_wake_stacks(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    struct patterns patterns = {.graph = graph};
    for (size_t i = 0; i < graph->edges.length; i++) {
        struct argus_edge *edge = &graph->edges.data[i];
        if (!is_candidate(builder, edge))
            continue;
        enum rule_id rule = rule_of(&patterns, edge);
        if (rule == edge->rule)
            continue;
        edge->rule = (uint16_t)rule;
        edge->strong = rule == RULE_WAKE_CONDITION || (edge->message && edge->strong);
    }
    bool done = !patterns.no_memory;
    patterns_deinit(&patterns);
    return done;
}
