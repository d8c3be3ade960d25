/* A watched variable that no thread wrote during the loop. The thread that set it the last time
 * should have set it again; or, if that thread has ended, the thread with its name that was started
 * for this request, or now has its work; or, if several threads set it, the only one of them that
 * took the request and did not.
 *
 * What is stored during the loop and does not end it (the byte of a bit, a counter) shows that the
 * storing thread did its part, if the same code did so before the loop.
 *
 * What that thread did instead is told if it explains the loop (setter_attempt.h): it took the
 * request and forgot the variable, it was busy, or it waited for another thread. Otherwise the loop
 * is blamed, with the place of the last write.
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/suspects/flag_records.h"
#include "diagnose/suspects/request_made.h"
#include "diagnose/suspects/setter_attempt.h"
#include "diagnose/suspects/watched_flag.h"

#define MAX_LOOK_BACK 100000 /* vertices, for the last time that the flag was set */

/* The last write of the variable before the loop. */
struct former {
    struct flag_access_at access;
    uint32_t thread;
    uint64_t code; /* that wrote it; 0: not known */
    char *name;    /* borrowed; NULL: not known */
    struct argus_reason_write
        write; /* is_turn: the loop's thread had handed it over: turned_flag.c */
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

/* The latest write of the awaited variable that began before `before_ns`, of those that the loop's
 * thread saw until `vertex`. */
static uint32_t last_write(const struct view *view, uint32_t vertex,
                           const struct watched_flag *awaited, uint64_t before_ns)
{
    for (uint32_t i = 0, v = vertex; i < MAX_LOOK_BACK && v != ARGUS_NONE; i++) {
        const struct argus_edge *in;
        for (size_t j = argus_graph_in_edges(view->graph, v, &in); j > 0; j--)
            if (in[j - 1].from_ns < before_ns && watched_flag_has(awaited, view, &in[j - 1]))
                return (uint32_t)(&in[j - 1] - view->edges);
        v = argus_graph_previous(view->graph, v);
    }
    return ARGUS_NONE;
}

/* The latest one during the loop, which did not end it. */
static uint32_t last_write_within(const struct view *view, uint32_t vertex, struct window part,
                                  const struct watched_flag *awaited)
{
    uint32_t last = timeline_before(view, view->vertices[vertex].thread, part.end_ns);
    uint32_t found = last_write(view, last, awaited, UINT64_MAX);
    return found != ARGUS_NONE && view->edges[found].from_ns >= part.start_ns ? found : ARGUS_NONE;
}

uint32_t find_former_write(const struct view *view, uint32_t vertex, struct window part,
                           const struct watched_flag *awaited)
{
    if (awaited->is_read && awaited->read_at == ARGUS_NONE)
        return ARGUS_NONE;
    uint32_t found = last_write(view, vertex, awaited, part.start_ns);
    if (found == ARGUS_NONE)
        found = last_write_within(view, vertex, part, awaited);
    bool is_its_own = found != ARGUS_NONE && is_of_loop(view, &view->edges[found], vertex, part);
    return is_its_own ? found : ARGUS_NONE;
}

/* If the thread of the loop `vertex` handed the flag over, the writer is at the edge's end. */
static struct former former_of(const struct view *view, uint32_t vertex, uint32_t edge)
{
    const struct argus_edge *write = &view->edges[edge];
    bool is_turn = view->vertices[write->from].thread == view->vertices[vertex].thread;
    struct former former = {.write = {.is_known = true, .is_turn = is_turn}};
    const struct argus_flag_entry *flag =
        argus_graph_edge_flag(view->graph, write, &former.access.address);
    former.access.vertex = is_turn ? write->to : write->from;
    former.access.time_ns = is_turn ? write->to_ns : write->from_ns;
    former.thread = view->vertices[former.access.vertex].thread;
    if (view->threads[former.thread].process !=
        view->threads[view->vertices[write->to].thread].process)
        former.access.address =
            argus_graph_flag_address(view->graph, former.access.time_ns, former.thread);
    if (flag)
        former.name = (char *)flag->label;
    return former;
}

/* The caller must free ret->write.place. */
static struct argus_error *describe_former(struct diagnoser *d, uint32_t vertex, uint32_t edge,
                                           struct window part, struct former *ret)
{
    *ret = former_of(&d->view, vertex, edge);
    uint64_t time_ns = ret->access.time_ns;
    ret->write.is_within = time_ns >= part.start_ns;
    ret->write.ago_ns = ret->write.is_within ? time_ns - part.start_ns : part.start_ns - time_ns;
    struct argus_error *error = flag_record_code(d, &ret->access, &ret->code);
    return error ? error : flag_record_place(d, &ret->access, &ret->write.place);
}

static struct argus_error *note_guess(struct diagnoser *d, const struct setter_attempt *attempt)
{
    const struct former *former = attempt->context;
    struct argus_reason guess = {.kind = attempt->setter == former->thread
                                             ? ARGUS_REASON_GUESS_SETTER
                                             : ARGUS_REASON_GUESS_SUCCESSOR,
                                 .vertex = former->access.vertex,
                                 .thread = attempt->setter,
                                 .waiter = d->view.vertices[attempt->vertex].thread,
                                 .name = former->name,
                                 .write = former->write};
    return diagnoser_add_uncertain(d, &guess);
}

/* --- a thread that has ended --- */

static bool has_role(const struct view *view, uint32_t thread, uint32_t former)
{
    const struct argus_thread *a = &view->threads[thread], *b = &view->threads[former];
    return a->process == b->process && a->vertex_count > 0 && strcmp(a->name, b->name) == 0;
}

/* The time of the thread's first record, also if the trace does not show how it was started. */
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
    struct argus_reason why = {.kind = ARGUS_REASON_ENDED,
                               .waiter = d->view.vertices[attempt->vertex].thread,
                               .ns = thread->end_ns - first_seen_ns(&d->view, attempt->setter),
                               .name = attempt->name,
                               .write = attempt->write};
    struct argus_error *error = attempt->note(d, attempt);
    if (error)
        return error;
    if (!diagnoser_add_step(d, vertex, ARGUS_NONE, true))
        return argus_error_memory();
    d->guessed = true;
    size_t before = d->culprits.length;
    error = diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_WAIT, attempt->part,
                                  window_ns(attempt->part), &why);
    attempt->is_taken = !error && d->culprits.length > before;
    if (attempt->is_taken)
        d->culprits.data[before].silent = true;
    return error;
}

