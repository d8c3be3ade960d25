/* Writes contexts as text: what was analyzed, the most expensive contexts, each as a table of its
 * functions, and the sums by layer and file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/whole_number.h"
#include "context/budget.h"
#include "context/builds.h"
#include "context/charges.h"
#include "context/function_sums.h"
#include "context/made_code.h"
#include "context/rank.h"
#include "context/route.h"
#include "context/write_json.h"
#include "context/write_scope.h"
#include "report/lines.h"
#include "report/programs_32_bit.h"
#include "report/report_limits.h"
#include "report/report_unnamed.h"

#define FILES_SHOWN   8
#define BUILDS_SHOWN  4
#define WAITS_SHOWN   3
#define ROOTLESS_MANY 10 /* one of so many stacks */

static const char *signed_time(double ns, bool has_base, char *buffer, size_t bytes)
{
    char text[32];
    argus_duration_text(whole_number(fabs(ns)), text, sizeof(text));
    snprintf(buffer, bytes, "%s%s", ns < 0 ? "-" : has_base ? "+" : "", text);
    return buffer;
}

/* kperf takes other stacks than Argus's recorder on Linux, and has no such options. */
static bool is_darwin(const struct argus_contexts_report *report)
{
    return argus_trace_header(argus_graph_trace(report->contexts->graph))->os == ARGUS_OS_DARWIN;
}

/* Stacks that were walked by frame pointers through code that has none: most of what Debian
 * builds. */
static void write_rootless(const struct argus_sink *sink,
                           const struct argus_contexts_report *report)
{
    const struct argus_context_counts *counts = argus_contexts_counts(report->contexts);
    uint64_t stacks = 0;
    for (int i = 0; i < ARGUS_MOMENTS; i++)
        stacks += i == ARGUS_MOMENT_RETURN ? 0 : counts->moments[i];
    if (counts->rootless)
        argus_sink_printf(sink,
                          "%llu of %llu stacks do not reach the beginning of their thread, so less "
                          "is known to have gone on%s\n",
                          (unsigned long long)counts->rootless, (unsigned long long)stacks,
                          is_darwin(report) ? "" : ": short waits, without frame pointers");
    if (counts->rootless * ROOTLESS_MANY >= stacks && counts->rootless && is_darwin(report))
        argus_sink_printf(sink,
                          "These are many: callers are missing, and what is to blame may be among "
                          "them. On a Mac, kperf follows frame pointers: build the program with "
                          "them (-fno-omit-frame-pointer)\n");
    else if (counts->rootless * ROOTLESS_MANY >= stacks && counts->rootless)
        argus_sink_printf(sink,
                          "These are many: callers are missing, and what is to blame may be among "
                          "them. Record again, with --call-stacks: all stacks are copied then\n");
}

/* For each reason why stacks are cut off: an explanation, and what the user can do. */
static const char *const cut_reasons[ARGUS_FRAME_ENDS] = {
    [ARGUS_FRAME_CUT] = "longer than what was copied (--unwind-size)",
    [ARGUS_FRAME_MISSING] = "whose next page was not in memory",
    [ARGUS_FRAME_UNKNOWN] =
        "from code without unwind information (made at run time, or its file has changed)",
    [ARGUS_FRAME_DEEP] = "with more functions than are kept (--unwind keeps more)",
    [ARGUS_FRAME_ASTRAY] =
        "of short waits and wake-ups without frame pointers (--call-stacks copies them, too)",
};

static void write_cut(const struct argus_sink *sink, const struct argus_context_counts *counts)
{
    const char *between = "";
    if (!counts->cut)
        return;
    argus_sink_printf(
        sink, "%llu stacks are cut short, below [stack cut]: ", (unsigned long long)counts->cut);
    for (int i = 1; i < ARGUS_FRAME_ENDS; i++) {
        if (!counts->cut_by[i])
            continue;
        argus_sink_printf(sink, "%s%llu %s", between, (unsigned long long)counts->cut_by[i],
                          cut_reasons[i]);
        between = ", ";
    }
    argus_sink_printf(sink, "\n");
}

