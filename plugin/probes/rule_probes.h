/* A user's rules as probes: what `argus record` listens to for them. */
#ifndef ARGUS_PLUGIN_RULE_PROBES_H
#define ARGUS_PLUGIN_RULE_PROBES_H

#include "argus/schema.h"
#include "plugin/probes/probe_table.h"

/* Adds a row for each rule that needs a probe. `program`: path of the program that is recorded, for rules that name no library,
 * or name it without its folder; NULL: none is known. `*ret_unplaced`: rules that would need a probe and say no place. */
struct argus_error *rule_probes_add(struct probe_table *table, const struct argus_rule_set *set,
                                    const char *program, size_t *ret_unplaced);

/* Where the shell would find `command`; NULL if nowhere. Owned by the caller. */
char *rule_probes_program(const char *command);

#endif
