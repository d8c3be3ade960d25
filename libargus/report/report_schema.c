/* The schema: all rules, including the user's. If a user's rule never applied, the reason is
 * printed if known. */
#include "argus/schema.h"

#include <stdio.h>
#include <string.h>

#include "report/json.h"
#include "report/lines.h"

enum { DESCRIPTION_COLUMN = 43 };

/* A row that is printed. */
struct shown {
    const struct argus_rule *row;
    const struct argus_user_rule *user; /* NULL: a built-in rule */
    bool counted;
    size_t probes;   /* of the trace, at functions named in the rule */
    bool has_stacks; /* some edge of the graph has a stack */
};

static bool has_stacks(const struct argus_graph *graph)
{
    const struct argus_edge *edges;
    size_t count = graph ? argus_graph_edges(graph, &edges) : 0;
    for (size_t i = 0; i < count; i++)
        if (edges[i].stack != ARGUS_NONE)
            return true;
    return false;
}

/* Why a user's rule has not applied; NULL: it has, or the reason is not known. */
static const char *why_not(const struct shown *shown)
{
    if (!shown->user || !shown->counted || shown->row->count)
        return NULL;
    bool probed = argus_rule_kind_probed(shown->user->kind);
    if (probed && !shown->probes)
        return "No probe was at the function: record with this rule.";
    if (!probed && !shown->has_stacks)
        return "The trace has no call stacks of wake-ups.";
    return probed ? "There was a probe, but the rule never applied."
                  : "No call stack of a wake-up has it (--call-stacks records whole ones).";
}

static void show_text(const struct argus_sink *sink, const struct shown *shown)
{
    char count[24] = "-";
    const char *why = why_not(shown);
    if (shown->counted)
        snprintf(count, sizeof(count), "%llu", (unsigned long long)shown->row->count);
    argus_sink_printf(sink, "%-20s", shown->row->name);
    if (strlen(shown->row->name) > 20) /* a function's name can be long */
        argus_sink_printf(sink, "\n%-20s", "");
    argus_sink_printf(sink, " %-9s %10s  ", shown->row->stage, count);
    report_wrapped(sink, DESCRIPTION_COLUMN, shown->row->description);
    if (!why)
        return;
    argus_sink_printf(sink, "%*s", DESCRIPTION_COLUMN, "");
    report_wrapped(sink, DESCRIPTION_COLUMN, why);
}

static json_t *user_json(const struct shown *shown)
{
    const struct argus_user_rule *user = shown->user;
    if (!user)
        return json_null();
    const char *why = why_not(shown);
    json_t *object = json_object();
    json_put(object, "file", json_text(user->file));
    json_put(object, "line", json_integer(user->line));
    json_put(object, "says", json_text(argus_rule_kind_word(user->kind)));
    json_put(object, "function", json_text(user->function));
    json_put(object, "library", json_text(user->library));
    json_put(object, "probes", shown->counted ? json_ns(shown->probes) : json_null());
    json_put(object, "why_not", json_text(why));
    return object;
}

static json_t *rule_json(const struct shown *shown)
{
    json_t *rule = json_object();
    json_put(rule, "name", json_text(shown->row->name));
    json_put(rule, "stage", json_text(shown->row->stage));
    json_put(rule, "count", shown->counted ? json_ns(shown->row->count) : json_null());
    json_put(rule, "description", json_text(shown->row->description));
    json_put(rule, "user", user_json(shown));
    return rule;
}

static void show(const struct argus_sink *sink, json_t *list, const struct shown *shown)
{
    if (list)
        json_add(list, rule_json(shown));
    else
        show_text(sink, shown);
}

struct argus_error *argus_report_schema(const struct argus_sink *sink,
                                        const struct argus_graph *graph,
                                        const struct argus_rule_set *set, bool json)
{
    const struct argus_rule *rows, *built_in;
    const struct argus_user_rule *rules;
    size_t built_in_count = argus_rules_built_in(&built_in);
    size_t rule_count = argus_rule_set_rules(set, &rules);
    size_t row_count = graph ? argus_graph_rules(graph, &rows) : built_in_count;
    json_t *list = json ? json_array() : NULL;
    struct shown shown = {.counted = graph != NULL, .has_stacks = has_stacks(graph)};
    for (size_t i = 0; i < built_in_count; i++) {
        shown.row = graph ? &rows[i] : &built_in[i];
        show(sink, list, &shown);
    }
    for (size_t i = 0; i < rule_count; i++) {
        struct argus_rule row = {.name = rules[i].name,
                                 .stage = argus_rule_kind_stage(rules[i].kind),
                                 .description = rules[i].description};
        if (built_in_count + i < row_count)
            row.count = rows[built_in_count + i].count;
        shown.row = &row;
        shown.user = &rules[i];
        if (graph)
            shown.probes = argus_user_rule_probes(&rules[i], argus_graph_trace(graph));
        show(sink, list, &shown);
    }
    if (!json)
        return NULL;
    json_t *whole = json_object();
    json_put(whole, "rules", list);
    return json_write(sink, "argus-schema 1", whole);
}
