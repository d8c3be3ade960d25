/* The paper's figure 7: a row is a context, a column one of its functions, coloured by the
 * logarithm of its time. Below it, each context alone, with names and numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/whole_number.h"
#include "context/charges.h"
#include "context/rank.h"
#include "context/route.h"
#include "page/parts.h"

#define WAITS_SHOWN   4
#define LONGEST_CYCLE 8 /* functions that call each other in a circle */

unsigned page_heat(double ns)
{
    double step = ns > 1000 ? (log10(ns) - 3) / 7 * 15 + 0.5 : 0;
    return step > 15 ? 15 : (unsigned)step;
}

size_t page_shown(const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    size_t shown = 0;
    while (shown < ranking->count && shown < report->top && ranking->paths[shown].cost_ns > 0)
        shown++;
    return shown;
}

static const struct argus_context_node *nodes_of(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    argus_contexts_nodes(report->contexts, &nodes);
    return nodes;
}

static const struct argus_context_function *function_of(const struct argus_contexts_report *report,
                                                        uint32_t node)
{
    const struct argus_context_function *functions;
    argus_contexts_functions(report->contexts, &functions);
    return &functions[nodes_of(report)[node].function];
}

static const char *file_of(const struct argus_context_function *function)
{
    return function->image[0] ? contexts_base_name(function->image) : "no file";
}

static void write_badge(const struct argus_sink *sink, uint8_t layer)
{
    argus_sink_printf(sink, "<span class=\"badge l%u\">%s</span>", layer,
                      argus_layer_name((enum argus_layer)layer));
}

/* --- the heat map --- */

/* Functions of a path that call each other again and again, one cell for each. */
struct cell {
    uint32_t node;    /* the outermost of them */
    uint32_t repeats; /* 1: no recursion */
    uint64_t own_ns;  /* of all */
    bool is_worst;    /* the bottleneck is among them */
};

static uint32_t function_number(const struct argus_contexts_report *report, uint32_t node)
{
    return nodes_of(report)[node].function;
}

/* Whether the `period` functions at `at` follow once more. */
static bool repeats(const struct argus_contexts_report *report, const struct route *route,
                    uint32_t at, uint32_t period)
{
    if (at + 2 * period > route->count)
        return false;
    for (uint32_t i = at; i < at + period; i++)
        if (function_number(report, route->nodes[i]) !=
            function_number(report, route->nodes[i + period]))
            return false;
    return true;
}

static struct cell cell_of(const struct argus_contexts_report *report, const struct route *route,
                           uint32_t at, uint32_t period, uint32_t times, uint32_t bottleneck)
{
    struct cell cell = {.node = route->nodes[at], .repeats = times};
    for (uint32_t i = 0; i < times; i++) {
        uint32_t node = route->nodes[at + i * period];
        cell.own_ns += nodes_of(report)[node].own_ns[report->options.estimate];
        cell.is_worst |= node == bottleneck;
    }
    return cell;
}

/* The cells of a path, with recursion folded. Returns their number. */
static uint32_t fold_cells(const struct argus_contexts_report *report, const struct route *route,
                           uint32_t bottleneck, struct cell *ret)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < route->count;) {
        uint32_t period = 1, times = 1;
        while (period < LONGEST_CYCLE && !repeats(report, route, at, period))
            period++;
        if (!repeats(report, route, at, period))
            period = 1;
        while (repeats(report, route, at + (times - 1) * period, period))
            times++;
        for (uint32_t i = 0; i < period; i++)
            ret[count++] = cell_of(report, route, at + i, period, times, bottleneck);
        at += period * times;
    }
    return count;
}

static void write_cell(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       const struct cell *cell, int distance)
{
    char own[32], total[32], times[32] = "";
    const struct argus_context_function *function = function_of(report, cell->node);
    const struct argus_context_node *node = &nodes_of(report)[cell->node];
    argus_sink_printf(sink, "<td class=\"h%u%s\"", page_heat((double)cell->own_ns),
                      cell->is_worst ? " worst" : "");
    if (cell->repeats > 1)
        snprintf(times, sizeof(times), ", %u times in itself", cell->repeats);
    html_tip(sink, "%s%s\n%s (%s)\nitself %s, with callees %s", function->name, times,
             file_of(function), argus_layer_name((enum argus_layer)function->layer),
             argus_duration_text(cell->own_ns, own, sizeof(own)),
             argus_duration_text(node->total_ns[report->options.estimate], total, sizeof(total)));
    argus_sink_printf(sink, ">%d%s</td>", distance, cell->repeats > 1 ? "\xe2\x86\xba" : "");
}

static void write_cells(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        const struct argus_ranked_path *path)
{
    struct route route;
    struct cell cells[ROUTE_MOST];
    int place = 0;
    route_fill(report, path->node, &route);
    uint32_t count = fold_cells(report, &route, path->bottleneck, cells);
    for (uint32_t i = 0; i < count; i++)
        place = cells[i].is_worst ? (int)i : place;
    for (uint32_t i = 0; i < count; i++)
        write_cell(sink, report, &cells[i], abs((int)i - place));
}

