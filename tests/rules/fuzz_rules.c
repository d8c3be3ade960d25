/* Rules, which a user may have from an untrusted source: any bytes give rows or errors, and every
 * row is a valid probe. */
#include <stdlib.h>
#include <string.h>

#include "argus/schema.h"
#include "fuzz.h"

static void check_rules(const struct argus_rule_set *set)
{
    const struct argus_user_rule *rules;
    size_t count = argus_rule_set_rules(set, &rules);
    for (size_t i = 0; i < count; i++) {
        bool texts = rules[i].name && rules[i].description && rules[i].file && rules[i].space;
        if (!texts || rules[i].kind >= ARGUS_RULE_KINDS || strlen(rules[i].function) > 199 ||
            strlen(rules[i].label) > 199)
            abort();
        argus_function_matches(rules[i].function, "_ZN5Queue4pushEP3JobRKSt6vectorIiSaIiEE");
        argus_function_matches(rules[i].function, rules[i].function);
    }
    if ((count == 0) != (argus_rule_set_identity(set) == 0))
        abort();
}

static void check_mistakes(const struct argus_rule_set *set)
{
    const struct argus_rule_mistake *mistakes;
    size_t count = argus_rule_set_mistakes(set, &mistakes);
    if (count == 0)
        abort(); /* an error must have a reason */
    for (size_t i = 0; i < count; i++)
        if (!mistakes[i].file || !mistakes[i].reason || !mistakes[i].line || !mistakes[i].column)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct argus_rule_set *set;
    struct argus_error *error = argus_rule_set_create(&set);
    if (error)
        return 0;
    error = argus_rule_set_parse(set, "fuzz", (const char *)data, size);
    const struct argus_user_rule *rules;
    if (error && argus_rule_set_rules(set, &rules))
        abort();
    if (error)
        check_mistakes(set);
    argus_error_destroy(error);
    check_rules(set);
    argus_rule_set_destroy(set);
    return 0;
}
