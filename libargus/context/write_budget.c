/* "myprog: +3.0 s in all threads (wall +3.0 s, threads +0) = +0.1 s own work (+0.1 s on a CPU) +
 * ...": a line for each program, whose parts add up. */
#include <math.h>
#include <stdio.h>

#include "base/whole_number.h"
#include "context/budget.h"
#include "context/charges.h"
#include "context/contexts_data.h"
#include "context/wakers.h"

#define PROGRAMS_SHOWN 4
#define PEERS_SHOWN    3
#define WAKERS_PERCENT 1    /* of the program's time: shorter ones are left out */
#define LEAST_NS       1000 /* a shorter part is left out */

static const char *time_text(const struct argus_contexts_report *report, double ns, char *buffer,
                             size_t bytes)
{
    char text[32];
    argus_duration_text(whole_number(fabs(ns)), text, sizeof(text));
    snprintf(buffer, bytes, "%s%s", ns <= -0.5 ? "-" : report->base ? "+" : "", text);
    return buffer;
}

static bool is_shown(double ns)
{
    return fabs(ns) >= LEAST_NS;
}

/* " (0.4 s on a CPU, 0.1 s for disks ...)" */
static void write_details(const struct argus_sink *sink, const struct argus_contexts_report *report,
                          const struct budget *budget, int first, int end)
{
    const char *before = " (";
    char text[40];
    for (int i = first; i < end; i++) {
        if (!is_shown(budget->parts[i]))
            continue;
        argus_sink_printf(sink, "%s%s %s", before,
                          time_text(report, budget->parts[i], text, sizeof(text)),
                          budget_part_text((enum budget_part)i));
        before = ", ";
    }
    argus_sink_printf(sink, before[0] == ',' ? ")" : "");
}

static void write_peers(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        const struct budget *budget)
{
    struct budget_peer peers[PEERS_SHOWN];
    size_t count = budget_peers(report, budget, peers, PEERS_SHOWN), shown = 0;
    char text[40];
    for (size_t i = 0; i < count; i++)
        if (is_shown(peers[i].ns))
            argus_sink_printf(sink, "%s%s %s", shown++ ? ", " : " (", peers[i].name,
                              time_text(report, peers[i].ns, text, sizeof(text)));
    argus_sink_printf(sink, shown ? ")" : "");
}

/* "lock_cache < use < main": a function and its callers. */
static void write_callers(const struct argus_sink *sink, const struct argus_contexts_report *report,
                          uint32_t node)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    for (int i = 0; i < WAKER_CALLERS && nodes[node].depth >= INFERENCE_FIRST_DEPTH; i++) {
        argus_sink_printf(sink, "%s%s", i ? " < " : "", functions[nodes[node].function].name);
        node = nodes[node].parent;
    }
}

/* "  waits for others: +2.0 s in lock_cache, ended in flush_cache (waits: 40)" */
static struct argus_error *write_wakers(const struct argus_sink *sink,
                                        const struct argus_contexts_report *report,
                                        const struct budget *budget)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct waker_row rows[WAKERS_SHOWN];
    size_t count = 0;
    struct argus_error *error =
        budget->node ? wakers_longest(report, budget->node, rows, WAKERS_SHOWN, &count) : NULL;
    char text[40];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    for (size_t i = 0; i < count; i++) {
        uint32_t node = charged_node(report->contexts, rows[i].node);
        uint32_t waker = charged_node(report->contexts, rows[i].waker);
        uint32_t program = program_of_node(nodes, waker);
        if (!is_shown(rows[i].ns) || rows[i].ns < fabs(budget->thread_ns) / 100 * WAKERS_PERCENT)
            continue;
        argus_sink_printf(sink, "  waits for others: %s in ",
                          time_text(report, rows[i].ns, text, sizeof(text)));
        write_callers(sink, report, node);
        argus_sink_printf(sink, ", ended in ");
        write_callers(sink, report, waker);
        if (program != budget->node)
            argus_sink_printf(sink, " of %s", functions[nodes[program].function].name);
        argus_sink_printf(sink, " (waits: %llu)\n", (unsigned long long)rows[i].count);
    }
    return error;
}

static double sum_of(const struct budget *budget, int first, int end)
{
    double sum = 0;
    for (int i = first; i < end; i++)
        sum += budget->parts[i];
    return sum;
}

static void write_program(const struct argus_sink *sink, const struct argus_contexts_report *report,
                          const struct budget *budget)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    char text[40], wall[40];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    argus_sink_printf(
        sink,
        report->base ? "%s: %s in all threads (wall %s, threads %+lld) ="
                     : "%s: %s in all threads (wall %s, threads %lld) =",
        budget->node ? functions[nodes[budget->node].function].name : "programs without a stack",
        time_text(report, budget->thread_ns, text, sizeof(text)),
        time_text(report, budget->wall_ns, wall, sizeof(wall)), (long long)budget->threads);
    argus_sink_printf(
        sink, " %s own work",
        time_text(report, sum_of(budget, BUDGET_CPU, BUDGET_OTHERS), text, sizeof(text)));
    write_details(sink, report, budget, BUDGET_CPU, BUDGET_OTHERS);
    for (int i = BUDGET_OTHERS; i < BUDGET_BETWEEN; i++) {
        if (!is_shown(budget->parts[i]))
            continue;
        argus_sink_printf(sink, ", %s %s", time_text(report, budget->parts[i], text, sizeof(text)),
                          budget_part_text((enum budget_part)i));
        if (i == BUDGET_OTHERS)
            write_peers(sink, report, budget);
    }
    argus_sink_printf(
        sink, ", %s not attributable",
        time_text(report, sum_of(budget, BUDGET_BETWEEN, BUDGET_PARTS), text, sizeof(text)));
    write_details(sink, report, budget, BUDGET_BETWEEN, BUDGET_PARTS);
    argus_sink_printf(sink, "\n");
}

struct argus_error *budgets_write(const struct argus_sink *sink,
                                  const struct argus_contexts_report *report)
{
    struct budgets budgets;
    struct argus_error *error = budgets_create(report, &budgets);
    double rest = 0;
    char text[40];
    if (error)
        return error;
    for (size_t i = 0; !error && i < budgets.count; i++)
        if (i < PROGRAMS_SHOWN) {
            write_program(sink, report, &budgets.items[i]);
            error = write_wakers(sink, report, &budgets.items[i]);
        } else {
            rest += budgets.items[i].thread_ns;
        }
    if (budgets.count > PROGRAMS_SHOWN)
        argus_sink_printf(sink, "%zu more programs: %s\n", budgets.count - PROGRAMS_SHOWN,
                          time_text(report, rest, text, sizeof(text)));
    budgets_deinit(&budgets);
    return error;
}
