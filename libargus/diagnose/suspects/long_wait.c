/* Explains a LongWait: step by step from the hung thread's wait to the thread that is behind it.
 *
 * Each step is at one wait in a window. If a thread ended the wait late, the account of the window
 * shows where the time went. If the wait timed out or was never ended, the threads that should have
 * ended it are examined one after the other, until one of them did something unusual. Either way
 * the walk reaches the next wait, or its end: a thread that was busy, polled a flag, slept, or is
 * on the path already (then the threads wait for each other).
 */
#include <stdlib.h>

#include "diagnose/diagnoser.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/hangs/handed_on.h"
#include "diagnose/suspects/disk_users.h"
#include "diagnose/suspects/file_server.h"
#include "diagnose/suspects/remotes.h"
#include "diagnose/suspects/slow_loop.h"

#define DEFAULT_MAX_DEPTH 16

/* Waits that no other thread is expected to end: nothing further explains them. */
static bool ends_by_itself(const struct argus_wait *wait)
{
    return wait->kind == ARGUS_WAIT_SLEEP || wait->kind == ARGUS_WAIT_STOPPED ||
           wait->kind == ARGUS_WAIT_DISK || wait->kind == ARGUS_WAIT_FAULT;
}

/* Whether the thread waited in vain. */
static bool was_not_ended(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    return !ends_by_itself(wait) &&
           (timeline_was_cut_short(view, vertex) || wait->outcome == ARGUS_OUTCOME_TIMED_OUT ||
            wait->outcome == ARGUS_OUTCOME_NEVER || wait->outcome == ARGUS_OUTCOME_KILLED ||
            wait->outcome == ARGUS_OUTCOME_INTERRUPTED);
}

static struct window within(struct window window, uint64_t from_ns, uint64_t to_ns)
{
    return (struct window){from_ns > window.start_ns ? from_ns : window.start_ns,
                           to_ns < window.end_ns ? to_ns : window.end_ns};
}

struct window wait_window(const struct view *view, uint32_t vertex, struct window window)
{
    return within(window, view->vertices[vertex].end_ns, timeline_wait_end(view, vertex));
}

/* The same for all pieces of the wait, if it is one in pieces. */
static struct window pieces_window(const struct view *view, uint32_t vertex, struct window window)
{
    struct timeline_pieces pieces = timeline_pieces(view, vertex);
    return within(window, pieces.start_ns, pieces.end_ns);
}

/* Why a wait that no other thread was expected to end took so long. */
static enum argus_reason_kind own_reason(const struct argus_wait *wait)
{
    switch (wait->kind) {
    case ARGUS_WAIT_SLEEP:
        return ARGUS_REASON_SLEPT;
    case ARGUS_WAIT_STOPPED:
        return ARGUS_REASON_STOPPED;
    case ARGUS_WAIT_DISK:
    case ARGUS_WAIT_FAULT:
        return ARGUS_REASON_DISK;
    default:
        return wait->by_device ? ARGUS_REASON_DEVICE : ARGUS_REASON_NO_ENDER;
    }
}

/* The reason of a wait, or of `wait_ns` of many such waits of its thread. */
static struct argus_reason wait_reason(const struct diagnoser *d, uint32_t vertex, uint64_t wait_ns,
                                       enum argus_reason_kind because, uint32_t thread)
{
    bool is_device = because == ARGUS_REASON_DEVICE || because == ARGUS_REASON_DISK;
    uint32_t server = is_device ? timeline_device_server(&d->view, vertex) : ARGUS_NONE;
    if (server != ARGUS_NONE) {
        because =
            because == ARGUS_REASON_DISK ? ARGUS_REASON_DISK_SERVED : ARGUS_REASON_DEVICE_SERVED;
        thread = server;
    }
    if (because == ARGUS_REASON_NO_ENDER && argus_graph_lacks_wakeups(d->view.graph))
        because = ARGUS_REASON_NO_WAKEUPS;
    return (struct argus_reason){.kind = ARGUS_REASON_WAITED,
                                 .thread = thread,
                                 .because = (uint8_t)because,
                                 .vertex = vertex,
                                 .ns = wait_ns,
                                 .many =
                                     argus_vertex_wait_ns(&d->view.vertices[vertex]) < wait_ns / 2};
}

