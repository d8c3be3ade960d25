/* RepeatedYield: a loop that polls for something and waits a little, again and again.
 *
 * Without a data-flag event nothing in the graph shows which thread it waits for. Then the loop
 * itself is named, with the function in which it polls and how often it did; the program's code may
 * tell which variable ends it (code_loop.c), and which thread sets that variable (flag_setter.c);
 * else the answer says how to record the flag. If the
 * flag was watched (records flag_write and flag_read), the write that ended the loop is an edge
 * into it, and the walk continues as for a LongWait that this write ended late: what did the writer
 * do from the beginning of the loop until then?
 *
 * If the flag was watched and no write came, the thread that should have written it is searched.
 * That is the thread that set the flag for this one the last time; or, if this thread set it
 * itself, the sender of the message upon which it did (own_flag.c). What did that thread do
 * instead (forgotten_flag.c); and if it waited itself, who should have ended its wait? A loop that
 * polls for a lock on a file waits for the lock's holder (polled_lock.c). A loop that polls for the
 * end of a child waits for that child (polled_child.c).
 */
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnoser.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/suspects/slow_loop.h"
#include "diagnose/suspects/spin_loop.h"
#include "diagnose/suspects/turned_flag.h"
#include "diagnose/suspects/watched_flag.h"

/* A loop consists of several vertices if the scheduler delayed it; the read that ends it is in the
 * last of them or just after it. Those of a loop that was stepped do not count. */
#define MAX_VERTICES 64

/* The latest write of a flag in `window` that the loop around `vertex` read and that may have ended
 * it: an edge; ARGUS_NONE: none. */
static uint32_t find_flag_write(const struct view *view, uint32_t vertex, struct window window)
{
    uint32_t thread = view->vertices[vertex].thread, found = ARGUS_NONE;
    bool steps = false;
    for (uint32_t i = 0, v = vertex; i < MAX_VERTICES && v != ARGUS_NONE; i += !steps) {
        const struct argus_edge *in;
        size_t count = argus_graph_in_edges(view->graph, v, &in);
        /* A write during the last sleep is read after it, where the loop ends. */
        bool is_last_look = view->vertices[v].start_ns > window.end_ns && found == ARGUS_NONE;
        for (size_t j = 0; j < count; j++) {
            bool write = in[j].kind == ARGUS_EDGE_FLAG && in[j].from_ns >= window.start_ns &&
                         (in[j].from_ns <= window.end_ns || is_last_look) &&
                         view->vertices[in[j].from].thread != thread;
            if (write && (found == ARGUS_NONE || in[j].to_ns >= view->edges[found].to_ns))
                found = (uint32_t)(&in[j] - view->edges);
        }
        if (view->vertices[v].start_ns > window.end_ns)
            break;
        stepping_holds(view, v, &steps);
        v = timeline_next(view, v);
    }
    bool is_end =
        found != ARGUS_NONE && !loop_went_on(view, vertex, window, view->edges[found].to_ns);
    return is_end ? found : ARGUS_NONE;
}

/* How often the loop of `vertex` polled in `part`, in all of its vertices. */
static uint64_t count_looks(const struct view *view, uint32_t vertex, struct window part)
{
    uint64_t looks = 0;
    for (uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v)) {
        const struct argus_vertex *piece = &view->vertices[v];
        bool same =
            v == vertex || is_same_pause(view, vertex, v) ||
            (is_yielding(view, v) && piece->wait.syscall == view->vertices[vertex].wait.syscall);
        looks += !same                                ? 0
                 : piece->repeat > piece->yield_calls ? piece->repeat
                                                      : piece->yield_calls;
    }
    return looks;
}

/* The flag that the loop of `vertex` is recorded to wait for, if no other thread has set it
 * meanwhile; NULL: none with a name. */
static const struct argus_flag_entry *unset_flag_of_loop(const struct view *view, uint32_t vertex,
                                                         struct window part,
                                                         const struct watched_flag *awaited)
{
    if (awaited->read_at == ARGUS_NONE)
        return NULL;
    const struct argus_flag_entry *flag =
        argus_graph_op_flag(view->graph, awaited->read_at, ARGUS_OP_FLAG_READ << 24 | awaited->low);
    return flag && !flag_was_set_by_others(view, vertex, part, flag->address) ? flag : NULL;
}

/* Puts into `why` what is known of the flag, and so what the user should record to get further. The
 * caller must free its `name` and `write.place`. */
static struct argus_error *tell_flag(struct diagnoser *d, uint32_t vertex, struct window part,
                                     const struct argus_code_loop *loop, struct argus_reason *why)
{
    struct watched_flag awaited;
    watched_flag_find(&d->view, vertex, part, &awaited);
    const struct argus_flag_entry *flag = unset_flag_of_loop(&d->view, vertex, part, &awaited);
    uint32_t former = find_former_write(&d->view, vertex, part, &awaited);
    if (former == ARGUS_NONE)
        former = find_former_turn(&d->view, vertex, part);
    if (former != ARGUS_NONE)
        return former_write_tell(d, vertex, former, part, &awaited, why);
    why->because = flag ? ARGUS_REASON_FLAG_NEVER_SET : (uint8_t)code_loop_reason(loop);
    why->name = flag ? strdup(flag->label) : NULL;
    return flag && !why->name ? argus_error_memory() : NULL;
}