static void write_counts(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    const struct argus_context_counts *counts = argus_contexts_counts(report->contexts);
    const char *between = "";
    argus_sink_printf(sink, "stacks of %u threads at ", counts->threads);
    for (int i = 1; i <= ARGUS_MOMENTS; i++) {
        int moment = i % ARGUS_MOMENTS; /* returns come last */
        if (!counts->moments[moment])
            continue;
        argus_sink_printf(sink, "%s%llu %s", between, (unsigned long long)counts->moments[moment],
                          argus_moment_name((enum argus_moment)moment));
        between = ", ";
    }
    argus_sink_printf(sink,
                      "\n%u paths (%.1f functions on average, at most %u) of %u functions in %u "
                      "files; %llu function instances\n",
                      counts->paths, counts->mean_frames, counts->longest, counts->functions,
                      counts->images, (unsigned long long)counts->instances);
    if (!counts->moments[ARGUS_MOMENT_CALL])
        argus_sink_printf(sink, "no stacks at system calls%s\n",
                          is_darwin(report) ? "" : ": 'argus record --call-stacks' takes them");
    write_cut(sink, counts);
    if (counts->grafted)
        argus_sink_printf(sink,
                          "%llu of them go on where their thread's whole stacks have the same "
                          "functions, and are not below [stack cut]\n",
                          (unsigned long long)counts->grafted);
    write_rootless(sink, report);
    if (counts->missing)
        argus_sink_printf(sink, "%llu stacks are not in the trace\n",
                          (unsigned long long)counts->missing);
    made_code_write(sink, report->contexts);
}

static void write_build(const struct argus_sink *sink, const struct build_pair *pair)
{
    if (pair->is_program) {
        argus_sink_printf(sink, " %s (program; there %s)", pair->here, pair->there);
        return;
    }
    argus_sink_printf(sink, " %s", contexts_base_name(pair->here));
    if (pair->is_renamed)
        argus_sink_printf(sink, " (there %s)", contexts_base_name(pair->there));
}

static void write_builds(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    build_pair_vec pairs = {0};
    size_t count = 0;
    builds_pair(report->contexts, report->base, &pairs); /* without memory: those found */
    for (size_t i = 0; i < pairs.length; i++) {
        if (!pairs.data[i].is_other || count++ >= BUILDS_SHOWN)
            continue;
        argus_sink_printf(
            sink,
            count == 1 ? "other builds or names than in the base, compared by function:" : ",");
        write_build(sink, &pairs.data[i]);
    }
    if (count)
        argus_sink_printf(sink, count > BUILDS_SHOWN ? " and %zu more\n" : "\n",
                          count - BUILDS_SHOWN);
    vec_deinit(&pairs);
}

/* What was compared by function (moved.c). */
static void write_moved(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    char text[40];
    double moved_ns = rank_moved_ns(report);
    if (moved_ns > 0)
        argus_sink_printf(sink,
                          "%s of the base are in paths that are not here, and are compared by "
                          "function; functions without names are compared as one for each file\n",
                          argus_duration_text(whole_number(moved_ns), text, sizeof(text)));
}

static void write_base(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    static const char *const estimates[] = {"conservative", "aggressive"};
    argus_sink_printf(sink, "%s estimate", estimates[report->options.estimate]);
    if (!report->base) {
        argus_sink_printf(sink, "; no --base to compare with: what is always slow is listed too\n");
        return;
    }
    argus_sink_printf(sink, "; compared with %s: %u of its %u paths are here too\n",
                      report->base_path, ranking->paths_equal, ranking->paths_of_base);
    write_builds(sink, report);
    write_moved(sink, report);
    if (ranking->programs_missing)
        argus_sink_printf(sink, "%u programs are not in the base\n", ranking->programs_missing);
}

static void write_function(const struct argus_sink *sink,
                           const struct argus_contexts_report *report, const struct route *route,
                           uint32_t i, uint32_t bottleneck)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    char cost[40], own[40], total[40], mean[40];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    uint32_t at = route->nodes[i];
    const struct argus_context_node *node = &nodes[at];
    const struct argus_context_function *function = &functions[node->function];
    enum argus_estimate estimate = report->options.estimate;
    uint64_t mean_ns = whole_number(node_mean_ns(node, estimate));
    argus_sink_printf(sink, " %c%4u %11s %11s %11s %11s %8llu  %-8s %s",
                      at == bottleneck ? '*' : ' ', route->ranks[i] + 1,
                      signed_time(report->ranking->costs[at], report->base, cost, sizeof(cost)),
                      argus_duration_text(node->own_ns[estimate], own, sizeof(own)),
                      argus_duration_text(node->total_ns[estimate], total, sizeof(total)),
                      argus_duration_text(mean_ns, mean, sizeof(mean)),
                      (unsigned long long)node->count, argus_layer_name(function->layer),
                      function->name);
    const char *file = contexts_base_name(function->image);
    argus_sink_printf(sink, file[0] ? "  (%s%s)\n" : "\n", file,
                      node->is_inlined ? ", inlined" : "");
}