/* Blames a wait for a disk, and before it the program that kept the disk busy. */
static struct argus_error *blame_disk_wait(struct diagnoser *d, struct window part,
                                           uint64_t wait_ns, struct argus_reason why)
{
    struct argus_error *error = disk_users_blame(d, why.vertex, part, wait_ns, &why);
    if (!error)
        error = diagnoser_add_culprit(d, why.vertex, ARGUS_TYPE_LONG_WAIT, part, wait_ns, &why);
    free(why.users);
    return error;
}

/* Whether the kernel may have freed memory during the wait: not in a call whose purpose is to wait.
 */
static bool may_lack_memory(const struct argus_wait *wait)
{
    switch (wait->kind) {
    case ARGUS_WAIT_POLL:
    case ARGUS_WAIT_SLEEP:
    case ARGUS_WAIT_FUTEX:
    case ARGUS_WAIT_CHILD:
    case ARGUS_WAIT_SIGNAL:
    case ARGUS_WAIT_STOPPED:
        return false;
    default:
        return true;
    }
}

/* Blames waits that are themselves the root cause. */
static struct argus_error *blame_waits(struct diagnoser *d, struct window part, uint64_t wait_ns,
                                       struct argus_reason why)
{
    const struct argus_wait *wait = &d->view.vertices[why.vertex].wait;
    bool done = false;
    struct argus_error *error =
        may_lack_memory(wait)
            ? diagnoser_blame_memory(d, why.vertex, ARGUS_TYPE_LONG_WAIT, part, &done)
            : NULL;
    if (error || done)
        return error;
    if (wait->kind == ARGUS_WAIT_DISK || wait->kind == ARGUS_WAIT_FAULT)
        return blame_disk_wait(d, part, wait_ns, why);
    struct awaited_remote awaited = {.remote = ARGUS_NONE};
    if (wait->by_device)
        error = awaited_remote_find(&d->view, why.vertex, false, &awaited);
    if (error)
        return error;
    if (awaited.remote != ARGUS_NONE)
        return diagnoser_blame_remote(d, why.vertex, part, wait_ns, &awaited);
    return diagnoser_add_culprit(d, why.vertex, ARGUS_TYPE_LONG_WAIT, part, wait_ns, &why);
}

struct argus_error *diagnoser_blame_waiting(struct diagnoser *d, uint32_t vertex,
                                            struct window part, enum argus_reason_kind because,
                                            uint32_t thread)
{
    return blame_waits(d, part, window_ns(part),
                       wait_reason(d, vertex, window_ns(part), because, thread));
}

/* --- a circle --- */

static struct argus_error *blame_member(struct diagnoser *d, size_t at, size_t first)
{
    uint32_t vertex = d->path.data[at].vertex;
    size_t next = at + 1 < d->path.length ? at + 1 : first;
    const struct argus_wait *wait = &d->view.vertices[vertex].wait;
    struct window hang = {d->hang.start_ns, d->hang.end_ns};
    struct window part = wait_window(&d->view, vertex, hang);
    bool timed_out = wait->outcome == ARGUS_OUTCOME_TIMED_OUT;
    struct argus_reason why = {.kind = ARGUS_REASON_CIRCLE,
                               .more = timed_out ? ARGUS_REASON_TIMEOUT_ENDED : ARGUS_REASON_NONE,
                               .vertex = vertex,
                               .thread = d->view.vertices[d->path.data[next].vertex].thread,
                               .ns = window_ns(part)};
    d->cycle_broken_by_timeout |= timed_out;
    return diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_WAIT, part, window_ns(part), &why);
}

/* Kernel threads pass a wait on, they do not wait themselves. */
struct argus_error *diagnoser_close_circle(struct diagnoser *d, size_t first)
{
    struct argus_error *error = NULL;
    for (size_t i = first; !error && i < d->path.length; i++) {
        uint32_t vertex = d->path.data[i].vertex;
        if (timeline_is_kernel(&d->view, vertex))
            continue;
        if (!vec_push(&d->cycle, vertex))
            return argus_error_memory();
        error = blame_member(d, i, first);
    }
    return error;
}

/* --- a wait that ended late --- */

/* The late one is a try or a pause of a script that polls for a lock file: the script is explained.
 * `ret_done`: it was one. */
