/* A watched variable that no thread wrote during the loop. The thread that set it the last time
 * should have set it again; or, if that thread has ended, the thread with its name that was started
 * for this request, or now has its work.
 *
 * What that thread did instead is told if it explains the loop (setter_attempt.h): it took the
 * request and forgot the variable, it was busy, or it waited for another thread. Otherwise the loop
 * is blamed, with the place of the last write.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/flag_records.h"
#include "diagnose/suspects/setter_attempt.h"
#include "diagnose/words.h"

#define MAX_LOOK_BACK 100000 /* vertices, for the last time that the flag was set */

/* The last write of the variable before the loop. */
struct former {
    struct flag_access_at access;
    uint32_t thread;
    bool is_turn; /* the loop's thread had handed it over: turned_flag.c */
    const char *name;
    char last[640]; /* "; did_decode was last set 1.2 s before, in decode_done (decoder.c:88)" */
};

/* A flag of which accesses are recorded, but none of this loop, is not the one that it waits for.
 * Reads of flags with other semantics are not recorded, nor is where a debugger's were. */
static bool is_of_loop(const struct view *view, const struct argus_edge *edge, uint32_t vertex,
                       struct window part)
{
    uint64_t address;
    const struct argus_flag_entry *flag = argus_graph_edge_flag(view->graph, edge, &address);
    bool has_reads = !flag || flag->semantics == ARGUS_FLAG_VALUE;
    return !has_reads || !address || !flag_is_of_other_loop(view, vertex, part, address);
}

uint32_t find_former_write(const struct view *view, uint32_t vertex, struct window part)
{
    for (uint32_t i = 0, v = vertex; i < MAX_LOOK_BACK && v != ARGUS_NONE; i++) {
        const struct argus_edge *in;
        for (size_t j = argus_graph_in_edges(view->graph, v, &in); j > 0; j--)
            if (in[j - 1].kind == ARGUS_EDGE_FLAG)
                return is_of_loop(view, &in[j - 1], vertex, part)
                           ? (uint32_t)(&in[j - 1] - view->edges)
                           : ARGUS_NONE;
        v = argus_graph_previous(view->graph, v);
    }
    return ARGUS_NONE;
}

/* If the thread of the loop `vertex` handed the flag over, the writer is at the edge's end. */
static struct former former_of(const struct view *view, uint32_t vertex, uint32_t edge)
{
    const struct argus_edge *write = &view->edges[edge];
    bool is_turn = view->vertices[write->from].thread == view->vertices[vertex].thread;
    struct former former = {.is_turn = is_turn, .name = "the data flag"};
    const struct argus_flag_entry *flag =
        argus_graph_edge_flag(view->graph, write, &former.access.address);
    former.access.vertex = former.is_turn ? write->to : write->from;
    former.access.time_ns = former.is_turn ? write->to_ns : write->from_ns;
    former.thread = view->vertices[former.access.vertex].thread;
    if (view->threads[former.thread].process !=
        view->threads[view->vertices[write->to].thread].process)
        former.access.address =
            argus_graph_flag_address(view->graph, former.access.time_ns, former.thread);
    if (flag)
        former.name = flag->label;
    return former;
}

static struct argus_error *describe_former(struct diagnoser *d, uint32_t vertex, uint32_t edge,
                                           struct window part, struct former *ret)
{
    char *place, before[32];
    *ret = former_of(&d->view, vertex, edge);
    struct argus_error *error = flag_record_place(d, &ret->access, &place);
    if (error)
        return error;
    uint64_t time_ns = ret->access.time_ns;
    uint64_t ago_ns = part.start_ns > time_ns ? part.start_ns - time_ns : 0;
    snprintf(ret->last, sizeof(ret->last), "; it was last %s %s before the loop%s%s",
             ret->is_turn ? "changed" : "set", text_duration(ago_ns, before, sizeof(before)),
             place ? ", in " : "", place ? place : "");
    free(place);
    return NULL;
}

static struct argus_error *note_guess(struct diagnoser *d, const struct setter_attempt *attempt)
{
    const struct former *former = attempt->context;
    char who[128], whom[128];
    text_thread(&d->view, attempt->setter, who, sizeof(who));
    text_thread(&d->view, d->view.vertices[attempt->vertex].thread, whom, sizeof(whom));
    return diagnoser_add_uncertain(
        d, text_print("that %s should have %s %s for which %s polled is a guess: %s did so the "
                      "last time, in v%u",
                      who, former->is_turn ? "changed" : "set", former->name, whom,
                      attempt->setter == former->thread ? "it" : "a thread of that name",
                      former->access.vertex));
}

