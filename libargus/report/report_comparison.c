/* The graph compared with the plain causal graph: text and JSON. argus-graph(1) explains each
 * figure. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "report/json.h"
#include "report/lines.h"
#include "report/report_abilities.h"

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static uint64_t sum_fates(const uint64_t *fates)
{
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_FATES; i++)
        sum += fates[i];
    return sum;
}

/* The number of edges that a walk of the plain graph follows and that a walk of this graph does not
 * follow, or not without asking. */
static uint64_t avoided(const uint64_t *fates)
{
    return fates[ARGUS_FATE_WEAK] + fates[ARGUS_FATE_MOVED] + fates[ARGUS_FATE_CULLED];
}

/* How much smaller `now` is than `before`, in percent; 0 when it is not. */
static double saved(uint64_t before, uint64_t now)
{
    return now < before ? percent(before - now, before) : 0.0;
}

/* --- the table of figures --- */

/* The rows of both formats. To add a figure: a row. */
struct row {
    const char *key;   /* JSON */
    const char *label; /* text */
    size_t offset;     /* of a uint64_t in struct argus_graph_figures */
};
#define FIGURE(member) offsetof(struct argus_graph_figures, member)
static const struct row rows[] = {
    {"vertices", "vertices", FIGURE(vertices)},
    {"edges", "edges", FIGURE(edges)},
    {"several_causes", "vertices with several causes", FIGURE(several_causes)},
    {"mixed", "vertices that mix applications", FIGURE(mixed)},
    {"window_median", "vertices within a long wait, median", FIGURE(window_reach.median)},
    {"window_most", "                           at most", FIGURE(window_reach.most)},
    {"window_processes_median", "processes within it, median", FIGURE(window_processes.median)},
    {"window_processes_most", "                    at most", FIGURE(window_processes.most)},
    {"reach_median", "vertices back to the beginning, median", FIGURE(reach.median)},
    {"reach_most", "                              at most", FIGURE(reach.most)},
    {"reach_processes_median", "processes back to there, median", FIGURE(processes.median)},
    {"reach_processes_most", "                       at most", FIGURE(processes.most)},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static uint64_t figure(const struct argus_graph_figures *figures, const struct row *row)
{
    uint64_t value;
    memcpy(&value, (const char *)figures + row->offset, sizeof(value));
    return value;
}

static void figures_text(const struct argus_sink *sink, const struct argus_comparison *comparison)
{
    argus_sink_printf(sink, "%-38s %12s %14s %12s\n", "", "plain", "Argus, strong", "Argus, all");
    for (size_t i = 0; i < ROWS; i++)
        argus_sink_printf(sink, "%-38s %12" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n", rows[i].label,
                          figure(&comparison->plain, &rows[i]),
                          figure(&comparison->strong, &rows[i]),
                          figure(&comparison->all, &rows[i]));
    argus_sink_printf(
        sink,
        "\nVertices and processes that lie on a way back from the end of one of the %" PRIu64
        " longest waits.\n",
        comparison->waits);
}

static json_t *figures_json(const struct argus_graph_figures *figures)
{
    json_t *json = json_object();
    for (size_t i = 0; i < ROWS; i++)
        json_put(json, rows[i].key, json_ns(figure(figures, &rows[i])));
    return json;
}

/* --- what became of the plain edges --- */

static void fates_text(const struct argus_sink *sink, const struct argus_comparison *comparison)
{
    static const char *const what[ARGUS_FATES] = {
        [ARGUS_FATE_STRONG] = "the same edge, strong",
        [ARGUS_FATE_WEAK] = "the same edge, weak: a walk asks",
        [ARGUS_FATE_MOVED] = "has another cause: the thread that armed the timer, …",
        [ARGUS_FATE_CULLED] = "culled: no thread in the trace is the cause",
        [ARGUS_FATE_MERGED] = "merged: the wait continues, or nothing new begins",
    };
    uint64_t wakeups = sum_fates(comparison->wakeup_fates);
    uint64_t messages = sum_fates(comparison->message_fates);
    report_heading(sink, "What became of the plain graph's edges");
    argus_sink_printf(sink, "%20s %20s\n", "wake-ups", "messages");
    for (int i = 0; i < ARGUS_FATES; i++)
        argus_sink_printf(
            sink, "%12" PRIu64 " %5.1f %% %12" PRIu64 " %5.1f %%  %s\n",
            comparison->wakeup_fates[i], percent(comparison->wakeup_fates[i], wakeups),
            comparison->message_fates[i], percent(comparison->message_fates[i], messages), what[i]);
    uint64_t all = avoided(comparison->wakeup_fates) + avoided(comparison->message_fates);
    argus_sink_printf(
        sink,
        "Over-connections avoided: %.1f %% of the edges (weak, another cause, culled), "
        "%.1f %% of the vertices that mix applications.\n",
        percent(all, wakeups + messages), saved(comparison->plain.mixed, comparison->strong.mixed));
}

static json_t *fates_json(const uint64_t *fates)
{
    static const char *const keys[ARGUS_FATES] = {"strong", "weak", "moved", "culled", "merged"};
    json_t *json = json_object();
    for (int i = 0; i < ARGUS_FATES; i++)
        json_put(json, keys[i], json_ns(fates[i]));
    return json;
}

/* --- rules --- */

/* The stages whose rows are counted by what they did, each with its heading; edge rules are counted
 * by their edges. */
static const struct {
    const char *stage, *heading;
} stages[] = {
    {"boundary", "Vertices begun or ended by rule"},
    {"split", "Vertices split by rule"},
    {"cull", "Wake-ups culled by rule"},
    {"merge", "Merged by rule"},
};

static void stage_text(const struct argus_report_context *context, const char *stage,
                       const char *heading)
{
    const struct argus_rule *rules;
    size_t count = argus_graph_rules(context->graph, &rules);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i].stage, stage) != 0 || !rules[i].count)
            continue;
        if (!any)
            report_heading(context->sink, heading);
        any = true;
        argus_sink_printf(context->sink, "  %-24s %12" PRIu64 "\n", rules[i].name, rules[i].count);
    }
}