static struct argus_error *explain_script(struct diagnoser *d, const struct late *late,
                                          struct window window, bool *ret_done)
{
    struct lock_tries tries;
    uint32_t thread =
        lock_script_find(&d->view, late->vertex, window.start_ns, window.end_ns, &tries);
    *ret_done = thread != ARGUS_NONE && thread != d->hang.thread;
    if (!*ret_done)
        return NULL;
    long at = diagnoser_find_step(d, thread);
    uint32_t vertex =
        at >= 0 ? d->path.data[at].vertex : timeline_before(&d->view, thread, window.start_ns + 1);
    if (vertex == ARGUS_NONE)
        vertex = d->view.threads[thread].first_vertex; /* it began later */
    if (at < 0 && !diagnoser_add_step(d, vertex, ARGUS_NONE, false))
        return argus_error_memory();
    return diagnoser_explain_polled_lock(d, vertex, window, &tries);
}

static struct argus_error *take_late(struct diagnoser *d, const struct argus_account *account,
                                     const struct late *late, struct walk_position *position)
{
    const struct argus_vertex *v = &d->view.vertices[late->vertex];
    long at = v->thread == d->view.vertices[position->vertex].thread
                  ? -1
                  : diagnoser_find_step(d, v->thread);
    bool busy = late->run_ns + late->runnable_ns >= late->wait_ns;
    bool is_script;
    struct argus_error *error = explain_script(d, late, position->window, &is_script);
    position->ended = true;
    if (error || is_script)
        return error;
    if (!late->yields && !busy && at >= 0)
        return diagnoser_close_circle(d, (size_t)at);
    if (!diagnoser_add_late_path(d, account, late->link, late->vertex))
        return argus_error_memory();
    struct lock_tries tries;
    bool polls =
        late->yields || (!busy && lock_tries_detect(&d->view, v->thread, late->part.start_ns,
                                                    late->part.end_ns, &tries));
    error = polls || busy ? NULL : slow_loop_detect(d, late->vertex, late->part, &polls);
    if (error || polls)
        return error ? error : diagnoser_explain_yielding(d, late->vertex, late->part);
    if (file_lock_find_holder(&d->view, position->vertex) == v->thread &&
        diagnoser_is_unseen_holder(d, v->thread, position->window,
                                   late->run_ns + late->runnable_ns + late->wait_ns))
        return diagnoser_blame_unseen_holder(d, v->thread, position->window);
    if (busy)
        return diagnoser_blame_running(d, late->vertex, late->part, late->run_ns,
                                       late->runnable_ns);
    struct window part = pieces_window(&d->view, late->vertex, position->window);
    if (window_ns(part) < late->wait_ns / 2 && !was_not_ended(&d->view, late->vertex) &&
        v->wait.kind != ARGUS_WAIT_POLL)
        return blame_waits(
            d, late->part, late->wait_ns,
            wait_reason(d, late->vertex, late->wait_ns, own_reason(&v->wait), ARGUS_NONE));
    /* A poll with a long share of its own was ended by another thread, but not for the sake of this
     * hang. */
    bool for_others = v->wait.kind == ARGUS_WAIT_POLL && !v->wait.by_device &&
                      !was_not_ended(&d->view, late->vertex);
    if (!was_not_ended(&d->view, late->vertex) && !for_others)
        return diagnoser_blame_waiting(d, late->vertex, part, own_reason(&v->wait), ARGUS_NONE);
    *position = (struct walk_position){
        .vertex = late->vertex, .window = for_others ? late->part : part, .requester = ARGUS_NONE};
    return diagnoser_explain_missing(d, position);
}

/* `own`: what the thread itself ran counts, too, and not only what it waited for. */
static struct argus_error *explain_late(struct diagnoser *d, struct walk_position *position,
                                        bool own)
{
    uint32_t thread = d->view.vertices[position->vertex].thread;
    struct argus_account account;
    struct late late;
    struct argus_error *error = argus_account(d->view.graph, thread, position->window.start_ns,
                                              position->window.end_ns, &account);
    if (error)
        return error;
    error = diagnoser_find_late(d, &account, own ? ARGUS_NONE : thread, &late);
    if (!error && late.vertex == ARGUS_NONE) {
        position->ended = true;
        error = diagnoser_blame_waiting(d, position->vertex, position->window,
                                        ARGUS_REASON_NOT_SHOWN, ARGUS_NONE);
    } else if (!error) {
        error = take_late(d, &account, &late, position);
    }
    argus_account_deinit(&account);
    return error;
}

/* Explains a wait for a file by the program that serves the file, if that is known, and it did not
 * end the wait. */