/* "waited 3.42 s in the end for dict-server [12], 98 %; it ended none of the waits". */
static void write_wait(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       const struct argus_context_wait *wait)
{
    const struct argus_process *processes;
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    char time[32], ended[32];
    argus_graph_processes(argus_contexts_graph(report->contexts), &processes);
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    uint64_t all_ns = nodes[wait->node].waited_ns[ARGUS_CONSERVATIVE][ARGUS_WAITED_OTHERS];
    argus_sink_printf(
        sink, "       waited %s in the end for %s [%llu], %.0f %% of the waits in %s; it ended",
        argus_duration_text(wait->ns, time, sizeof(time)), processes[wait->process].name,
        (unsigned long long)processes[wait->process].pid,
        all_ns ? (double)wait->ns * 100 / (double)all_ns : 0,
        functions[nodes[wait->node].function].name);
    if (wait->count)
        argus_sink_printf(sink, " %llu, of %s\n", (unsigned long long)wait->count,
                          argus_duration_text(wait->ended_ns, ended, sizeof(ended)));
    else
        argus_sink_printf(sink, " none\n");
}

static void write_waits(const struct argus_sink *sink, const struct argus_contexts_report *report,
                        const struct route *route)
{
    const struct argus_context_wait *waits;
    size_t count = argus_contexts_waits(report->contexts, &waits), shown = 0;
    for (uint32_t i = 0; i < route->count; i++)
        for (size_t k = 0; k < count && shown < WAITS_SHOWN; k++)
            if (waits[k].node == route->nodes[i]) {
                write_wait(sink, report, &waits[k]);
                shown++;
            }
}

static void write_path(const struct argus_sink *sink, const struct argus_contexts_report *report,
                       size_t number, const struct argus_ranked_path *path)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    struct route route;
    char cost[40];
    argus_contexts_nodes(report->contexts, &nodes);
    argus_contexts_functions(report->contexts, &functions);
    route_fill(report, path->node, &route);
    uint32_t charged = charged_of_path(report->contexts, path);
    uint32_t script = charged_script(report->contexts, charged);
    const struct argus_context_function *function = &functions[nodes[charged].function];
    argus_sink_printf(sink, "\n%zu. %s in %s (%s, %s)", number,
                      signed_time(path->cost_ns, report->base, cost, sizeof(cost)), function->name,
                      function->image[0] ? contexts_base_name(function->image) : "no file",
                      argus_layer_name(function->layer));
    if (charged != path->bottleneck)
        argus_sink_printf(sink, ", in %s", functions[nodes[path->bottleneck].function].name);
    if (script != ARGUS_NONE)
        argus_sink_printf(sink, ", called by %s (%s)", functions[nodes[script].function].name,
                          contexts_base_name(functions[nodes[script].function].image));
    argus_sink_printf(sink, "; %s%s", functions[nodes[route.program].function].name,
                      !report->base || !path->is_new ? ""
                      : path->by_function            ? "; another path than in the base"
                                                     : "; not in the base");
    if (path->others)
        argus_sink_printf(sink, "; %u more paths through it", path->others);
    if (path->ways > 1)
        argus_sink_printf(sink, "; %u ways lead there, this one costs most", path->ways);
    if (path->elsewhere_ns > 0)
        argus_sink_printf(sink, "; %s of its callers count in another entry",
                          signed_time(path->elsewhere_ns, report->base, cost, sizeof(cost)));
    if (path->spread)
        argus_sink_printf(sink,
                          "; with what it calls: %u functions, none of them alone beyond chance",
                          path->spread);
    if (path->by_chance)
        argus_sink_printf(sink, "; may be chance: %s", rank_chance_reason(path));
    argus_sink_printf(
        sink,
        "\n  rank        cost         own       total        mean    calls  layer    function\n");
    for (uint32_t i = 0; i < route.count; i++)
        write_function(sink, report, &route, i, path->bottleneck);
    write_waits(sink, report, &route);
}

/* What the list leaves out. Means do not add up. */
static struct argus_error *write_rest(const struct argus_sink *sink,
                                      const struct argus_contexts_report *report)
{
    const struct argus_ranking *ranking = report->ranking;
    size_t more = 0, by_chance = 0;
    char text[40];
    double gone_ns;
    for (size_t i = report->top; i < ranking->count; i++) {
        more += ranking->paths[i].cost_ns > 0;
        by_chance += ranking->paths[i].by_chance;
    }
    if (report->options.rank == ARGUS_RANK_MEAN)
        return NULL;
    struct argus_error *error = rank_gone_ns(report, &gone_ns);
    if (error)
        return error;
    argus_sink_printf(sink, "\nall contexts together: %s",
                      signed_time(rank_total(report), report->base, text, sizeof(text)));
    if (gone_ns >= 1000)
        argus_sink_printf(sink, "; contexts that only the base has: %s",
                          signed_time(-gone_ns, report->base, text, sizeof(text)));
    if (more)
        argus_sink_printf(sink, "; %zu more entries (--top), of which %zu may be chance", more,
                          by_chance);
    argus_sink_printf(sink, "\n");
    return NULL;
}

