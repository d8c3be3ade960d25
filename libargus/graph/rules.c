#include "graph/rules.h"

#include <string.h>

#include "argus/schema.h"
#include "graph/graph_data.h"

static const struct argus_rule built_in[RULE_COUNT] = {
#define RULE(symbol, name_, stage_, description_)                                                  \
    [RULE_##symbol] = {.name = (name_), .stage = (stage_), .description = (description_)},
#include "graph/rules.def"
#undef RULE
};

size_t argus_rules_built_in(const struct argus_rule **ret)
{
    *ret = built_in;
    return RULE_COUNT;
}

static bool copy(struct strtab *texts, const char *text, const char **ret)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(texts, text, strlen(text), &id);
    *ret = error ? NULL : strtab_get(texts, id);
    argus_error_destroy(error);
    return *ret != NULL;
}

bool rules_init(struct argus_graph *graph, const struct argus_rule_set *set)
{
    const struct argus_user_rule *rules;
    size_t count = argus_rule_set_rules(set, &rules);
    graph->rules = calloc(RULE_COUNT + count, sizeof(*graph->rules));
    graph->rule_texts = strtab_create();
    if (!graph->rules || !graph->rule_texts)
        return false;
    memcpy(graph->rules, built_in, sizeof(built_in));
    graph->rule_count = RULE_COUNT;
    for (size_t i = 0; i < count; i++) {
        struct argus_rule *row = &graph->rules[graph->rule_count++];
        row->stage = argus_rule_kind_stage(rules[i].kind);
        if (!copy(graph->rule_texts, rules[i].name, &row->name) ||
            !copy(graph->rule_texts, rules[i].description, &row->description))
            return false;
    }
    return true;
}

void rules_deinit(struct argus_graph *graph)
{
    free(graph->rules);
    strtab_destroy(graph->rule_texts);
}
