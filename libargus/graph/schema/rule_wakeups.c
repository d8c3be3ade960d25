/* Applies the user's rules that match stacks. Symbol lookup is slow, so this is done when all edges
 * and vertices are built, examines each stack once, and does nothing if there is no such rule.
 *
 * Wake-ups: a rule names a function. It applies to the edge of a wake-up if the waker was inside of
 * that function. Edges without a stack (stacks were not recorded, or this one was lost) stay as
 * they are; `argus schema list` shows how many there are.
 *
 * Units: a probe shows where a unit begins, but few show its end. The stack of a later wait tells
 * whether the unit still runs:
 *
 * - If the unit's function is in the stack, the unit still runs.
 * - If the stack reaches the thread's first function without it, the unit has ended.
 * - Otherwise the decision of on_callback.c stays.
 *
 * If the unit still runs, the next vertex continues it, and its sequence edge is strong.
 */
#include "graph/build/builder.h"
#include "graph/schema/rule_binding.h"
#include "graph/schema/rule_stacks.h"

/* The effect of each kind of rule on the edge of a wake-up. */
static const struct {
    bool applies, drops, weakens;
} wakeup_effects[ARGUS_RULE_KINDS] = {
    [ARGUS_RULE_ENQUEUE] = {.applies = true}, /* weak if the rule says so */
    [ARGUS_RULE_IGNORE_WAKEUPS] = {.applies = true, .drops = true},
    [ARGUS_RULE_WEAK_WAKEUPS] = {.applies = true, .weakens = true},
    [ARGUS_RULE_STRONG_WAKEUPS] = {.applies = true},
};

static uint32_t process_of(const struct argus_graph *graph, uint32_t vertex)
{
    return graph->machine.threads.data[graph->vertices.data[vertex].thread].process;
}

/* Returns false if the edge is to be dropped. */
static bool apply_to_edge(struct builder *builder, struct rule_stacks *stacks,
                          struct argus_edge *edge)
{
    if (edge->kind != ARGUS_EDGE_WAKE || edge->stack == ARGUS_NONE)
        return true;
    struct stack_match match = rule_stacks_find(stacks, process_of(builder->graph, edge->from),
                                                edge->stack, edge->from_ns);
    uint32_t rule = match.rule[STACK_WAKER];
    if (rule == ARGUS_NONE)
        return true;
    enum argus_rule_kind kind = stacks->rules[rule].kind;
    if (!wakeup_effects[kind].applies)
        return true;
    if (wakeup_effects[kind].drops) {
        builder_count(builder, rule_of_user(rule));
        return false;
    }
    edge->rule = (uint16_t)rule_of_user(rule);
    edge->strong = !wakeup_effects[kind].weakens && !stacks->rules[rule].weak;
    return true;
}

static void apply_to_edges(struct builder *builder, struct rule_stacks *stacks)
{
    struct argus_graph *graph = builder->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->edges.length; i++) {
        struct argus_edge edge = graph->edges.data[i];
        if (apply_to_edge(builder, stacks, &edge))
            graph->edges.data[kept++] = edge;
    }
    graph->edges.length = kept;
}

/* The vertex after the wait, if the wait is still there; else ARGUS_NONE. */
static uint32_t behind(const struct argus_graph *graph, const uint32_t *new_id,
                       const struct unit_wait *wait)
{
    uint32_t id = new_id[wait->slot];
    if (id >= graph->vertices.length || id + 1 >= graph->vertices.length)
        return ARGUS_NONE;
    const struct argus_vertex *vertex = &graph->vertices.data[id];
    bool same = vertex->end_ns == wait->since_ns && vertex[1].thread == vertex->thread &&
                !(vertex[1].flags & ARGUS_VERTEX_SPLIT);
    return same ? id + 1 : ARGUS_NONE;
}

static void apply_to_unit(struct builder *builder, struct rule_stacks *stacks, uint32_t next,
                          const struct unit_wait *wait)
{
    struct argus_graph *graph = builder->graph;
    const struct argus_vertex *vertex = &graph->vertices.data[next - 1];
    if (vertex->wait.user_stack == ARGUS_NONE)
        return;
    struct stack_match match =
        rule_stacks_find(stacks, process_of(graph, next), vertex->wait.user_stack, wait->since_ns);
    if (match.rule[STACK_UNIT] != ARGUS_NONE)
        graph->vertices.data[next].flags |= ARGUS_VERTEX_CONTINUES;
    else if (match.complete)
        graph->vertices.data[next].flags &= ~(uint32_t)ARGUS_VERTEX_CONTINUES;
}

static void apply_to_units(struct builder *builder, struct rule_stacks *stacks,
                           const uint32_t *new_id)
{
    for (size_t i = 0; i < builder->binding->unit_waits.length; i++) {
        const struct unit_wait *wait = &builder->binding->unit_waits.data[i];
        uint32_t next = behind(builder->graph, new_id, wait);
        if (next != ARGUS_NONE)
            apply_to_unit(builder, stacks, next, wait);
    }
}

static bool any_wakeup_rule(const struct rule_binding *binding)
{
    for (size_t i = 0; i < binding->count; i++)
        if (wakeup_effects[binding->rules[i].kind].applies)
            return true;
    return false;
}

bool rule_apply_stacks(struct builder *builder, const uint32_t *new_id)
{
    const struct rule_binding *binding = builder->binding;
    bool wakeups = any_wakeup_rule(binding);
    if (!wakeups && !binding->unit_waits.length)
        return true;
    struct rule_stacks stacks;
    struct argus_error *error =
        rule_stacks_init(&stacks, builder->graph, binding->rules, binding->count);
    bool done = !error;
    argus_error_destroy(error);
    if (done && wakeups)
        apply_to_edges(builder, &stacks);
    if (done)
        apply_to_units(builder, &stacks, new_id);
    done = done && !stacks.no_memory;
    rule_stacks_deinit(&stacks);
    return done;
}