/* Each function in all of its contexts. */
static struct argus_error *write_functions(const struct argus_sink *sink,
                                           const struct argus_contexts_report *report)
{
    const struct argus_context_function *functions;
    struct function_sums sums;
    char cost[40], inclusive[40], own[40], total[40];
    struct argus_error *error = function_sums_create(report, &sums);
    if (error)
        return error;
    argus_contexts_functions(report->contexts, &functions);
    argus_sink_printf(sink, "\nfunctions, over all contexts\n        cost with callees         own "
                            "      total    calls contexts  layer    function\n");
    for (size_t i = 0; i < sums.count && i < report->top && sums.items[i].cost_ns > 0; i++) {
        const struct function_sum *sum = &sums.items[i];
        const struct argus_context_function *function = &functions[sum->function];
        const char *file = contexts_base_name(function->image);
        argus_sink_printf(
            sink, " %11s %12s %11s %11s %8llu %8u  %-8s %s",
            signed_time(sum->cost_ns, report->base, cost, sizeof(cost)),
            signed_time(sum->inclusive_cost_ns, report->base, inclusive, sizeof(inclusive)),
            argus_duration_text(sum->own_ns, own, sizeof(own)),
            argus_duration_text(sum->total_ns, total, sizeof(total)),
            (unsigned long long)sum->calls, sum->contexts, argus_layer_name(function->layer),
            function->name);
        argus_sink_printf(sink, file[0] ? "  (%s)\n" : "\n", file);
    }
    function_sums_deinit(&sums);
    return NULL;
}

static struct argus_error *write_charges(const struct argus_sink *sink,
                                         const struct argus_contexts_report *report)
{
    struct charges charges;
    char own[40], charged[40];
    struct argus_error *error = charges_create(report, &charges);
    if (error)
        return error;
    argus_sink_printf(sink, "\nlayer           its own  with what it asked the C library and the "
                            "kernel to do\n");
    for (int i = 0; i < ARGUS_LAYERS; i++)
        if (fabs(charges.layers[i]) >= 1000 || fabs(charges.charged_layers[i]) >= 1000)
            argus_sink_printf(
                sink, "%-10s %12s %12s\n", argus_layer_name((enum argus_layer)i),
                signed_time(charges.layers[i], report->base, own, sizeof(own)),
                signed_time(charges.charged_layers[i], report->base, charged, sizeof(charged)));
    argus_sink_printf(sink, "\nfile, charged the same way\n");
    double least = charges.file_count ? charges.files[0].cost_ns / 1000 : 0;
    for (size_t i = 0;
         i < charges.file_count && i < FILES_SHOWN && charges.files[i].cost_ns > least; i++)
        argus_sink_printf(sink, "%12s  %-8s %s\n",
                          signed_time(charges.files[i].cost_ns, report->base, own, sizeof(own)),
                          argus_layer_name(charges.files[i].layer),
                          charges.files[i].image[0] ? charges.files[i].image : "(no file)");
    charges_deinit(&charges);
    return NULL;
}

void contexts_write_what(const struct argus_sink *sink, const struct argus_contexts_report *report)
{
    scope_write(sink, report->contexts);
    write_counts(sink, report);
    write_base(sink, report);
}

static struct argus_error *write_text(const struct argus_sink *sink,
                                      const struct argus_contexts_report *report)
{
    contexts_write_what(sink, report);
    argus_sink_printf(sink, "\n");
    struct argus_error *error = budgets_write(sink, report);
    if (error)
        return error;
    const struct argus_ranking *ranking = report->ranking;
    if (ranking->count && ranking->paths[0].by_chance)
        argus_sink_printf(sink, "\nno entry is %sbeyond chance\n",
                          report->base ? "slower than in the base " : "");
    for (size_t i = 0; i < ranking->count && i < report->top && ranking->paths[i].cost_ns > 0; i++)
        write_path(sink, report, i + 1, &ranking->paths[i]);
    if (!ranking->count || ranking->paths[0].cost_ns <= 0)
        argus_sink_printf(sink, "\nno context is slower than in the base\n");
    error = write_rest(sink, report);
    if (!error)
        error = write_functions(sink, report);
    if (!error)
        error = write_charges(sink, report);
    struct programs_32_bit programs;
    contexts_touch(report->contexts, &programs);
    programs_32_bit_print(&programs, sink);
    programs_32_bit_deinit(&programs);
    report_unnamed(sink, report->contexts->paths.frames.symbols);
    return error ? error
                 : report_limits(sink, argus_graph_trace(report->contexts->graph),
                                 ARGUS_GAP_CONTEXTS, ARGUS_GAP_ANY);
}

struct argus_error *argus_report_contexts(const struct argus_sink *sink,
                                          const struct argus_contexts_report *report, bool json)
{
    return json ? contexts_write_json(sink, report) : write_text(sink, report);
}