static void write_row(const struct argus_sink *sink, const struct argus_contexts_report *report,
                      size_t number)
{
    const struct argus_ranked_path *path = &report->ranking->paths[number];
    char cost[40];
    const struct argus_context_function *charged =
        function_of(report, charged_of_path(report->contexts, path));
    argus_sink_printf(sink,
                      "<tr data-c=\"%zu\"><th scope=\"row\"><a href=\"#c%zu\"><span "
                      "class=\"no\">%zu</span> <b>%s</b> %s",
                      number, number + 1, number + 1,
                      html_time(path->cost_ns, report->base != NULL, cost, sizeof(cost)),
                      path->by_chance ? "<small>may be chance</small> " : "");
    html_text(sink, charged->name);
    argus_sink_printf(sink, "</a></th>");
    write_cells(sink, report, path);
    argus_sink_printf(sink, "</tr>\n");
}

static void write_scale(const struct argus_sink *sink)
{
    argus_sink_printf(sink, "<p class=\"legend\">own time <span class=\"nowrap\">1 us ");
    for (unsigned i = 0; i < 16; i++)
        argus_sink_printf(sink, "<i class=\"h h%u\"></i>", i);
    argus_sink_printf(sink, " 10 s</span> by its logarithm; 0 is the bottleneck, other numbers how "
                            "many cells away from it a function is; \xe2\x86\xba: recursion</p>\n");
}

void page_heat_map(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    argus_sink_printf(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Heat "
                            "map\"><table class=\"heat\"><tbody>\n");
    for (size_t i = 0; i < page_shown(report); i++)
        write_row(sink, report, i);
    argus_sink_printf(sink, "</tbody></table></div>\n");
    write_scale(sink);
}

/* --- each context --- */

/* By node: what the base took in other paths (argus_moved) in the functions of this node and of
 * those below it. The caller frees the array; NULL: no memory. */
static double *find_elsewhere(const struct argus_contexts_report *report)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    double *ns = calloc(count + 1, sizeof(*ns));
    for (size_t i = count; ns && report->ranking->moved && i-- > 1;) { /* callees come later */
        ns[i] += report->ranking->moved[i].own_ns;
        ns[nodes[i].parent] += ns[i];
    }
    return ns;
}

/* A node of the trace beside the base. */
struct compared {
    double total_ns, base_ns; /* with callees */
    bool is_elsewhere;        /* the base has its functions in other paths only */
};

static struct compared compare(const struct argus_contexts_report *report, const double *elsewhere,
                               uint32_t node)
{
    const struct argus_context_node *nodes;
    enum argus_estimate estimate = report->options.estimate;
    uint32_t other = report->base ? report->ranking->base_node[node] : ARGUS_NONE;
    double total_ns = (double)nodes_of(report)[node].total_ns[estimate];
    if (other == ARGUS_NONE)
        return (struct compared){total_ns, elsewhere[node], elsewhere[node] > 0};
    argus_contexts_nodes(report->base, &nodes);
    return (struct compared){total_ns, (double)nodes[other].total_ns[estimate], false};
}

static void write_bar(const struct argus_sink *sink, const char *kind, double part)
{
    if (part > 0)
        argus_sink_printf(sink, "<i class=\"bar %s\" style=\"width:%.1f%%\"></i>", kind,
                          part > 100 ? 100 : part);
}

static void write_totals(const struct argus_sink *sink, const struct argus_contexts_report *report,
                         const struct compared *times, double most)
{
    char text[40];
    write_bar(sink, "now", most > 0 ? times->total_ns * 100 / most : 0);
    write_bar(sink, "base", most > 0 ? times->base_ns * 100 / most : 0);
    argus_sink_printf(sink, "<span>%s",
                      argus_duration_text(whole_number(times->total_ns), text, sizeof(text)));
    if (report->base)
        argus_sink_printf(sink, " <small>(%s%s)</small>",
                          argus_duration_text(whole_number(times->base_ns), text, sizeof(text)),
                          times->is_elsewhere ? " in other paths" : "");
    argus_sink_printf(sink, "</span>");
}

static void write_frame(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        uint32_t at, bool is_bottleneck, const struct compared *times, double most)
{
    const struct argus_context_node *node = &nodes_of(report)[at];
    const struct argus_context_function *function = function_of(report, at);
    enum argus_estimate estimate = report->options.estimate;
    char text[40];
    argus_sink_printf(sink, "<tr%s><td class=\"f\">", is_bottleneck ? " class=\"worst\"" : "");
    html_text(sink, function->name);
    argus_sink_printf(sink, " <small>");
    html_text(sink, file_of(function));
    argus_sink_printf(sink, "%s</small></td><td>", node->is_inlined ? ", inlined" : "");
    write_badge(sink, function->layer);
    argus_sink_printf(
        sink, "</td><td class=\"r\">%s</td>",
        html_time(report->ranking->costs[at], report->base != NULL, text, sizeof(text)));
    argus_sink_printf(sink, "<td class=\"r\">%s</td>",
                      argus_duration_text(node->own_ns[estimate], text, sizeof(text)));
    argus_sink_printf(sink, "<td class=\"r\">%llu</td><td class=\"w\">",
                      (unsigned long long)node->count);
    write_totals(sink, report, times, most);
    argus_sink_printf(sink, "</td></tr>\n");
}