static struct argus_error *explain_file_server(struct diagnoser *d, struct walk_position *position,
                                               bool *ret_done)
{
    uint32_t server;
    bool busy;
    struct argus_error *error =
        file_server_find(&d->view, position->vertex, position->window, &server, &busy);
    *ret_done = !error && server != ARGUS_NONE;
    if (!*ret_done)
        return error;
    d->guessed |= busy;
    return diagnoser_explain_missing_from(
        d, position, server, busy ? ARGUS_REASON_SERVES_FILES : ARGUS_REASON_JUST_CAUSED);
}

/* Explains a wait for a disk that was busy for another program. */
static struct argus_error *explain_taken_disk(struct diagnoser *d, struct walk_position *position,
                                              bool *ret_done)
{
    struct window part = wait_window(&d->view, position->vertex, position->window);
    *ret_done = false;
    if (d->view.vertices[position->vertex].wait.kind != ARGUS_WAIT_DISK)
        return NULL;
    struct argus_error *error = disk_is_taken(d, position->vertex, part, ret_done);
    if (error || !*ret_done)
        return error;
    position->ended = true;
    d->disk_explains |= position->vertex == d->hang.vertex;
    return diagnoser_blame_waiting(d, position->vertex, part, ARGUS_REASON_DISK, ARGUS_NONE);
}

/* Walks from wait to wait until a root cause is found. `one_wait`: the first is a single wait, not
 * many short ones. */
static struct argus_error *walk_waits(struct diagnoser *d, struct walk_position *position,
                                      size_t depth, bool one_wait)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && !position->ended && i < depth; i++) {
        const struct argus_wait *wait = &d->view.vertices[position->vertex].wait;
        bool goes_on = timeline_wait_end(&d->view, position->vertex) > position->window.end_ns;
        bool missing =
            was_not_ended(&d->view, position->vertex) || (goes_on && !ends_by_itself(wait));
        bool is_one = i > 0 || one_wait, served = false;
        if (is_one)
            error = explain_file_server(d, position, &served);
        if (is_one && !error && !served)
            error = explain_taken_disk(d, position, &served);
        if (error || served)
            continue;
        if (missing && is_one)
            error = diagnoser_explain_missing(d, position);
        else
            error = explain_late(d, position, false);
    }
    if (!error && !position->ended)
        error = diagnoser_blame_waiting(d, position->vertex, position->window,
                                        ARGUS_REASON_TOO_DEEP, ARGUS_NONE);
    return error;
}

static size_t max_depth(const struct diagnoser *d)
{
    return d->options.max_depth ? d->options.max_depth : DEFAULT_MAX_DEPTH;
}

struct argus_error *diagnoser_explain_writer(struct diagnoser *d, struct walk_position *position)
{
    struct argus_error *error = explain_late(d, position, true);
    return error || position->ended ? error : walk_waits(d, position, max_depth(d), true);
}

struct argus_error *diagnoser_explain_missing_write(struct diagnoser *d,
                                                    struct walk_position *position)
{
    struct argus_error *error = diagnoser_explain_missing(d, position);
    return error || position->ended ? error : walk_waits(d, position, max_depth(d), true);
}

struct argus_error *diagnoser_explain_missing_message(struct diagnoser *d,
                                                      struct walk_position *position,
                                                      uint32_t thread, enum argus_reason_kind why)
{
    struct argus_error *error = diagnoser_explain_missing_from(d, position, thread, why);
    return error || position->ended ? error : walk_waits(d, position, max_depth(d), true);
}

/* The sender of the last message that the holder of a request took in the same run before it took
 * the request; ARGUS_NONE. */
static uint32_t served_before(const struct diagnoser *d, const struct answer_hold *hold,
                              uint32_t whole)
{
    uint32_t found = ARGUS_NONE;
    for (uint32_t v = whole; v <= hold->vertex; v++) {
        const struct argus_edge *edges;
        size_t count = argus_graph_in_edges(d->view.graph, v, &edges);
        for (size_t i = 0; i < count; i++) {
            uint32_t sender = d->view.vertices[edges[i].from].thread;
            bool in_time = edges[i].from_ns >= hold->start_ns && edges[i].to_ns <= hold->end_ns;
            bool is_message = edges[i].message || edges[i].kind == ARGUS_EDGE_MESSAGE;
            if (in_time && is_message && sender != d->hang.thread)
                found = sender;
        }
    }
    return found;
}

/* The thread that made the holder of a request continue, if the holder was in its home wait and
 * left the request pending: it is a server that another client occupied; ARGUS_NONE. The holder's
 * own timer may have fired before that client's message. */
