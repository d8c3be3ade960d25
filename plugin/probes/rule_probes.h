/* The probes that a user's rules need when recording. */
#ifndef ARGUS_PLUGIN_RULE_PROBES_H
#define ARGUS_PLUGIN_RULE_PROBES_H

#include "argus/schema.h"
#include "plugin/probes/probe_table.h"

/* Adds a row for each rule that needs a probe. `program`: path of the recorded program, for rules
 * that name no library or name the program without its folder; NULL: not known. `*ret_unplaced`:
 * number of rules that need a probe but have no place. */
struct argus_error *rule_probes_add(struct probe_table *table, const struct argus_rule_set *set,
                                    const char *program, size_t *ret_unplaced);

/* The path at which the shell would find `command`; NULL if there is none. The caller owns it. */
char *rule_probes_program(const char *command);

#endif
