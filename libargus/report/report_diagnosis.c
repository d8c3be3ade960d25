/* A diagnosis as text: the summary, the path, where to look, where the time went, what was chosen,
 * what is uncertain. */
#include "report/report_diagnosis.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/wall_time.h"
#include "report/diagnosis_words.h"
#include "report/json.h"
#include "report/lines.h"
#include "report/reason_words.h"
#include "report/report_limits.h"
#include "report/report_run_times.h"
#include "report/report_unnamed.h"
#include "slice/timeline.h"

#define MAX_FUNCTIONS 3
#define MAX_FRAMES    8
#define MIN_SHARE     0.01
#define MAX_STEPS     12 /* of a long path; the JSON has all */

static void print_step(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis, size_t at)
{
    char text[1536];
    diagnosis_step_text(context, diagnosis, at, text, sizeof(text));
    argus_sink_printf(context->sink, "  %zu. ", at + 1);
    report_wrapped(context->sink, 5, text);
}

static void print_story(const struct argus_report_context *context,
                        const struct argus_diagnosis *diagnosis)
{
    char from[WALL_TIME_BYTES], heading[96];
    snprintf(heading, sizeof(heading), "What happened, from %s on",
             argus_moment_text(argus_graph_trace(context->graph), diagnosis->hang.start_ns, from,
                               sizeof(from)));
    report_heading(context->sink, heading);
    for (size_t i = 0; i < diagnosis->path_count && i < MAX_STEPS; i++)
        print_step(context, diagnosis, i);
    if (diagnosis->path_count > MAX_STEPS)
        argus_sink_printf(context->sink, "  … %zu more steps\n", diagnosis->path_count - MAX_STEPS);
    report_baseline(context, diagnosis);
    if (diagnosis->cycle_count > 0)
        argus_sink_printf(context->sink,
                          "  This is a circle: each of the %zu waits for the next%s.\n",
                          diagnosis->cycle_count,
                          diagnosis->cycle_broken_by_timeout ? "; a timeout ended it" : "");
}

static void print_function(const struct argus_report_context *context,
                           const struct argus_culprit *culprit,
                           const struct argus_costly_function *function)
{
    char text[512];
    report_count_frame(context, culprit->vertex, function->address, function->is_return);
    argus_sink_printf(context->sink, "    %s\n",
                      diagnosis_function_text(function, text, sizeof(text)));
}

/* Prints the costliest functions. If these are all in libraries that every program has, also the
 * program's own costliest functions. */
static void print_functions(const struct argus_report_context *context,
                            const struct argus_culprit *culprit)
{
    size_t i = 0, own = 0;
    for (; i < culprit->function_count && i < MAX_FUNCTIONS; i++) {
        print_function(context, culprit, &culprit->functions[i]);
        own += !culprit->functions[i].base;
    }
    if (own > 0)
        return;
    for (; i < culprit->function_count && own < MAX_FUNCTIONS; i++) {
        if (culprit->functions[i].base)
            continue;
        print_function(context, culprit, &culprit->functions[i]);
        own++;
    }
}

static void print_culprit(const struct argus_report_context *context,
                          const struct argus_culprit *culprit)
{
    char text[1536];
    diagnosis_culprit_text(context, culprit, text, sizeof(text));
    argus_sink_printf(context->sink, "  ");
    report_wrapped(context->sink, 4, text);
    print_functions(context, culprit);
    report_stack(context, culprit->vertex, culprit->stack, 4, MAX_FRAMES);
}

/* The stack of the frozen thread, if it is not among the culprits: where the developer of the
 * frozen program looks first. */
static void print_own_stack(const struct argus_report_context *context,
                            const struct argus_diagnosis *diagnosis)
{
    struct view view = view_of(context->graph);
    uint32_t vertex = diagnosis->hang.vertex;
    char thread[128], text[256];
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        if (diagnosis->culprits[i].vertex == vertex)
            return;
    if (diagnosis->culprit_count == 0 || diagnosis->hang.type != ARGUS_TYPE_LONG_WAIT ||
        view.vertices[vertex].wait.user_stack == ARGUS_NONE)
        return;
    report_thread(context, view.vertices[vertex].thread, thread, sizeof(thread));
    snprintf(text, sizeof(text), "%s, v%u, is frozen here:", thread, vertex);
    argus_sink_printf(context->sink, "  ");
    report_wrapped(context->sink, 4, text);
    report_stack(context, vertex, view.vertices[vertex].wait.user_stack, 4, MAX_FRAMES);
}