/* --- a thread that has ended --- */

static bool has_role(const struct view *view, uint32_t thread, uint32_t former)
{
    const struct argus_thread *a = &view->threads[thread], *b = &view->threads[former];
    return a->process == b->process && a->vertex_count > 0 && strcmp(a->name, b->name) == 0;
}

/* Of its first record, even if the trace does not show how it was started. */
static uint64_t first_seen_ns(const struct view *view, uint32_t thread)
{
    return view->vertices[view->threads[thread].first_vertex].start_ns;
}

/* The thread that has the work of `former`, which had ended before the end of the loop: the latest
 * one of its name that was started since the last write. ARGUS_NONE: none. */
static uint32_t find_successor(const struct view *view, const struct former *former,
                               struct window part)
{
    uint32_t found = ARGUS_NONE;
    uint64_t latest_ns = former->access.time_ns;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        if (i == former->thread || !has_role(view, i, former->thread))
            continue;
        uint64_t seen_ns = first_seen_ns(view, i);
        if (seen_ns <= latest_ns || seen_ns >= part.end_ns)
            continue;
        latest_ns = seen_ns;
        found = i;
    }
    return found;
}

static struct argus_error *blame_ended(struct diagnoser *d, struct setter_attempt *attempt)
{
    const struct argus_thread *thread = &d->view.threads[attempt->setter];
    uint32_t vertex = thread->first_vertex + thread->vertex_count - 1;
    char whose[128], lived[32];
    struct argus_error *error = attempt->note(d, attempt);
    if (error)
        return error;
    if (!diagnoser_add_step(d, vertex, ARGUS_NONE, true))
        return argus_error_memory();
    d->guessed = true;
    text_thread(&d->view, d->view.vertices[attempt->vertex].thread, whose, sizeof(whose));
    size_t before = d->culprits.length;
    error = diagnoser_add_culprit(
        d, vertex, ARGUS_TYPE_LONG_WAIT, attempt->part, window_ns(attempt->part),
        text_print("was started for %s and ended after %s without %s %s%s", whose,
                   text_duration(thread->end_ns - first_seen_ns(&d->view, attempt->setter), lived,
                                 sizeof(lived)),
                   attempt->doing, attempt->name, attempt->last));
    attempt->is_taken = !error && d->culprits.length > before;
    if (attempt->is_taken)
        d->culprits.data[before].silent = true;
    return error;
}

/* --- all of it --- */

char *text_former_write(struct diagnoser *d, uint32_t vertex, uint32_t edge, struct window part)
{
    struct former former;
    char who[128];
    struct argus_error *error = describe_former(d, vertex, edge, part, &former);
    argus_error_destroy(error); /* without the place */
    text_thread(&d->view, former.thread, who, sizeof(who));
    bool has_ended = d->view.threads[former.thread].end_ns <= part.start_ns;
    return text_print(
        "it waits for %s, which no thread set meanwhile%s, by %s, %s", former.name, former.last,
        who, has_ended ? "which had ended before the loop" : "which did nothing unusual meanwhile");
}

struct argus_error *diagnoser_explain_no_write(struct diagnoser *d, uint32_t vertex,
                                               struct window part, uint32_t write)
{
    struct former former;
    struct argus_error *error = describe_former(d, vertex, write, part, &former);
    if (error)
        return error;
    bool has_ended = d->view.threads[former.thread].end_ns < part.end_ns;
    uint32_t successor = has_ended ? find_successor(&d->view, &former, part) : ARGUS_NONE;
    struct setter_attempt attempt = {
        .vertex = vertex,
        .setter = successor != ARGUS_NONE ? successor : former.thread,
        .part = part,
        .name = former.name,
        .last = former.last,
        .doing = former.is_turn ? "changing" : "setting",
        .why = "it set the variable the last time",
        .is_recorded = true,
        .note = note_guess,
        .context = &former,
    };
    const struct argus_thread *setter = &d->view.threads[attempt.setter];
    bool is_gone = setter->end_ns <= part.start_ns && attempt.setter != successor;
    if (diagnoser_find_step(d, attempt.setter) >= 0 || is_gone)
        return diagnoser_blame_yielding(d, vertex, part);
    bool ended_early = setter->end_ns < part.start_ns + window_ns(part) / 2;
    error = ended_early && attempt.setter == successor ? blame_ended(d, &attempt)
                                                       : setter_attempt_run(d, &attempt);
    return error || attempt.is_taken ? error : diagnoser_blame_yielding(d, vertex, part);
}
