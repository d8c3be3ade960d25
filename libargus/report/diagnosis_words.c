#include "report/diagnosis_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/overlap.h"
#include "report/lines.h"
#include "report/phrases.h"
#include "report/reason_words.h"
#include "report/report_callbacks.h"
#include "slice/timeline.h"

static const struct argus_culprit *find_culprit(const struct argus_diagnosis *diagnosis,
                                                uint32_t vertex)
{
    for (size_t i = 0; i < diagnosis->culprit_count; i++)
        if (diagnosis->culprits[i].vertex == vertex)
            return &diagnosis->culprits[i];
    return NULL;
}

/* How a step of an origin set off the step before it. */
static const char *began(const struct view *view, uint32_t edge)
{
    if (edge == ARGUS_NONE)
        return "is where the same handler began";
    switch (view->edges[edge].kind) {
    case ARGUS_EDGE_TIMER:
        return "armed the timer that made it run";
    case ARGUS_EDGE_DISPATCH:
        return "queued the callback";
    case ARGUS_EDGE_FORK:
        return "created it";
    case ARGUS_EDGE_WORK:
        return "queued the work that it executed";
    case ARGUS_EDGE_BLOCK:
        return "issued the disk request that it waited for";
    case ARGUS_EDGE_SIGNAL:
        return "sent it a signal";
    case ARGUS_EDGE_SEQUENCE:
        return "is what the same thread did before";
    default:
        return "made it run";
    }
}

static void describe_spin(const struct argus_report_context *context, uint32_t vertex, char *buffer,
                          size_t bytes)
{
    char ran[32];
    const struct argus_vertex *vertices = view_of(context->graph).vertices, *v = &vertices[vertex];
    argus_duration_text(v->end_ns - v->start_ns, ran, sizeof(ran));
    if (v->yield_calls)
        snprintf(buffer, bytes, "polled a variable for %s, %" PRIu32 " times in a row: sched_yield",
                 ran, v->yield_calls);
    else
        snprintf(buffer, bytes, "polled a variable on a cpu for %s, without a wait", ran);
}

/* "waited 5.02 s in pieces of at most 1.00 s"; "waited, at the end for 1.00 s": other waits were
 * before it. */
static void describe_length(const struct view *view, const struct argus_diagnosis *diagnosis,
                            uint32_t vertex, char *buffer, size_t bytes)
{
    const struct argus_hang *hang = &diagnosis->hang;
    uint64_t half_ns = (hang->end_ns - hang->start_ns) / 2, longest_ns = 0;
    uint64_t wait_ns = argus_vertex_wait_ns(&view->vertices[vertex]);
    struct timeline_pieces pieces = timeline_pieces(view, vertex);
    char waited[32], longest[32];
    pieces.start_ns = pieces.start_ns > hang->start_ns ? pieces.start_ns : hang->start_ns;
    pieces.end_ns = pieces.end_ns < hang->end_ns ? pieces.end_ns : hang->end_ns;
    if (wait_ns < half_ns && pieces.count > 1 && pieces.end_ns >= pieces.start_ns + half_ns) {
        for (uint32_t v = pieces.first; v <= pieces.last; v++) {
            const struct argus_vertex *piece = &view->vertices[v];
            uint64_t ns =
                overlap_ns(piece->end_ns, piece->wait.end_ns, pieces.start_ns, pieces.end_ns);
            longest_ns = ns > longest_ns ? ns : longest_ns;
        }
        argus_duration_text(pieces.end_ns - pieces.start_ns, waited, sizeof(waited));
        argus_duration_text(longest_ns, longest, sizeof(longest));
        snprintf(buffer, bytes, "waited %s in pieces of at most %s", waited, longest);
        return;
    }
    argus_duration_text(wait_ns, waited, sizeof(waited));
    snprintf(buffer, bytes, wait_ns >= half_ns ? "waited %s" : "waited, at the end for %s", waited);
}

/* Describes a wait on the path. Most of it may consist of several waits in a row. */
static void describe_wait(const struct argus_report_context *context,
                          const struct argus_diagnosis *diagnosis, uint32_t vertex, char *buffer,
                          size_t bytes)
{
    struct view view = view_of(context->graph);
    char wait[512], waited[96], callers[300], tries[400];
    const char *looked =
        text_lock_tries(&view, view.vertices[vertex].thread, diagnosis->hang.start_ns,
                        diagnosis->hang.end_ns, tries, sizeof(tries));
    argus_wait_text(context->graph, vertex, wait, sizeof(wait));
    text_callers(&view, context->symbols, vertex, view.vertices[vertex].wait.user_stack, callers,
                 sizeof(callers));
    describe_length(&view, diagnosis, vertex, waited, sizeof(waited));
    if (looked)
        snprintf(buffer, bytes, "%s: %s%s", looked, wait, callers);
    else if (view.vertices[vertex].flags & ARGUS_VERTEX_YIELDS)
        snprintf(buffer, bytes, "polled for %s, %" PRIu32 " times in a row: %s%s",
                 text_polled_object(&view, vertex), view.vertices[vertex].repeat, wait, callers);
    else
        snprintf(buffer, bytes, "%s: %s%s", waited, wait, callers);
}