/* --- where the time went --- */

static void print_share(const struct argus_report_context *context,
                        const struct diagnosis_share *share, double part)
{
    char thread[128] = "nobody known", lasted[32], id[16] = "-";
    if (share->vertex != ARGUS_NONE) {
        report_thread(context, share->thread, thread, sizeof(thread));
        snprintf(id, sizeof(id), "v%u%s", share->vertex, share->several ? " …" : "");
    }
    argus_sink_printf(context->sink, "  %5.1f %%  %9s  %-10s %s: %s\n", part * 100,
                      argus_duration_text(share->ns, lasted, sizeof(lasted)), id, thread,
                      argus_stretch_state_name((enum argus_stretch_state)share->state));
}

static struct argus_error *print_accounting(const struct argus_report_context *context,
                                            const struct argus_diagnosis *diagnosis)
{
    uint64_t whole = diagnosis->hang.end_ns - diagnosis->hang.start_ns, rest = 0;
    struct diagnosis_share *shares;
    char lasted[32];
    size_t count;
    struct argus_error *error = diagnosis_shares(context, diagnosis, &shares, &count);
    if (error)
        return error;
    report_heading(context->sink, "Where the time went");
    for (size_t i = 0; i < count; i++) {
        double part = (double)shares[i].ns / (double)whole;
        if (part >= MIN_SHARE)
            print_share(context, &shares[i], part);
        else
            rest += shares[i].ns;
    }
    if (rest > 0)
        argus_sink_printf(context->sink, "  %5.1f %%  %9s  others\n",
                          (double)rest / (double)whole * 100,
                          argus_duration_text(rest, lasted, sizeof(lasted)));
    free(shares);
    return NULL;
}

static void print_uncertain(const struct argus_report_context *context,
                            const struct argus_diagnosis *diagnosis)
{
    if (diagnosis->uncertain_count > 0)
        report_heading(context->sink, "What is uncertain");
    for (size_t i = 0; i < diagnosis->uncertain_count; i++) {
        char text[REASON_TEXT_BYTES];
        reason_text(context, &diagnosis->uncertain[i], NULL, text, sizeof(text));
        argus_sink_printf(context->sink, "  - ");
        report_wrapped(context->sink, 4, text);
    }
}

static struct argus_error *print_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis)
{
    char summary[DIAGNOSIS_SUMMARY_BYTES];
    if (diagnosis_summary_text(context->graph, diagnosis, summary, sizeof(summary)))
        report_wrapped(context->sink, 0, summary);
    print_story(context, diagnosis);
    if (diagnosis->culprit_count > 0)
        report_heading(context->sink, "Where to look");
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        print_culprit(context, &diagnosis->culprits[i]);
    print_own_stack(context, diagnosis);
    struct argus_error *error = print_accounting(context, diagnosis);
    report_questions(context, diagnosis->asked, diagnosis->asked_count);
    if (!error)
        error = report_run_times(context);
    if (!error)
        error = report_limits(context->sink, argus_graph_trace(context->graph), ARGUS_GAP_DIAGNOSE,
                              limits_subjects_of_diagnosis(context->graph, diagnosis));
    struct programs_32_bit programs;
    programs_32_bit_of_diagnosis(&programs, context->graph, diagnosis);
    programs_32_bit_print(&programs, context->sink);
    programs_32_bit_deinit(&programs);
    print_uncertain(context, diagnosis);
    report_unnamed(context->sink, context->symbols);
    return error;
}

struct argus_error *argus_report_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis, bool json)
{
    return json ? json_write(context->sink, "argus-diagnose 1", json_diagnosis(context, diagnosis))
                : print_diagnosis(context, diagnosis);
}