static struct argus_error *note_stepping(struct diagnoser *d)
{
    const struct argus_reason reason = {.kind = ARGUS_REASON_STEPPED, .ns = d->hang.stepped_ns};
    return d->hang.stepped_ns ? diagnoser_add_uncertain(d, &reason) : NULL;
}

struct argus_error *diagnoser_blame_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                         struct argus_code_loop *loop)
{
    uint32_t stack = find_loop_stack(d, vertex, part);
    struct argus_reason why = {.kind = ARGUS_REASON_POLLED,
                               .vertex = vertex,
                               .stack = stack,
                               .count = count_looks(&d->view, vertex, part),
                               .ns = window_ns(part)};
    size_t count = d->culprits.length;
    struct argus_error *error = tell_flag(d, vertex, part, loop, &why);
    if (!error)
        error = diagnoser_add_culprit(d, vertex, ARGUS_TYPE_REPEATED_YIELD, part, why.ns, &why);
    free(why.name);
    free(why.write.place);
    if (error || d->culprits.length == count) {
        code_loop_free(loop);
        return error;
    }
    d->culprits.data[count].loop = *loop;
    d->culprits.data[count].stack = stack;
    error = note_stepping(d);
    return error ? error : diagnoser_note_untouched_flags(d, vertex, part);
}

struct argus_error *diagnoser_blame_yielding(struct diagnoser *d, uint32_t vertex,
                                             struct window part)
{
    struct argus_code_loop loop;
    struct argus_error *error = read_code_loop(d, vertex, part, &loop);
    return error ? error : diagnoser_blame_loop(d, vertex, part, &loop);
}

/* --- a missing write --- */

/* By that thread's wait, or else by what it did. */
struct argus_error *diagnoser_explain_by_setter(struct diagnoser *d, uint32_t vertex,
                                                struct window part, uint32_t thread)
{
    struct examined examined = diagnoser_examine_thread(d, thread, part);
    const struct argus_hang *figures = &examined.figures;
    d->guessed = true;
    if (figures->vertex == ARGUS_NONE || diagnoser_find_step(d, thread) >= 0)
        return diagnoser_blame_yielding(d, vertex, part);
    if (!diagnoser_add_step(d, figures->vertex, ARGUS_NONE, true))
        return argus_error_memory();
    if (figures->type == ARGUS_TYPE_LONG_RUNNING)
        return diagnoser_blame_running(d, figures->vertex, part, figures->run_ns,
                                       figures->runnable_ns);
    if (figures->type == ARGUS_TYPE_REPEATED_YIELD)
        return diagnoser_explain_yielding(d, figures->vertex, part);
    struct walk_position position = {.vertex = figures->vertex,
                                     .window = wait_window(&d->view, figures->vertex, part),
                                     .requester = vertex};
    return diagnoser_explain_missing_write(d, &position);
}

/* Explains a loop by `thread`, which should have ended it because of `why`. */
static struct argus_error *explain_by(struct diagnoser *d, uint32_t vertex, struct window part,
                                      uint32_t thread, enum argus_reason_kind why)
{
    struct walk_position position = {.vertex = vertex, .window = part, .requester = vertex};
    if (diagnoser_find_step(d, thread) >= 0)
        return diagnoser_blame_yielding(d, vertex, part);
    return diagnoser_explain_missing_message(d, &position, thread, why);
}

/* Reads of such flags are not recorded. */
static struct argus_error *note_turn(struct diagnoser *d, uint32_t vertex, uint32_t turn)
{
    const struct argus_edge *edge = &d->view.edges[turn];
    const struct argus_flag_entry *flag = argus_graph_edge_flag(d->view.graph, edge, NULL);
    struct argus_reason guess = {.kind = ARGUS_REASON_GUESS_TURN,
                                 .thread = d->view.vertices[edge->to].thread,
                                 .waiter = d->view.vertices[vertex].thread,
                                 .name = flag ? (char *)flag->label : NULL};
    return diagnoser_add_uncertain(d, &guess);
}

/* As find_former_write(), of the variable that the loop waits for. */
static uint32_t former_write_of(const struct view *view, uint32_t vertex, struct window part)
{
    struct watched_flag awaited;
    watched_flag_find(view, vertex, part, &awaited);
    return find_former_write(view, vertex, part, &awaited);
}

