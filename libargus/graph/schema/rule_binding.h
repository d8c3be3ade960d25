/* The user's rules while a graph is built: the rule of each probe, and what was enqueued in
 * order. */
#ifndef ARGUS_GRAPH_RULE_BINDING_H
#define ARGUS_GRAPH_RULE_BINDING_H

#include "argus/graph.h"
#include "argus/schema.h"
#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

/* A wait that may be inside of a user's unit; the stack of the wait will tell. */
struct unit_wait {
    uint64_t since_ns;
    uint32_t slot; /* of the vertex that it ended */
    uint32_t rule; /* index of the unit's rule */
};

/* A function call that a toolkit's probe reported. Its name will tell whether a user's rule
 * matches. */
struct unit_call {
    uint64_t function, time_ns;
    uint32_t point; /* where the vertex would be cut; ARGUS_NONE: the vertex already begins there */
    uint32_t thread;
};

struct rule_binding {
    const struct argus_user_rule *rules; /* borrowed from the set */
    size_t count;
    struct idmap by_probe; /* number of a probe → index of a rule */
    VEC(struct unit_wait) unit_waits;
    VEC(struct unit_call) unit_calls;
    bool has_units; /* some rule begins a unit */
};

/* `set` may be NULL. False without memory. */
bool rule_binding_init(struct rule_binding *binding, const struct argus_rule_set *set,
                       const struct argus_trace *trace);
void rule_binding_deinit(struct rule_binding *binding);

/* Bits for kinds of rules, for rule_binding_find(). */
#define RULE_KIND_BIT(kind) (1u << (kind))
#define RULE_KINDS_OF_UNITS (RULE_KIND_BIT(ARGUS_RULE_EXECUTE) | RULE_KIND_BIT(ARGUS_RULE_BEGIN))

/* The index of the rule that probe `number` belongs to, if the rule is one of `kinds`; else
 * ARGUS_NONE. Checks `number`, because a record can contain any. */
static inline uint32_t rule_binding_find(const struct rule_binding *binding, uint64_t number,
                                         unsigned kinds)
{
    uint32_t index = idmap_get(&binding->by_probe, number);
    bool fits = index != IDMAP_NONE && kinds & RULE_KIND_BIT(binding->rules[index].kind);
    return fits ? index : ARGUS_NONE;
}

/* Whether the end rule `index` ends the units of rule `unit` (ARGUS_NONE: of no rule). */
bool rule_binding_ends(const struct rule_binding *binding, uint32_t index, uint32_t unit);
/* Whether there is an end rule for the units of rule `unit`. */
bool rule_binding_has_end(const struct rule_binding *binding, uint32_t unit);

#endif
