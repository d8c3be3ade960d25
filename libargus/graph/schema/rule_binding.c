/* Finds the user's rule that each probe of the trace belongs to.
 *
 * The trace stores the shape, library and symbol of each probe, but not what requested it. So a
 * rule also applies to a trace that was recorded with another rules file or with a probe table, if
 * that contained a probe at the function.
 */
#include "graph/schema/rule_binding.h"

#include <string.h>

#include "argus/record.h"

/* What the probe of a rule reports; 0: such rules have no probe. Must match
 * plugin/probes/rule_probes.c. */
static const uint32_t shapes[ARGUS_RULE_KINDS] = {
    [ARGUS_RULE_ENQUEUE] = ARGUS_PROBE_QUEUE, [ARGUS_RULE_CANCEL] = ARGUS_PROBE_CANCEL,
    [ARGUS_RULE_EXECUTE] = ARGUS_PROBE_BEGIN, [ARGUS_RULE_BEGIN] = ARGUS_PROBE_BEGIN,
    [ARGUS_RULE_END] = ARGUS_PROBE_END,
};

static bool is_rule(const struct argus_user_rule *rule, const struct argus_probe_entry *probe)
{
    return shapes[rule->kind] && shapes[rule->kind] == probe->shape &&
           argus_function_matches(rule->function, probe->symbol) &&
           (!rule->library || argus_library_matches(rule->library, probe->library));
}

size_t argus_user_rule_probes(const struct argus_user_rule *rule, const struct argus_trace *trace)
{
    const struct argus_probe_entry *probes;
    size_t count = shapes[rule->kind] ? argus_trace_probes(trace, &probes) : 0, found = 0;
    for (size_t i = 0; i < count; i++)
        found += is_rule(rule, &probes[i]);
    return found;
}

bool rule_binding_init(struct rule_binding *binding, const struct argus_rule_set *set,
                       const struct argus_trace *trace)
{
    const struct argus_probe_entry *probes;
    *binding = (struct rule_binding){0};
    binding->count = argus_rule_set_rules(set, &binding->rules);
    for (size_t i = 0; i < binding->count; i++)
        binding->has_units |= binding->rules[i].kind == ARGUS_RULE_BEGIN;
    size_t count = binding->count ? argus_trace_probes(trace, &probes) : 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < binding->count; k++) {
            if (!is_rule(&binding->rules[k], &probes[i]))
                continue;
            if (!idmap_put(&binding->by_probe, probes[i].number, k))
                return false;
            break;
        }
    return true;
}

void rule_binding_deinit(struct rule_binding *binding)
{
    idmap_deinit(&binding->by_probe);
    vec_deinit(&binding->unit_waits);
    vec_deinit(&binding->unit_calls);
}

bool rule_binding_ends(const struct rule_binding *binding, uint32_t index, uint32_t unit)
{
    const struct argus_user_rule *rules = binding->rules;
    return unit < binding->count && rules[index].kind == ARGUS_RULE_END &&
           rules[unit].kind == ARGUS_RULE_BEGIN && !strcmp(rules[index].space, rules[unit].space);
}

bool rule_binding_has_end(const struct rule_binding *binding, uint32_t unit)
{
    for (uint32_t i = 0; i < binding->count; i++)
        if (rule_binding_ends(binding, i, unit))
            return true;
    return false;
}
