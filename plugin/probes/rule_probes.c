#include "plugin/probes/rule_probes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the probe of a rule reports; 0: such rules need no probe. Must match
 * graph/schema/rule_binding.c. */
static const uint32_t shapes[ARGUS_RULE_KINDS] = {
    [ARGUS_RULE_ENQUEUE] = ARGUS_PROBE_QUEUE, [ARGUS_RULE_CANCEL] = ARGUS_PROBE_CANCEL,
    [ARGUS_RULE_EXECUTE] = ARGUS_PROBE_BEGIN, [ARGUS_RULE_BEGIN] = ARGUS_PROBE_BEGIN,
    [ARGUS_RULE_END] = ARGUS_PROBE_END,
};

/* `row` owns its strings, even if memory for some of them is missing. */
static bool fill_row(struct probe_row *row, const struct argus_user_rule *rule, const char *library)
{
    row->library = strdup(library);
    row->text = strdup(rule->function);
    row->label = strdup(rule->label);
    row->symbol = (struct probe_symbol){.name = strdup(rule->function), .is_pattern = true};
    if (asprintf(&row->space, "rules:%s", rule->space) < 0)
        row->space = NULL;
    row->spec = (struct probe_spec){.shape = shapes[rule->kind], .key = probe_value_of(&rule->key)};
    row->spec.function = probe_value_of(&rule->ran);
    return row->library && row->text && row->label && row->symbol.name && row->space;
}

static struct argus_error *add_row(struct probe_table *table, const struct argus_user_rule *rule,
                                   const char *library)
{
    struct probe_row row = {0};
    if (fill_row(&row, rule, library) && probe_table_add(table, &row))
        return NULL;
    probe_row_deinit(&row);
    return argus_error_memory();
}

struct argus_error *rule_probes_add(struct probe_table *table, const struct argus_rule_set *set,
                                    const char *program, size_t *ret_unplaced)
{
    const struct argus_user_rule *rules;
    size_t count = argus_rule_set_rules(set, &rules);
    struct argus_error *error = NULL;
    *ret_unplaced = 0;
    for (size_t i = 0; i < count && !error; i++) {
        if (!shapes[rules[i].kind])
            continue;
        bool in_program =
            program && (!rules[i].library || argus_library_matches(rules[i].library, program));
        if (in_program)
            error = add_row(table, &rules[i], program);
        else if (rules[i].library)
            error = add_row(table, &rules[i], rules[i].library);
        else
            ++*ret_unplaced;
    }
    return error;
}

char *rule_probes_program(const char *command)
{
    if (strchr(command, '/'))
        return realpath(command, NULL);
    const char *directory = getenv("PATH");
    for (; directory && *directory; directory += *directory == ':') {
        size_t length = strcspn(directory, ":");
        char path[PATH_MAX];
        int used = snprintf(path, sizeof(path), "%.*s/%s", (int)length, directory, command);
        if (length && used > 0 && (size_t)used < sizeof(path) && access(path, X_OK) == 0)
            return realpath(path, NULL);
        directory += length;
    }
    return NULL;
}
