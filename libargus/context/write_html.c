/* One page, by itself: no script, nothing from elsewhere. The paper's heat map (figure 7) is a table, its trees are SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context/charges.h"
#include "context/html_parts.h"
#include "context/route.h"

#define ZOOMED 5 /* contexts that are drawn by themselves */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Argus: calling "
    "contexts</title>\n"
    "<style>\nbody{font:14px sans-serif;margin:2em;color:#222;background:#fff}\n"
    "table{border-collapse:collapse}td{padding:2px 5px;text-align:center;border:1px solid #fff;"
    "font-size:12px}td.name{text-align:left;white-space:nowrap}\n"
    ".scroll{overflow:auto;max-height:75vh;border:1px solid #ccc}\n"
    "path{fill:none;stroke-linecap:round}path.now{stroke:#c0392b;stroke-opacity:.75}"
    "path.base{stroke:#2e6da4;stroke-opacity:.8}circle{fill:#444}\n"
    "text{font-size:13px}text.other{fill:#777}text.worst{font-weight:bold;fill:#c0392b}\n"
    "</style></head><body>\n";

void html_text(const struct argus_sink *sink, const char *text)
{
    for (const char *at = text; *at; at++) {
        const char *reference = *at == '<'   ? "&lt;"
                                : *at == '>' ? "&gt;"
                                : *at == '&' ? "&amp;"
                                : *at == '"' ? "&quot;"
                                             : NULL;
        if (reference)
            argus_sink_printf(sink, "%s", reference);
        else
            sink->write(sink->context, at, 1);
    }
}

/* Pale below a microsecond, dark red from ten seconds on, by the logarithm. */
static void write_colour(const struct argus_sink *sink, double ns)
{
    double share = ns > 1000 ? (log10(ns) - 3) / 7 : 0;
    share = share > 1 ? 1 : share;
    argus_sink_printf(sink, "background:hsl(%.0f,85%%,%.0f%%)%s", 50 - 50 * share, 95 - 55 * share,
                      share > 0.75 ? ";color:#fff" : "");
}

static void write_cells(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        const struct argus_ranked_path *path)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct route route;
    int place = 0;
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    route_fill(report, path->node, &route);
    for (uint32_t i = 0; i < route.count; i++)
        place = route.nodes[i] == path->bottleneck ? (int)i : place;
    for (uint32_t i = 0; i < route.count; i++) {
        char own[32];
        uint64_t own_ns = nodes[route.nodes[i]].own_ns[report->options.estimate];
        argus_sink_printf(sink, "<td style=\"");
        write_colour(sink, (double)own_ns);
        argus_sink_printf(sink, "\" title=\"");
        html_text(sink, functions[nodes[route.nodes[i]].function].name);
        argus_sink_printf(sink, ": %s\">%d</td>", argus_duration_text(own_ns, own, sizeof(own)),
                          abs((int)i - place));
    }
}

static void write_name(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       const struct argus_ranked_path *path)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    char cost[32];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    const struct argus_context_function *charged =
        &functions[nodes[charged_node(report->contexts, path->bottleneck)].function];
    argus_sink_printf(sink, "%s%s ", path->cost_ns < 0 ? "-" : "",
                      argus_duration_text((uint64_t)fabs(path->cost_ns), cost, sizeof(cost)));
    html_text(sink, charged->name);
    argus_sink_printf(sink, " (%s)", argus_layer_name((enum argus_layer)charged->layer));
}

static void write_heat_map(const struct argus_sink *sink,
                           const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    argus_sink_printf(
        sink, "<h2>Contexts</h2>\n<p>A row is a context, the dearest first; a cell a "
              "function, from the outermost on, coloured by the logarithm of its own time. "
              "0 is the bottleneck, other numbers say how many calls away it is. Point at a "
              "cell for its name.</p>\n<div class=\"scroll\"><table>\n");
    for (size_t i = 0; i < ranking->count && i < report->top; i++) {
        argus_sink_printf(sink, "<tr><td>%zu</td><td class=\"name\">", i + 1);
        if (i < ZOOMED)
            argus_sink_printf(sink, "<a href=\"#c%zu\">", i + 1);
        write_name(sink, report, &ranking->paths[i]);
        argus_sink_printf(sink, i < ZOOMED ? "</a></td>" : "</td>");
        write_cells(sink, report, &ranking->paths[i]);
        argus_sink_printf(sink, "</tr>\n");
    }
    argus_sink_printf(sink, "</table></div>\n");
}

static void write_zooms(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    argus_sink_printf(sink,
                      "<h2>Around the dearest</h2>\n<p>Names and times, callees included%s.</p>\n",
                      report->base ? "; those of the base in brackets" : "");
    for (size_t i = 0; i < ranking->count && i < report->top && i < ZOOMED; i++) {
        argus_sink_printf(sink, "<details id=\"c%zu\"%s><summary>%zu. ", i + 1, i ? "" : " open",
                          i + 1);
        write_name(sink, report, &ranking->paths[i]);
        argus_sink_printf(sink, "</summary>\n<div class=\"scroll\">");
        html_path(sink, report, &ranking->paths[i]);
        argus_sink_printf(sink, "</div></details>\n");
    }
}

struct argus_error *argus_report_contexts_html(const struct argus_sink *sink,
                                               const struct argus_contexts_report *report)
{
    const struct argus_trace *trace = argus_graph_trace(argus_contexts_graph(report->contexts));
    sink->write(sink->context, head, sizeof(head) - 1);
    argus_sink_printf(sink, "<h1>Calling contexts of ");
    html_text(sink, argus_trace_path(trace));
    argus_sink_printf(sink, "</h1>\n");
    if (report->base) {
        argus_sink_printf(sink, "<p>Compared with ");
        html_text(sink, report->base_path);
        argus_sink_printf(sink, ".</p>\n");
    }
    write_heat_map(sink, report);
    write_zooms(sink, report);
    argus_sink_printf(sink, "<h2>All of it</h2>\n<p>A line is a call, as thick as the logarithm of "
                            "what the callee took: red here, blue in the base.</p>\n"
                            "<div class=\"scroll\">");
    struct argus_error *error = html_tree(sink, report);
    argus_sink_printf(sink, "</div>\n</body></html>\n");
    return error;
}
