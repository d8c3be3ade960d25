/* A diagnosis for people: the sentence, the story, where to look, where the time went, what was chosen, what is uncertain. */
#include "report/report_diagnosis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/lines.h"
#include "report/report_callbacks.h"
#include "slice/timeline.h"

#define MAX_FUNCTIONS 3
#define MAX_FRAMES    8
#define MIN_SHARE     0.01
#define MAX_STEPS     12 /* of a long story; the JSON has all */

static const struct argus_culprit *find_culprit(const struct argus_diagnosis *diagnosis,
                                                uint32_t vertex)
{
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        if (diagnosis->culprits[i].vertex == vertex)
            return &diagnosis->culprits[i];
    return NULL;
}

/* How a step of an origin made the step before it run. */
static const char *began(const struct view *view, uint32_t edge)
{
    if (edge == ARGUS_NONE)
        return "is where the same handler began";
    switch (view->edges[edge].kind) {
    case ARGUS_EDGE_TIMER:
        return "armed the timer that made it run";
    case ARGUS_EDGE_DISPATCH:
        return "had the callback run";
    case ARGUS_EDGE_FORK:
        return "created it";
    case ARGUS_EDGE_WORK:
        return "queued the work that it did";
    case ARGUS_EDGE_BLOCK:
        return "asked the disk that it waited for";
    case ARGUS_EDGE_SIGNAL:
        return "sent it a signal";
    case ARGUS_EDGE_SEQUENCE:
        return "is what the same thread did before";
    default:
        return "made it run";
    }
}

/* A wait on the path; what made most of it may be several waits in a row. */
static void describe_wait(const struct argus_report_context *context,
                          const struct argus_diagnosis *diagnosis, uint32_t vertex, char *buffer,
                          size_t bytes)
{
    struct view view = view_of(context->graph);
    uint64_t wait_ns = argus_vertex_wait_ns(&view.vertices[vertex]);
    bool most = wait_ns >= (diagnosis->hang.end_ns - diagnosis->hang.start_ns) / 2;
    char wait[160], waited[32];
    argus_wait_text(context->graph, vertex, wait, sizeof(wait));
    argus_duration_text(wait_ns, waited, sizeof(waited));
    if (view.vertices[vertex].flags & ARGUS_VERTEX_YIELDS)
        snprintf(buffer, bytes, "looked for a data flag, %" PRIu32 " times in a row: %s",
                 view.vertices[vertex].repeat, wait);
    else
        snprintf(buffer, bytes, most ? "waited %s: %s" : "waited, at the end for %s: %s", waited,
                 wait);
}

/* What a vertex on the path did in the hang: the culprits' own words, or its wait. */
static void print_step(const struct argus_report_context *context,
                       const struct argus_diagnosis *diagnosis, size_t at)
{
    struct view view = view_of(context->graph);
    const struct argus_path_step *step = &diagnosis->path[at];
    const struct argus_culprit *culprit = find_culprit(diagnosis, step->vertex);
    const char *event = report_ui_event(context->graph, step->vertex);
    char thread[128], wait[256], text[512];
    const char *what = wait;
    report_thread(context, view.vertices[step->vertex].thread, thread, sizeof(thread));
    describe_wait(context, diagnosis, step->vertex, wait, sizeof(wait));
    if (culprit)
        what = culprit->why;
    else if (diagnosis->origin_count > 0)
        what = began(&view, step->edge);
    snprintf(text, sizeof(text), "%s (v%u)%s%s%s %s.", thread, step->vertex,
             event ? ", handling the UI event " : "", event ? event : "",
             step->expected ? ", which should have ended it,"
             : event        ? ","
                            : "",
             what);
    argus_sink_printf(context->sink, "  %zu. ", at + 1);
    report_wrapped(context->sink, 5, text);
}