static void write_frames(const struct argus_sink *sink, const struct argus_contexts_report *report,
                         const double *elsewhere, const struct argus_ranked_path *path)
{
    struct route route;
    struct compared times[ROUTE_MOST];
    double most = 0;
    route_fill(report, path->node, &route);
    for (uint32_t i = 0; i < route.count; i++) {
        times[i] = compare(report, elsewhere, route.nodes[i]);
        most = times[i].total_ns > most ? times[i].total_ns : most;
        most = times[i].base_ns > most ? times[i].base_ns : most;
    }
    argus_sink_printf(sink,
                      "<div class=\"scroll\"><table class=\"frames\"><thead><tr><th>function</th>"
                      "<th>layer</th><th>cost</th><th>own</th><th>calls</th><th>with callees%s</th>"
                      "</tr></thead><tbody>\n",
                      report->base ? " (base)" : "");
    for (uint32_t i = 0; i < route.count; i++)
        write_frame(sink, report, route.nodes[i], route.nodes[i] == path->bottleneck, &times[i],
                    most);
    argus_sink_printf(sink, "</tbody></table></div>\n");
}

static void write_waits(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        const struct argus_ranked_path *path)
{
    const struct argus_context_wait *waits;
    const struct argus_process *processes;
    struct route route;
    size_t count = argus_contexts_waits(report->contexts, &waits), shown = 0;
    argus_graph_processes(argus_contexts_graph(report->contexts), &processes);
    route_fill(report, path->node, &route);
    for (uint32_t i = 0; i < route.count; i++)
        for (size_t k = 0; k < count && shown < WAITS_SHOWN; k++) {
            char time[32];
            if (waits[k].node != route.nodes[i])
                continue;
            argus_sink_printf(sink, "<p>Waited %s in the end for ",
                              argus_duration_text(waits[k].ns, time, sizeof(time)));
            html_textf(sink, "%s [%llu], in %s; it ended %llu of the waits.",
                       processes[waits[k].process].name,
                       (unsigned long long)processes[waits[k].process].pid,
                       function_of(report, waits[k].node)->name,
                       (unsigned long long)waits[k].count);
            argus_sink_printf(sink, "</p>\n");
            shown++;
        }
}

static void write_detail(const struct argus_sink *sink, const struct argus_contexts_report *report,
                         const double *elsewhere, size_t number)
{
    const struct argus_ranked_path *path = &report->ranking->paths[number];
    uint32_t charged = charged_of_path(report->contexts, path);
    uint32_t script = charged_script(report->contexts, charged);
    const struct argus_context_function *function = function_of(report, charged);
    struct route route;
    char cost[40];
    route_fill(report, path->node, &route);
    argus_sink_printf(sink, "<details id=\"c%zu\"%s><summary>%zu. <b>%s</b> in ", number + 1,
                      number ? "" : " open", number + 1,
                      html_time(path->cost_ns, report->base != NULL, cost, sizeof(cost)));
    html_textf(sink, "%s (%s)", function->name, file_of(function));
    argus_sink_printf(sink, " ");
    write_badge(sink, function->layer);
    if (charged != path->bottleneck)
        html_textf(sink, " in %s", function_of(report, path->bottleneck)->name);
    if (script != ARGUS_NONE)
        html_textf(sink, " called by %s (%s)", function_of(report, script)->name,
                   file_of(function_of(report, script)));
    html_textf(sink, "; %s", function_of(report, route.program)->name);
    argus_sink_printf(sink, "%s", report->base && path->is_new ? "; not in the base" : "");
    if (path->others)
        argus_sink_printf(sink, "; %u more paths through it", path->others);
    if (path->ways > 1)
        argus_sink_printf(sink, "; %u ways lead there, this one costs most", path->ways);
    if (path->spread)
        argus_sink_printf(sink,
                          "; with what it calls: %u functions, none of them alone beyond chance",
                          path->spread);
    if (path->by_chance)
        argus_sink_printf(sink, "; may be chance: %s", rank_chance_reason(path));
    argus_sink_printf(sink, "</summary>\n");
    write_waits(sink, report, path);
    write_frames(sink, report, elsewhere, path);
    argus_sink_printf(sink, "</details>\n");
}

struct argus_error *page_context_details(const struct argus_sink *sink,
                                         const struct argus_contexts_report *report)
{
    double *elsewhere = find_elsewhere(report);
    if (!elsewhere)
        return argus_error_memory();
    for (size_t i = 0; i < page_shown(report); i++)
        write_detail(sink, report, elsewhere, i);
    free(elsewhere);
    return NULL;
}