/* --- all of it --- */

/* Replaces a write before the loop by a later one of the same code, which did not end the loop. */
static struct argus_error *take_later(struct diagnoser *d, uint32_t vertex, struct window part,
                                      const struct watched_flag *awaited, struct former *former)
{
    struct former later;
    uint32_t edge = former->write.is_within || former->write.is_turn
                        ? ARGUS_NONE
                        : last_write_within(&d->view, vertex, part, awaited);
    if (edge == ARGUS_NONE)
        return NULL;
    struct argus_error *error = describe_former(d, vertex, edge, part, &later);
    bool is_same = !error && later.code == former->code;
    free(is_same ? former->write.place : later.write.place);
    if (is_same)
        *former = later;
    return error;
}

struct argus_error *former_write_tell(struct diagnoser *d, uint32_t vertex, uint32_t edge,
                                      struct window part, const struct watched_flag *awaited,
                                      struct argus_reason *ret)
{
    struct former former;
    struct argus_error *error = describe_former(d, vertex, edge, part, &former);
    if (!error)
        error = take_later(d, vertex, part, awaited, &former);
    former.write.is_known &= !error; /* else the answer has no place */
    argus_error_destroy(error);
    bool has_ended = d->view.threads[former.thread].end_ns <= part.start_ns;
    ret->because = former.write.is_within ? ARGUS_REASON_FLAG_NOT_ENOUGH
                   : has_ended            ? ARGUS_REASON_FLAG_SETTER_ENDED
                                          : ARGUS_REASON_FLAG_SETTER_USUAL;
    ret->thread = former.thread;
    ret->write = former.write;
    ret->name = former.name ? strdup(former.name) : NULL;
    return former.name && !ret->name ? argus_error_memory() : NULL;
}

/* --- what the possible setters did --- */

/* When the loop's thread sent `thread` a request, not long before the loop or in it; 0: it did not.
 */
static uint64_t request_ns(const struct view *view, uint32_t vertex, uint32_t thread,
                           struct window part)
{
    uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.start_ns + 1);
    for (int i = 0; i < NEAR_VERTICES && v != ARGUS_NONE; i++) {
        uint32_t taker = request_find_taker(view, v, thread, part.end_ns);
        if (taker != ARGUS_NONE)
            return view->vertices[taker].start_ns;
        v = argus_graph_previous(view->graph, v);
    }
    return 0;
}

/* From the first vertex of `thread` in `part` that writes the variable to the last one; empty: none
 * does. */
static struct window writes_of(const struct view *view, uint32_t thread, uint64_t address,
                               struct window part)
{
    struct window found = {part.end_ns, part.start_ns};
    for (uint32_t v = timeline_before(view, thread, part.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v)) {
        uint64_t start_ns = view->vertices[v].start_ns, end_ns = view->vertices[v].end_ns + 1;
        if (end_ns <= part.start_ns || !vertex_writes_flag(view, v, address))
            continue;
        start_ns = start_ns > part.start_ns ? start_ns : part.start_ns;
        found.start_ns = start_ns < found.start_ns ? start_ns : found.start_ns;
        found.end_ns = end_ns < part.end_ns ? end_ns : part.end_ns;
    }
    return found;
}