static void print_story(const struct argus_report_context *context,
                        const struct argus_diagnosis *diagnosis)
{
    report_heading(context->sink, "What happened");
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

static void print_function(const struct argus_sink *sink,
                           const struct argus_costly_function *function)
{
    argus_sink_printf(sink, "    %s%s%s%s: in %u of %u samples, innermost in %u\n", function->name,
                      function->base && *function->image ? " (" : "",
                      function->base ? function->image : "",
                      function->base && *function->image ? ")" : "", function->inclusive,
                      function->samples, function->self);
}

/* The costliest; where these all belong to libraries that every program has, the program's own costliest too. */
static void print_functions(const struct argus_sink *sink, const struct argus_culprit *culprit)
{
    size_t i = 0, own = 0;
    for (; i < culprit->function_count && i < MAX_FUNCTIONS; i++) {
        print_function(sink, &culprit->functions[i]);
        own += !culprit->functions[i].base;
    }
    if (own > 0)
        return;
    for (; i < culprit->function_count && own < MAX_FUNCTIONS; i++) {
        if (culprit->functions[i].base)
            continue;
        print_function(sink, &culprit->functions[i]);
        own++;
    }
}

static void print_culprit(const struct argus_report_context *context,
                          const struct argus_culprit *culprit)
{
    struct view view = view_of(context->graph);
    char thread[128], text[512];
    report_thread(context, view.vertices[culprit->vertex].thread, thread, sizeof(thread));
    snprintf(text, sizeof(text), "%s, v%u, %s, %.0f %% of the hang: %s.", thread, culprit->vertex,
             argus_vertex_type_name((enum argus_vertex_type)culprit->type), culprit->share * 100,
             culprit->why);
    argus_sink_printf(context->sink, "  ");
    report_wrapped(context->sink, 4, text);
    print_functions(context->sink, culprit);
    report_stack(context, culprit->vertex, culprit->stack, 4, MAX_FRAMES);
}

/* --- where the time went --- */

struct share {
    uint64_t ns, longest_ns;
    uint32_t thread, vertex; /* the vertex that has the most of it */
    uint8_t state;
    bool several; /* vertices */
};

static int compare_keys(const struct share *x, const struct share *y)
{
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (int)x->state - (int)y->state;
}

static int compare_in_thread(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    int order = compare_keys(x, y);
    if (order != 0)
        return order;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static int compare_shares(const void *a, const void *b)
{
    const struct share *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return compare_keys(x, y);
}

static void add_share(struct share *sum, const struct share *share)
{
    sum->ns += share->ns;
    sum->several |= share->vertex != sum->vertex;
    if (share->ns > sum->longest_ns) {
        sum->longest_ns = share->ns;
        sum->vertex = share->vertex;
    }
}

static struct share share_of(const struct view *view, const struct argus_stretch *stretch)
{
    uint64_t ns = stretch->end_ns - stretch->start_ns;
    return (struct share){.ns = ns,
                          .longest_ns = ns,
                          .thread = stretch->vertex == ARGUS_NONE
                                        ? ARGUS_NONE
                                        : view->vertices[stretch->vertex].thread,
                          .vertex = stretch->vertex,
                          .state = stretch->state};
}

/* One share for each thread and state, the largest first; the count. */
static size_t merge_shares(const struct view *view, const struct argus_account *account,
                           struct share *shares)
{
    size_t kept = 0;
    for (size_t i = 0; i < account->count; i++)
        shares[i] = share_of(view, &account->stretches[i]);
    if (account->count > 0)
        qsort(shares, account->count, sizeof(*shares), compare_in_thread);
    for (size_t i = 0; i < account->count; i++) {
        if (kept > 0 && compare_keys(&shares[kept - 1], &shares[i]) == 0)
            add_share(&shares[kept - 1], &shares[i]);
        else
            shares[kept++] = shares[i];
    }
    if (kept > 0)
        qsort(shares, kept, sizeof(*shares), compare_shares);
    return kept;
}

static void print_share(const struct argus_report_context *context, const struct share *share,
                        double part)
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
    struct share *shares = calloc(diagnosis->accounting.count + 1, sizeof(*shares));
    char lasted[32];
    if (!shares)
        return argus_error_memory();
    struct view view = view_of(context->graph);
    size_t count = merge_shares(&view, &diagnosis->accounting, shares);
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
        argus_sink_printf(context->sink, "  - ");
        report_wrapped(context->sink, 4, diagnosis->uncertain[i]);
    }
}

static struct argus_error *print_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis)
{
    if (diagnosis->summary)
        report_wrapped(context->sink, 0, diagnosis->summary);
    print_story(context, diagnosis);
    if (diagnosis->culprit_count > 0)
        report_heading(context->sink, "Where to look");
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        print_culprit(context, &diagnosis->culprits[i]);
    struct argus_error *error = print_accounting(context, diagnosis);
    report_questions(context->sink, diagnosis->asked, diagnosis->asked_count);
    print_uncertain(context, diagnosis);
    return error;
}

struct argus_error *argus_report_diagnosis(const struct argus_report_context *context,
                                           const struct argus_diagnosis *diagnosis, bool json)
{
    return json ? json_write(context->sink, json_diagnosis(context, diagnosis))
                : print_diagnosis(context, diagnosis);
}