static void edges_text(const struct argus_report_context *context,
                       const struct argus_comparison *comparison)
{
    const struct argus_rule *rules;
    argus_graph_rules(context->graph, &rules);
    report_heading(context->sink, "Edges by rule");
    argus_sink_printf(context->sink, "  %-24s %12s %12s\n", "", "strong", "weak");
    for (size_t i = 0; i < comparison->rule_count; i++)
        if (comparison->rules[i].strong || comparison->rules[i].weak)
            argus_sink_printf(context->sink, "  %-24s %12" PRIu64 " %12" PRIu64 "\n", rules[i].name,
                              comparison->rules[i].strong, comparison->rules[i].weak);
}

static json_t *rules_json(const struct argus_report_context *context,
                          const struct argus_comparison *comparison)
{
    const struct argus_rule *rules;
    json_t *list = json_array();
    argus_graph_rules(context->graph, &rules);
    for (size_t i = 0; i < comparison->rule_count; i++) {
        json_t *json = json_object();
        json_put(json, "name", json_text(rules[i].name));
        json_put(json, "stage", json_text(rules[i].stage));
        json_put(json, "count", json_ns(rules[i].count));
        json_put(json, "strong_edges", json_ns(comparison->rules[i].strong));
        json_put(json, "weak_edges", json_ns(comparison->rules[i].weak));
        json_add(list, json);
    }
    return list;
}

static json_t *comparison_json(const struct argus_report_context *context,
                               const struct argus_comparison *comparison,
                               const struct argus_abilities *abilities)
{
    const struct argus_trace *trace = argus_graph_trace(context->graph);
    uint64_t edges = sum_fates(comparison->wakeup_fates) + sum_fates(comparison->message_fates);
    uint64_t gone = avoided(comparison->wakeup_fates) + avoided(comparison->message_fates);
    json_t *json = json_object();
    json_put(json, "file", json_text(argus_trace_name(trace)));
    json_put(json, "records", json_ns(argus_trace_record_count(trace)));
    json_put(json, "lost", json_ns(argus_trace_lost_count(trace)));
    json_put(json, "plain", figures_json(&comparison->plain));
    json_put(json, "strong", figures_json(&comparison->strong));
    json_put(json, "all", figures_json(&comparison->all));
    json_put(json, "waits", json_ns(comparison->waits));
    json_put(json, "plain_wakeups", fates_json(comparison->wakeup_fates));
    json_put(json, "plain_messages", fates_json(comparison->message_fates));
    json_put(json, "avoided_edges_percent", json_real(percent(gone, edges)));
    json_put(json, "avoided_mixed_percent",
             json_real(saved(comparison->plain.mixed, comparison->strong.mixed)));
    json_put(json, "split_vertices", json_ns(comparison->split_vertices));
    json_put(json, "rules", rules_json(context, comparison));
    if (abilities->count)
        json_put(json, "abilities", json_abilities(abilities));
    return json;
}

struct argus_error *argus_report_comparison(const struct argus_report_context *context,
                                            const struct argus_comparison *comparison,
                                            const struct argus_abilities *abilities, bool json)
{
    if (json)
        return json_write(context->sink, "argus-graph-stats 1",
                          comparison_json(context, comparison, abilities));
    figures_text(context->sink, comparison);
    fates_text(context->sink, comparison);
    edges_text(context, comparison);
    for (size_t i = 0; i < sizeof(stages) / sizeof(*stages); i++)
        stage_text(context, stages[i].stage, stages[i].heading);
    argus_sink_printf(context->sink,
                      "\n%" PRIu64 " vertices begin at a split or a callback, not after a wait.\n",
                      comparison->split_vertices);
    report_abilities(context->sink, abilities);
    return NULL;
}