/* Explains a loop by a flag that its thread handed over, or else by the program's code. */
static struct argus_error *explain_by_turn(struct diagnoser *d, uint32_t vertex, struct window part)
{
    uint32_t turn = find_late_turn(&d->view, vertex, part);
    uint32_t former = turn == ARGUS_NONE ? find_former_turn(&d->view, vertex, part) : ARGUS_NONE;
    if (former != ARGUS_NONE)
        return diagnoser_explain_no_write(d, vertex, part, former);
    if (turn == ARGUS_NONE)
        return diagnoser_explain_by_code(d, vertex, part);
    const struct argus_edge *edge = &d->view.edges[turn];
    struct walk_position position = {
        .vertex = edge->to, .window = {part.start_ns, edge->to_ns}, .requester = ARGUS_NONE};
    if (diagnoser_find_step(d, d->view.vertices[edge->to].thread) >= 0)
        return diagnoser_blame_yielding(d, vertex, part);
    struct argus_error *error = note_turn(d, vertex, turn);
    if (error)
        return error;
    d->guessed = true;
    if (!diagnoser_add_step(d, edge->to, ARGUS_NONE, false))
        return argus_error_memory();
    return diagnoser_explain_writer(d, &position);
}

struct argus_error *diagnoser_explain_yielding(struct diagnoser *d, uint32_t vertex,
                                               struct window part)
{
    uint32_t edge = find_flag_write(&d->view, vertex, part);
    uint32_t former = edge == ARGUS_NONE ? former_write_of(&d->view, vertex, part) : ARGUS_NONE;
    if (former != ARGUS_NONE)
        return diagnoser_explain_no_write(d, vertex, part, former);
    uint32_t told = edge == ARGUS_NONE ? find_own_set(&d->view, vertex) : ARGUS_NONE;
    if (told != ARGUS_NONE) /* the thread sets the flag itself upon a message */
        return explain_by(d, vertex, part, d->view.vertices[d->view.edges[told].from].thread,
                          ARGUS_REASON_MADE_SET);
    struct lock_tries tries;
    bool locks = edge == ARGUS_NONE && lock_tries_find(&d->view, d->view.vertices[vertex].thread,
                                                       part.start_ns, part.end_ns, &tries);
    if (locks && (tries.holder != ARGUS_NONE || tries.creator != ARGUS_NONE))
        return diagnoser_explain_polled_lock(d, vertex, part, &tries);
    uint32_t child = edge == ARGUS_NONE ? find_polled_child(&d->view, vertex, part) : ARGUS_NONE;
    if (child != ARGUS_NONE)
        return explain_by(d, vertex, part, child, ARGUS_REASON_IS_ASKED_CHILD);
    if (locks)
        return diagnoser_explain_polled_lock(d, vertex, part, &tries);
    if (edge == ARGUS_NONE)
        return explain_by_turn(d, vertex, part);
    const struct argus_edge *write = &d->view.edges[edge];
    struct walk_position position = {
        .vertex = write->from, .window = {part.start_ns, write->from_ns}, .requester = ARGUS_NONE};
    long at = diagnoser_find_step(d, d->view.vertices[write->from].thread);
    if (at >= 0)
        return diagnoser_close_circle(d, (size_t)at);
    if (!diagnoser_add_step(d, write->from, edge, false))
        return argus_error_memory();
    return diagnoser_explain_writer(d, &position);
}

/* From the first turn of the loop of `vertex` to the last, within `hang`. */
static struct window span_of_loop(const struct view *view, uint32_t vertex, struct window hang)
{
    struct window span = {view->vertices[vertex].start_ns, view->vertices[vertex].end_ns};
    for (uint32_t v = timeline_before(view, view->vertices[vertex].thread, hang.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < hang.end_ns; v = timeline_next(view, v)) {
        const struct argus_vertex *piece = &view->vertices[v];
        bool pauses = is_same_pause(view, vertex, v);
        uint64_t end_ns = pauses ? timeline_wait_end(view, v) : piece->end_ns;
        if (!is_yielding(view, v) && !pauses)
            continue;
        span.start_ns = piece->start_ns < span.start_ns ? piece->start_ns : span.start_ns;
        span.end_ns = end_ns > span.end_ns ? end_ns : span.end_ns;
    }
    return (struct window){span.start_ns > hang.start_ns ? span.start_ns : hang.start_ns,
                           span.end_ns < hang.end_ns ? span.end_ns : hang.end_ns};
}

struct argus_error *diagnose_repeated_yield(struct diagnoser *d)
{
    struct window hang = {d->hang.start_ns, d->hang.end_ns};
    if (!diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        return argus_error_memory();
    struct window part = span_of_loop(&d->view, d->hang.vertex, hang);
    struct lock_tries tries;
    bool whole = find_flag_write(&d->view, d->hang.vertex, hang) != ARGUS_NONE ||
                 lock_tries_detect(&d->view, d->hang.thread, hang.start_ns, hang.end_ns, &tries);
    return diagnoser_explain_yielding(d, d->hang.vertex, whole ? hang : part);
}