const char *diagnosis_step_text(const struct argus_report_context *context,
                                const struct argus_diagnosis *diagnosis, size_t at, char *buffer,
                                size_t bytes)
{
    struct view view = view_of(context->graph);
    const struct argus_path_step *step = &diagnosis->path[at];
    const struct argus_culprit *culprit = find_culprit(diagnosis, step->vertex);
    const char *event = report_ui_event(context->graph, step->vertex);
    char thread[128], wait[1400], why[REASON_TEXT_BYTES];
    const char *what = wait;
    report_thread(context, view.vertices[step->vertex].thread, thread, sizeof(thread));
    if (step->polled)
        describe_spin(context, step->vertex, wait, sizeof(wait));
    else
        describe_wait(context, diagnosis, step->vertex, wait, sizeof(wait));
    if (culprit)
        what = argus_culprit_why(context, culprit, why, sizeof(why));
    else if (diagnosis->origin_count > 0)
        what = began(&view, step->edge);
    snprintf(buffer, bytes, "%s (v%u)%s%s%s %s.", thread, step->vertex,
             event ? ", handling the UI event " : "", event ? event : "",
             step->expected ? ", which should have ended it,"
             : event        ? ","
                            : "",
             what);
    return buffer;
}

const char *diagnosis_culprit_text(const struct argus_report_context *context,
                                   const struct argus_culprit *culprit, char *buffer, size_t bytes)
{
    struct view view = view_of(context->graph);
    char thread[128], why[REASON_TEXT_BYTES];
    report_thread(context, view.vertices[culprit->vertex].thread, thread, sizeof(thread));
    snprintf(buffer, bytes, "%s, v%u, %s, %.0f %% of the hang: %s.", thread, culprit->vertex,
             argus_vertex_type_name((enum argus_vertex_type)culprit->type), culprit->share * 100,
             argus_culprit_why(context, culprit, why, sizeof(why)));
    return buffer;
}

const char *diagnosis_function_text(const struct argus_costly_function *function, char *buffer,
                                    size_t bytes)
{
    bool has_image = function->base && *function->image;
    const char *note = has_image ? function->image : function->inlined ? "inlined" : "";
    snprintf(buffer, bytes, "%s%s%s%s: in %u of %u samples, innermost in %u", function->name,
             *note ? " (" : "", note, *note ? ")" : "", function->inclusive, function->samples,
             function->self);
    return buffer;
}

/* --- where the time went --- */

static int compare_keys(const struct diagnosis_share *x, const struct diagnosis_share *y)
{
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (int)x->state - (int)y->state;
}

static int compare_in_thread(const void *a, const void *b)
{
    const struct diagnosis_share *x = a, *y = b;
    int order = compare_keys(x, y);
    if (order != 0)
        return order;
    return x->vertex < y->vertex ? -1 : x->vertex > y->vertex;
}

static int compare_shares(const void *a, const void *b)
{
    const struct diagnosis_share *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return compare_keys(x, y);
}

static void add_share(struct diagnosis_share *sum, const struct diagnosis_share *share)
{
    sum->ns += share->ns;
    sum->several |= share->vertex != sum->vertex;
    if (share->ns > sum->longest_ns) {
        sum->longest_ns = share->ns;
        sum->vertex = share->vertex;
    }
}

static struct diagnosis_share share_of(const struct view *view, const struct argus_stretch *stretch)
{
    uint64_t ns = stretch->end_ns - stretch->start_ns;
    return (struct diagnosis_share){.ns = ns,
                                    .longest_ns = ns,
                                    .thread = stretch->vertex == ARGUS_NONE
                                                  ? ARGUS_NONE
                                                  : view->vertices[stretch->vertex].thread,
                                    .vertex = stretch->vertex,
                                    .state = stretch->state};
}

static size_t merge(const struct view *view, const struct argus_account *account,
                    struct diagnosis_share *shares)
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

struct argus_error *diagnosis_shares(const struct argus_report_context *context,
                                     const struct argus_diagnosis *diagnosis,
                                     struct diagnosis_share **ret, size_t *ret_count)
{
    struct view view = view_of(context->graph);
    *ret = calloc(diagnosis->accounting.count + 1, sizeof(**ret));
    if (!*ret)
        return argus_error_memory();
    *ret_count = merge(&view, &diagnosis->accounting, *ret);
    return NULL;
}
