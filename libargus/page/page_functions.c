/* A sortable table of the functions, each with its cost in all of its contexts. */
#include "context/contexts_data.h"
#include "context/function_sums.h"
#include "page/parts.h"

#define MOST_ROWS 300

static void write_time(const struct argus_sink *sink, double ns, bool plus)
{
    char text[40];
    argus_sink_printf(sink, "<td class=\"r\" data-s=\"%.0f\">%s</td>", ns,
                      html_time(ns, plus, text, sizeof(text)));
}

static void write_row(const struct argus_sink *sink, const struct argus_contexts_report *report,
                      const struct function_sum *sum)
{
    const struct argus_context_function *functions;
    argus_contexts_functions(report->contexts, &functions);
    const struct argus_context_function *function = &functions[sum->function];
    argus_sink_printf(sink, "<tr><td class=\"f\">");
    html_text(sink, function->name);
    argus_sink_printf(sink, "</td><td class=\"f\">");
    html_text(sink, function->image[0] ? contexts_base_name(function->image) : "no file");
    argus_sink_printf(sink, "</td><td><span class=\"badge l%u\">%s</span></td>", function->layer,
                      argus_layer_name((enum argus_layer)function->layer));
    write_time(sink, sum->cost_ns, report->base != NULL);
    write_time(sink, sum->inclusive_cost_ns, report->base != NULL);
    write_time(sink, (double)sum->own_ns, false);
    write_time(sink, (double)sum->total_ns, false);
    write_time(sink, (double)sum->waited_ns, false);
    argus_sink_printf(sink,
                      "<td class=\"r\" data-s=\"%llu\">%llu</td><td class=\"r\" "
                      "data-s=\"%u\">%u</td></tr>\n",
                      (unsigned long long)sum->calls, (unsigned long long)sum->calls, sum->contexts,
                      sum->contexts);
}

struct argus_error *page_functions(const struct argus_sink *sink,
                                   const struct argus_contexts_report *report)
{
    struct function_sums sums;
    struct argus_error *error = function_sums_create(report, &sums);
    if (error)
        return error;
    argus_sink_printf(sink,
                      "<div class=\"scroll tall\" tabindex=\"0\" role=\"group\" "
                      "aria-label=\"Functions\"><table class=\"sortable\"><thead><tr><th>function"
                      "</th><th>file</th><th>layer</th><th aria-sort=\"descending\">cost</th>"
                      "<th>cost with callees</th><th>own</th><th>own and callees</th>"
                      "<th>of own waits</th><th>calls</th><th>contexts</th></tr>"
                      "</thead><tbody>\n");
    for (size_t i = 0; i < sums.count && i < MOST_ROWS; i++)
        write_row(sink, report, &sums.items[i]);
    argus_sink_printf(sink, "</tbody></table></div>\n");
    if (sums.count > MOST_ROWS)
        argus_sink_printf(sink,
                          "<p class=\"rest\">%zu functions that cost less are left out; "
                          "<code>argus contexts --json --tree</code> has all.</p>\n",
                          sums.count - MOST_ROWS);
    function_sums_deinit(&sums);
    return NULL;
}
