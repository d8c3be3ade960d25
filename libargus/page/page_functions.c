/* A sortable table of the functions, each with its cost in all of its contexts. */
#include <math.h>
#include <stdlib.h>

#include "context/contexts_data.h"
#include "page/parts.h"

#define MOST_ROWS 300

struct function_sum {
    double cost_ns;
    uint64_t own_ns, waited_ns, calls;
    uint32_t function, contexts;
};

static int by_cost(const void *left, const void *right)
{
    const struct function_sum *a = left, *b = right;
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    if (a->own_ns != b->own_ns)
        return a->own_ns > b->own_ns ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static struct function_sum *sum_up(const struct argus_contexts_report *report, size_t *ret_count)
{
    const struct argus_context_function *functions;
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    *ret_count = argus_contexts_functions(report->contexts, &functions);
    struct function_sum *sums = calloc(*ret_count + 1, sizeof(*sums));
    for (size_t i = 0; sums && i < *ret_count; i++)
        sums[i].function = (uint32_t)i;
    for (size_t i = 1; sums && i < count; i++) {
        struct function_sum *sum = &sums[nodes[i].function];
        if (nodes[i].depth < INFERENCE_FIRST_DEPTH)
            continue;
        sum->cost_ns += report->ranking->costs[i];
        sum->own_ns += nodes[i].own_ns[report->options.estimate];
        sum->calls += nodes[i].count;
        sum->contexts++;
        for (int k = 0; k < ARGUS_WAITED_KINDS; k++)
            sum->waited_ns += nodes[i].waited_ns[report->options.estimate][k];
    }
    if (sums)
        qsort(sums, *ret_count, sizeof(*sums), by_cost);
    return sums;
}

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
    write_time(sink, (double)sum->own_ns, false);
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
    size_t count, left_out = 0;
    struct function_sum *sums = sum_up(report, &count);
    if (!sums)
        return argus_error_memory();
    argus_sink_printf(sink,
                      "<div class=\"scroll tall\" tabindex=\"0\" role=\"group\" "
                      "aria-label=\"Functions\"><table class=\"sortable\"><thead><tr><th>function"
                      "</th><th>file</th><th>layer</th><th aria-sort=\"descending\">cost</th>"
                      "<th>own</th><th>of it waits</th><th>calls</th><th>contexts</th></tr>"
                      "</thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        if (i < MOST_ROWS && sums[i].contexts)
            write_row(sink, report, &sums[i]);
        else
            left_out += sums[i].contexts > 0;
    }
    argus_sink_printf(sink, "</tbody></table></div>\n");
    if (left_out)
        argus_sink_printf(sink,
                          "<p class=\"rest\">%zu functions that cost less are left out; "
                          "<code>argus contexts --json --tree</code> has all.</p>\n",
                          left_out);
    free(sums);
    return NULL;
}