/* Whether `thread` wrote the variable since the request, by the code that did so the last time.
 * Reads the records of that time once, however often it did. */
static struct argus_error *has_stored(struct diagnoser *d, uint32_t vertex,
                                      const struct former *former, uint32_t thread,
                                      struct window part, bool *ret)
{
    const struct flag_access_at *access = &former->access;
    uint64_t asked_ns = request_ns(&d->view, vertex, thread, part);
    uint64_t since_ns = asked_ns && asked_ns < part.start_ns ? asked_ns : part.start_ns;
    struct window near =
        writes_of(&d->view, thread, access->address, (struct window){since_ns, part.end_ns});
    *ret = false;
    return window_ns(near)
               ? flag_records_has_write(d, thread, access->address, former->code, near, ret)
               : NULL;
}

static bool has_ever_written(const struct view *view, uint32_t thread, uint64_t address,
                             uint64_t until_ns)
{
    const struct argus_thread *t = &view->threads[thread];
    for (uint32_t k = 0; k < t->vertex_count; k++) {
        uint32_t v = t->first_vertex + k;
        if (view->vertices[v].start_ns >= until_ns)
            break;
        if (vertex_writes_flag(view, v, address))
            return true;
    }
    return false;
}

/* The only thread, besides `former->thread`, that writes the variable otherwise, and took the
 * request of this loop and did not write it. ARGUS_NONE: none, or several. */
static struct argus_error *find_forgetful(struct diagnoser *d, uint32_t vertex, struct window part,
                                          const struct former *former, uint32_t *ret)
{
    const struct view *view = &d->view;
    uint32_t process = view->threads[former->thread].process;
    struct argus_error *error = NULL;
    *ret = ARGUS_NONE;
    for (uint32_t i = 0; !error && i < view->thread_count; i++) {
        bool has_stored_it = true;
        if (view->threads[i].process != process || i == former->thread ||
            i == view->vertices[vertex].thread || diagnoser_find_step(d, i) >= 0 ||
            !has_ever_written(view, i, former->access.address, part.end_ns) ||
            !request_ns(view, vertex, i, part))
            continue;
        error = has_stored(d, vertex, former, i, part, &has_stored_it);
        if (error || has_stored_it)
            continue;
        if (*ret != ARGUS_NONE) {
            *ret = ARGUS_NONE;
            return NULL;
        }
        *ret = i;
    }
    return error;
}

/* `attempt->setter` is not on the path. */
static struct argus_error *try_setter(struct diagnoser *d, struct setter_attempt *attempt,
                                      bool is_successor)
{
    const struct former *former = attempt->context;
    const struct argus_thread *setter = &d->view.threads[attempt->setter];
    struct window part = attempt->part;
    bool has_ended_early = setter->end_ns < part.start_ns + window_ns(part) / 2;
    bool has_stored_it = false;
    struct argus_error *error =
        has_stored(d, attempt->vertex, former, attempt->setter, part, &has_stored_it);
    if (error || has_stored_it)
        return error;
    return has_ended_early && is_successor ? blame_ended(d, attempt)
                                           : setter_attempt_run(d, attempt);
}

static struct argus_error *explain_by_former(struct diagnoser *d, uint32_t vertex,
                                             struct window part, const struct former *former)
{
    bool has_ended = d->view.threads[former->thread].end_ns < part.end_ns;
    uint32_t successor = has_ended ? find_successor(&d->view, former, part) : ARGUS_NONE;
    struct setter_attempt attempt = {
        .vertex = vertex,
        .setter = successor != ARGUS_NONE ? successor : former->thread,
        .part = part,
        .name = former->name,
        .write = former->write,
        .why = ARGUS_REASON_SET_LAST,
        .is_recorded = true,
        .note = note_guess,
        .context = former,
    };
    bool is_successor = attempt.setter == successor;
    bool is_gone = d->view.threads[attempt.setter].end_ns <= part.start_ns && !is_successor;
    struct argus_error *error = NULL;
    if (diagnoser_find_step(d, attempt.setter) < 0 && !is_gone)
        error = try_setter(d, &attempt, is_successor);
    if (!error && !attempt.is_taken)
        error = find_forgetful(d, vertex, part, former, &attempt.setter);
    if (!error && !attempt.is_taken && attempt.setter != ARGUS_NONE)
        error = setter_attempt_run(d, &attempt);
    return error || attempt.is_taken ? error : diagnoser_blame_yielding(d, vertex, part);
}

struct argus_error *diagnoser_explain_no_write(struct diagnoser *d, uint32_t vertex,
                                               struct window part, uint32_t write)
{
    struct former former;
    struct argus_error *error = describe_former(d, vertex, write, part, &former);
    if (!error)
        error = explain_by_former(d, vertex, part, &former);
    free(former.write.place);
    return error;
}
