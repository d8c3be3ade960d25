/* The words of questions, of their options, and of the reasons for the defaults. The answers kept
 * next to a trace are found by these texts, so a question whose text has changed is asked again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/report.h"
#include "slice/timeline.h"

struct sentence {
    const char *before, *after; /* around the vertex; `after` NULL: there is none */
};

static const struct {
    const char *name;
    struct sentence text;
} kinds[] = {
    [ARGUS_QUESTION_HANG] = {"hang", {"Which hang is to be explained?", NULL}},
    [ARGUS_QUESTION_PREDECESSOR] = {"predecessor",
                                    {"", " has several causes: which one to follow?"}},
    [ARGUS_QUESTION_WEAK] =
        {"weak",
         {"", " was made to run by something that may or may not be its cause: follow it?"}},
    [ARGUS_QUESTION_BASELINE] = {"baseline", {"Which of these is what ", " normally looks like?"}},
};

static const struct sentence baseline_again = {
    "No thread did anything unusual on that path. Which of these is normal for ", ", too?"};

static const char *const default_reasons[] = {
    [ARGUS_DEFAULT_ONLY] = "nothing else is known",
    [ARGUS_DEFAULT_LATEST] = "it is the latest",
    [ARGUS_DEFAULT_LATEST_STRONG] = "it is the latest of those that are strong",
    [ARGUS_DEFAULT_SURER_CAUSES] = "its own causes are surer than those of the others",
    [ARGUS_DEFAULT_ENDED_WAIT] = "it ended the wait before this vertex",
    [ARGUS_DEFAULT_MOST_SIMILAR] = "it is the most similar one",
    [ARGUS_DEFAULT_LONGEST] = "the longest",
};

const char *argus_question_kind_name(enum argus_question_kind kind)
{
    return kinds[kind].name;
}

const char *argus_question_text(const struct argus_question *question, char *buffer, size_t bytes)
{
    struct sentence text = question->again ? baseline_again : kinds[question->kind].text;
    if (text.after)
        snprintf(buffer, bytes, "%sv%u%s", text.before, question->vertex, text.after);
    else
        snprintf(buffer, bytes, "%s", text.before);
    return buffer;
}

const char *argus_default_reason_text(const struct argus_question *question, char *buffer,
                                      size_t bytes)
{
    const struct argus_option *option = &question->options[question->default_option];
    if (question->default_reason == ARGUS_DEFAULT_SHARED_FUNCTION)
        snprintf(buffer, bytes, "both have %s in their stacks, and %" PRIu32 " vertices in all",
                 option->cause.function, option->cause.function_vertices);
    else
        snprintf(buffer, bytes, "%s", default_reasons[question->default_reason]);
    return buffer;
}

/* --- options --- */

static void describe_cause(const struct view *view, const struct argus_option *option, char *buffer,
                           size_t bytes)
{
    const struct argus_edge *edge = &view->edges[option->cause.edge];
    const struct argus_process *process = timeline_process(view, edge->from);
    const struct argus_thread *thread = &view->threads[view->vertices[edge->from].thread];
    const struct argus_rule *rules;
    size_t rule_count = argus_graph_rules(view->graph, &rules);
    bool shares = option->cause.function[0];
    char worked[96] = "";
    if (option->cause.waited_ns)
        snprintf(worked, sizeof(worked), "; at work for %.2f ms of the wait of %.2f ms",
                 (double)option->cause.worked_ns / 1e6, (double)option->cause.waited_ns / 1e6);
    snprintf(buffer, bytes, "v%u of %s [%" PRIu64 "], thread %s: %s, %s (%s)%s%s%s", edge->from,
             process->name, process->pid, thread->name, argus_edge_name(edge),
             edge->strong ? "strong" : "weak",
             edge->rule < rule_count ? rules[edge->rule].name : "no rule",
             shares ? ", both in " : "", option->cause.function, worked);
}

static void describe_baseline(const struct view *view, const struct argus_option *option,
                              char *buffer, size_t bytes)
{
    char likeness[ARGUS_LIKENESS_TEXT_BYTES];
    snprintf(buffer, bytes, "v%u, whose wait %s ended (%s)", option->vertex,
             view->processes[option->baseline.process].name,
             argus_likeness_text(&option->baseline.likeness, likeness, sizeof(likeness)));
}

static void describe_hang(const struct view *view, const struct argus_option *option, char *buffer,
                          size_t bytes)
{
    const struct argus_thread *thread = &view->threads[option->hang.thread];
    const struct argus_process *process = &view->processes[thread->process];
    char time[64], lasted[64];
    snprintf(
        buffer, bytes, "%s (pid %" PRIu64 "), thread %s (%" PRIu64 "): %s from %s, %s",
        process->name, process->pid, thread->name, thread->tid,
        argus_duration_text(option->hang.end_ns - option->hang.start_ns, lasted, sizeof(lasted)),
        argus_time_text(argus_graph_trace(view->graph), option->hang.start_ns, time, sizeof(time)),
        argus_vertex_type_name(option->hang.type));
}

static void describe_stop(const struct view *view, const struct argus_option *option, char *buffer,
                          size_t bytes)
{
    (void)view;
    snprintf(buffer, bytes, "%s",
             option->kind == ARGUS_OPTION_STOP ? "stop here" : "none of these");
}

const char *argus_option_text(const struct argus_graph *graph, const struct argus_option *option,
                              char *buffer, size_t bytes)
{
    static void (*const describe[])(const struct view *view, const struct argus_option *option,
                                    char *buffer, size_t bytes) = {
        [ARGUS_OPTION_STOP] = describe_stop,         [ARGUS_OPTION_NONE] = describe_stop,
        [ARGUS_OPTION_CAUSE] = describe_cause,       [ARGUS_OPTION_HANG] = describe_hang,
        [ARGUS_OPTION_BASELINE] = describe_baseline,
    };
    struct view view = view_of(graph);
    describe[option->kind](&view, option, buffer, bytes);
    return buffer;
}

const char *argus_likeness_text(const struct argus_likeness *likeness, char *buffer, size_t bytes)
{
    char context[48] = "";
    if (likeness->depth)
        snprintf(context, sizeof(context), "; the %" PRIu32 " before it %.0f %%", likeness->depth,
                 likeness->context * 100);
    snprintf(buffer, bytes,
             "stack %.0f %%, what it did before %.0f %%, peers %.0f %%, object %.0f %% alike; %s; "
             "wait %s%s",
             likeness->stack * 100, likeness->before * 100, likeness->peers * 100,
             likeness->object * 100,
             !likeness->same_thread ? "another thread"
             : likeness->one_graph  ? "same thread"
                                    : "thread of the same name",
             argus_outcome_name(likeness->outcome), context);
    return buffer;
}