static uint32_t released_by(const struct diagnoser *d, const struct answer_hold *hold)
{
    struct window window = {hold->start_ns, hold->end_ns};
    uint32_t whole = argus_graph_whole(d->view.graph, hold->vertex);
    uint32_t cause = argus_graph_cause(d->view.graph, whole);
    struct argus_hang figures = diagnoser_examine_thread(d, hold->thread, window).figures;
    if (cause == ARGUS_NONE || figures.type != ARGUS_TYPE_LONG_WAIT ||
        !is_home_wait(&d->view, figures.vertex))
        return ARGUS_NONE;
    uint32_t thread = d->view.vertices[d->view.edges[cause].from].thread;
    if (thread == hold->thread)
        thread = served_before(d, hold, whole);
    return thread == d->hang.thread || thread == hold->thread ? ARGUS_NONE : thread;
}

struct argus_error *diagnoser_explain_hold(struct diagnoser *d, struct walk_position *position,
                                           const struct answer_hold *hold)
{
    uint64_t start_ns = hold->start_ns > d->hang.start_ns ? hold->start_ns : d->hang.start_ns;
    position->window = (struct window){start_ns, hold->end_ns};
    uint32_t other = released_by(d, hold);
    if (other != ARGUS_NONE)
        return diagnoser_explain_missing_message(d, position, other, ARGUS_REASON_READ_AFTER_SENT);
    return diagnoser_explain_missing_message(d, position, hold->thread, ARGUS_REASON_HAD_REQUEST);
}

/* Explains several waits, the last of which ended with the answer that all of them were for: by the
 * thread that had the request for most of the time, if it had it for longer than that wait. */
static struct argus_error *explain_answer(struct diagnoser *d, struct walk_position *position,
                                          bool *ret_done)
{
    struct answer_hold hold;
    struct window wait = wait_window(&d->view, position->vertex, position->window);
    *ret_done = answer_holder(&d->view, position->vertex, position->window.start_ns, &hold) &&
                hold.end_ns - hold.start_ns >= window_ns(position->window) / 2 &&
                hold.end_ns - hold.start_ns > window_ns(wait);
    return *ret_done ? diagnoser_explain_hold(d, position, &hold) : NULL;
}

/* Explains several waits for a reply that did not come: by the process to which a server handed the
 * thread's request on, if that process did not take it for most of the hang. */
static struct argus_error *explain_handed_on(struct diagnoser *d, struct walk_position *position,
                                             bool *ret_done)
{
    struct handed_on handed;
    const struct argus_vertex *v = &d->view.vertices[position->vertex];
    uint32_t first = argus_graph_vertex_at(d->view.graph, v->thread, d->hang.start_ns);
    /* from the vertex on in which the hang began: the thread may look at its input once more */
    struct window asked = {
        first == ARGUS_NONE ? d->hang.start_ns : d->view.vertices[first].start_ns, v->end_ns};
    bool is_open = v->wait.kind == ARGUS_WAIT_POLL || v->wait.kind == ARGUS_WAIT_FUTEX;
    *ret_done = is_open && was_not_ended(&d->view, position->vertex) &&
                handed_on_find(&d->view, v->thread, asked,
                               timeline_wait_end(&d->view, position->vertex), &handed) &&
                d->hang.end_ns - handed.sent_ns >= window_ns(position->window) / 2;
    if (!*ret_done)
        return NULL;
    position->window = (struct window){handed.sent_ns, d->hang.end_ns};
    return diagnoser_explain_missing_message(d, position, handed.thread, ARGUS_REASON_HANDED_ON);
}

struct argus_error *diagnose_long_wait(struct diagnoser *d)
{
    struct walk_position position = {.vertex = d->hang.vertex,
                                     .window = {d->hang.start_ns, d->hang.end_ns},
                                     .requester = ARGUS_NONE};
    struct window longest = wait_window(&d->view, d->hang.vertex, position.window);
    bool one_wait = window_ns(longest) >= window_ns(position.window) / 2, done = false;
    struct argus_error *error = slow_loop_detect(d, d->hang.vertex, position.window, &done);
    if (error || done) {
        d->hang.type = ARGUS_TYPE_REPEATED_YIELD;
        return error ? error : diagnose_repeated_yield(d);
    }
    if (!diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        return argus_error_memory();
    error = explain_answer(d, &position, &done);
    if (!error && !done)
        error = explain_handed_on(d, &position, &done);
    d->waits_explained = done;
    if (!error && !done)
        error = walk_waits(d, &position, max_depth(d), one_wait);
    return error ? error : diagnoser_note_baseline(d);
}
