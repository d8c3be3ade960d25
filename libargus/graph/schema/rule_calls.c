/* Users' begin rules for functions that toolkits' probes report: the handler of a click, a callback
 * inside of another one. They need no probes of their own, only the functions' names, which are
 * known when all vertices are built. So the place was noted (cut_point_add_call()), and the vertex
 * is split now, like that of a server with several clients. */
#include "graph/build/builder.h"
#include "graph/build/cut_points.h"
#include "graph/rules/split.h"
#include "graph/schema/rule_binding.h"
#include "graph/schema/rule_stacks.h"

static bool cut_call(struct builder *builder, struct rule_stacks *stacks, const uint32_t *new_id,
                     const struct unit_call *call, struct cuts *cuts)
{
    const struct argus_graph *graph = builder->graph;
    uint32_t process = graph->machine.threads.data[call->thread].process;
    uint32_t rule = rule_stacks_unit(stacks, process, call->function, call->time_ns);
    if (rule == ARGUS_NONE || stacks->rules[rule].kind != ARGUS_RULE_BEGIN)
        return true;
    struct cut cut = {.point = call->point};
    if (call->point != ARGUS_NONE)
        cut.vertex = split_vertex_of(graph, new_id, &builder->cut_points->all.data[call->point]);
    if (call->point != ARGUS_NONE && cut.vertex == ARGUS_NONE)
        return true; /* it is in a yield run, or was dropped */
    builder_count(builder, rule_of_user(rule));
    return call->point == ARGUS_NONE || vec_push(&cuts->cuts, cut);
}

bool rule_cut_calls(struct builder *builder, const uint32_t *new_id, struct cuts *cuts)
{
    const struct rule_binding *binding = builder->binding;
    struct rule_stacks stacks;
    if (!binding->unit_calls.length)
        return true;
    struct argus_error *error =
        rule_stacks_init(&stacks, builder->graph, binding->rules, binding->count);
    bool done = !error;
    argus_error_destroy(error);
    for (size_t i = 0; done && i < binding->unit_calls.length; i++)
        done = cut_call(builder, &stacks, new_id, &binding->unit_calls.data[i], cuts);
    done = done && !stacks.no_memory;
    rule_stacks_deinit(&stacks);
    return done;
}
