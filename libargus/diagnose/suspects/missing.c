/* Explains a wait that no thread ended in time: the threads that should have ended it are examined
 * one after the other, until one did something unusual meanwhile. A thread in its home wait, the
 * wait for requests, did nothing unusual. But if it had taken the request and returned there
 * without an answer, it is to blame; and if it had handed the request on, the thread that has it
 * now is examined, too. */
#include "diagnose/suspects/remotes.h"
#include "diagnose/suspects/request_made.h"
#include "diagnose/suspects/suspect_search.h"

#define MAX_OUT   64
#define MAX_LOOP  256 /* vertices from a loop back to its request */
#define MAX_STEPS 16  /* vertices in which a request is handled */

struct search {
    struct suspect_search shared; /* what the functions of evidence see */
    suspect_list suspects;
    struct walk_position *position;
    size_t tried;         /* the number of suspects that have been examined */
    uint32_t idle;        /* the first suspect found in its home wait; ARGUS_NONE */
    uint32_t silent;      /* the vertex that took the request and did not answer; ARGUS_NONE */
    struct suspect owing; /* the suspect of `silent`, if it owes an answer (no_answer.c) */
    /* the same for suspects to which another thread passed something on, perhaps not the request */
    struct passed_silent {
        uint32_t taker;
        unsigned count;
        struct suspect suspect;
    } sent, woken;         /* by a message, or without one */
    struct suspect client; /* on the path: gives work for which the searched wait is */
    bool decided;
    uint32_t holder; /* of the lock on a file for which the thread waits; ARGUS_NONE */
    struct awaited_remote awaited; /* for which the searched wait is, or may be */
};

static struct argus_error *note_guess(struct diagnoser *d, uint32_t waiter,
                                      const struct suspect *suspect)
{
    struct argus_reason guess = {.kind = ARGUS_REASON_GUESS_WAKER,
                                 .because = (uint8_t)suspect->why,
                                 .thread = suspect->thread,
                                 .waiter = d->view.vertices[waiter].thread};
    return diagnoser_add_uncertain(d, &guess);
}

/* --- a suspect that did something unusual --- */

/* Whether evidence of `row` (NULL: other evidence) only shows which threads could have ended a
 * wait. */
static bool is_vague(const struct evidence *row)
{
    return row && row->flags & EVIDENCE_VAGUE && !(row->flags & EVIDENCE_SURE);
}

/* Whether the searched wait can be an edge of a circular wait that leads to `suspect`. */
static bool makes_edge(const struct search *search, const struct suspect *suspect,
                       const struct evidence *row)
{
    if (!row || suspect->via != ARGUS_NONE || row->flags & EVIDENCE_OWED)
        return true;
    return !is_vague(row) && request_was_made(&search->shared, suspect->thread);
}

static struct argus_error *take_suspect(struct search *search, const struct suspect *suspect,
                                        const struct examined *examined, const struct evidence *row)
{
    struct diagnoser *d = search->shared.d;
    struct walk_position *position = search->position;
    bool edge = makes_edge(search, suspect, row);
    const struct argus_hang *figures = &examined->figures;
    bool on_path =
        suspect->via == ARGUS_NONE || diagnoser_add_step(d, suspect->via, ARGUS_NONE, true);
    if (!on_path || !diagnoser_add_step(d, figures->vertex, ARGUS_NONE, true))
        return argus_error_memory();
    d->path.data[d->path.length - 1].vague = !edge;
    position->ended = figures->type != ARGUS_TYPE_LONG_WAIT;
    if (figures->type == ARGUS_TYPE_LONG_RUNNING)
        return diagnoser_blame_running(d, figures->vertex, position->window, figures->run_ns,
                                       figures->runnable_ns);
    if (figures->type == ARGUS_TYPE_REPEATED_YIELD)
        return diagnoser_explain_yielding(d, figures->vertex, position->window);
    bool is_loop;
    struct argus_error *error = diagnoser_explain_lock_loop(d, figures->vertex, position, &is_loop);
    if (error || is_loop)
        return error;
    if (position->requester == position->vertex) /* from here on, each wait is the thread's own */
        position->requester = ARGUS_NONE;
    position->vertex = figures->vertex;
    if (!examined->in_pieces)
        position->window = wait_window(&d->view, figures->vertex, position->window);
    return NULL;
}

/* --- a suspect in its home wait --- */

/* The vertex of `thread` that took the last request of the searched wait, or of the vertex on whose
 * behalf it is; ARGUS_NONE. A loop that polls a flag is some vertices behind its request. */
static uint32_t find_taker(const struct search *search, uint32_t thread)
{
    const struct view *view = &search->shared.d->view;
    uint64_t until_ns = search->position->window.end_ns;
    uint32_t taker = request_find_taker(view, timeline_wait_begin(view, search->position->vertex),
                                        thread, until_ns);
    uint32_t requester = search->position->requester, asker = first_piece(&search->shared);
    uint64_t since_ns = search->shared.d->hang.start_ns;
    for (int i = 0; taker == ARGUS_NONE && asker != ARGUS_NONE && i < NEAR_VERTICES &&
                    view->vertices[asker].end_ns >= since_ns;
         i++) {
        taker = request_find_taker(view, asker, thread, until_ns);
        asker = argus_graph_previous(view->graph, asker);
    }
    for (int i = 0; taker == ARGUS_NONE && requester != ARGUS_NONE && i < MAX_LOOP &&
                    (i < NEAR_VERTICES || view->vertices[requester].end_ns >= since_ns);
         i++) {
        taker = request_find_taker(view, requester, thread, until_ns);
        requester = argus_graph_previous(view->graph, requester);
    }
    return taker;
}

/* The vertex of a suspect that took the request: from the thread that passed it on, or from the
 * waiter. */
static uint32_t find_taker_in(const struct search *search, const struct suspect *suspect)
{
    uint32_t taker = ARGUS_NONE;
    if (suspect->via != ARGUS_NONE)
        taker = request_find_taker(&search->shared.d->view, suspect->via, suspect->thread,
                                   search->position->window.end_ns);
    return taker != ARGUS_NONE ? taker : find_taker(search, suspect->thread);
}

/* Adds the threads to which `taker` sent something, or which it only made run: one of them has the
 * request now. False without memory. `*ret_passed_on`: there is such a thread, even if it is the
 * waiter, which got an answer. */
static bool follow_edges(struct search *search, uint32_t taker, bool messages, bool *ret_passed_on)
{
    const struct view *view = &search->shared.d->view;
    const uint32_t *out;
    size_t count = argus_graph_out_edges(view->graph, taker, &out);
    for (size_t i = 0; i < count && i < MAX_OUT; i++) {
        const struct argus_edge *edge = &view->edges[out[i]];
        bool is_message = edge->message || edge->kind == ARGUS_EDGE_MESSAGE;
        size_t before = search->suspects.length;
        if (edge->kind == ARGUS_EDGE_SEQUENCE || edge->kind == ARGUS_EDGE_TIMER ||
            is_message != messages || edge_is_store_for(view, edge, search->position) ||
            view->vertices[edge->to].thread == view->vertices[taker].thread)
            continue; /* a loop's own callbacks are dispatched to itself */
        *ret_passed_on = true;
        if (!suspect_search_add(&search->shared, view->vertices[edge->to].thread,
                                ARGUS_REASON_PASSED_ON))
            return false;
        if (search->suspects.length > before) {
            search->suspects.data[before].via = taker;
            search->suspects.data[before].woken = !messages;
        }
    }
    return true;
}

static bool follow_request(struct search *search, uint32_t taker, bool *ret_passed_on)
{
    return follow_edges(search, taker, true, ret_passed_on) &&
           follow_edges(search, taker, false, ret_passed_on);
}

/* Adds the threads to which `taker` sent something that they have not received. */
static struct argus_error *follow_unread(struct search *search, uint32_t taker)
{
    size_t before = search->suspects.length;
    struct argus_error *error = find_unreceived(&search->shared, taker);
    for (size_t i = before; i < search->suspects.length; i++)
        search->suspects.data[i].via = taker;
    return error;
}

/* Whether a suspect's wait at `vertex` is its wait for requests although it is too rare to be known
 * as its home: the request of the searched wait ended such a wait, and the suspect went back to it.
 * It must not have sent anything, because it could wait for the answer on the same channel. */
static bool came_back(const struct search *search, const struct suspect *suspect, uint32_t vertex)
{
    const struct view *view = &search->shared.d->view;
    uint32_t taker = find_taker_in(search, suspect);
    uint32_t before = taker == ARGUS_NONE ? ARGUS_NONE : argus_graph_previous(view->graph, taker);
    if (before == ARGUS_NONE || vertex < taker || vertex - taker > MAX_STEPS)
        return false;
    const struct argus_wait *first = &view->vertices[before].wait,
                            *second = &view->vertices[vertex].wait;
    if (first->syscall != second->syscall)
        return false;
    if (waits_for_work_again(view, before, vertex))
        return true;
    bool is_open = second->kind == ARGUS_WAIT_READ || second->kind == ARGUS_WAIT_POLL;
    return is_open && first->object == second->object && first->inode == second->inode &&
           !has_sent_anything(view, taker, vertex, search->position);
}

/* Adds the client that occupies an idle `server`, so that the server left the request unread; false
 * without memory. */
static bool add_exclusive_client(struct search *search, uint32_t server)
{
    const struct view *view = &search->shared.d->view;
    uint32_t vertex = search->position->vertex;
    uint32_t client = find_exclusive_client(view, view->vertices[vertex].thread, server,
                                            wait_window(view, vertex, search->position->window));
    size_t before = search->suspects.length;
    if (client == ARGUS_NONE)
        return true;
    if (!suspect_search_add(&search->shared, client, ARGUS_REASON_LAST_CLIENT))
        return false;
    if (search->suspects.length > before)
        search->suspects.data[before].guess = true;
    return true;
}

/* Notes the vertex with which a suspect took a request and did not answer. */
static void note_silent(struct search *search, const struct suspect *suspect, uint32_t taker)
{
    if (suspect->via == ARGUS_NONE) {
        if (suspect->owes && search->silent == ARGUS_NONE)
            search->owing = *suspect;
        search->silent = search->silent == ARGUS_NONE ? taker : search->silent;
        return;
    }
    struct passed_silent *passed = suspect->woken ? &search->woken : &search->sent;
    *passed = (struct passed_silent){taker, passed->count + 1, *suspect};
}

/* The only suspect to which something was passed on and that did not answer; NULL. What was sent
 * shows where the request is, and not what was woken. */
static const struct passed_silent *only_passed(const struct search *search)
{
    const struct passed_silent *passed = search->sent.count > 0 ? &search->sent : &search->woken;
    return passed->count == 1 ? passed : NULL;
}

/* The vertex that took the request and did not answer; ARGUS_NONE. If something was passed on to
 * several threads that did not answer, none of them is known to have the request. */
static uint32_t find_silent(const struct search *search)
{
    if (search->silent != ARGUS_NONE)
        return search->silent;
    const struct passed_silent *passed = only_passed(search);
    return passed ? passed->taker : ARGUS_NONE;
}

static struct argus_error *follow_idle_suspect(struct search *search, const struct suspect *suspect)
{
    const struct view *view = &search->shared.d->view;
    uint32_t thread = suspect->thread, taker = find_taker_in(search, suspect);
    bool passed_on = false;
    if (search->idle == ARGUS_NONE)
        search->idle = thread;
    if (taker == ARGUS_NONE && !add_exclusive_client(search, thread))
        return argus_error_memory();
    struct window wait = wait_window(view, search->position->vertex, search->position->window);
    size_t before = search->suspects.length;
    for (int i = 0; taker != ARGUS_NONE && i < MAX_STEPS; i++) {
        struct argus_error *error = i < NEAR_VERTICES ? follow_unread(search, taker) : NULL;
        if (error || !follow_request(search, taker, &passed_on))
            return error ? error : argus_error_memory();
        passed_on |= search->suspects.length > before;
        if (passed_on)
            return NULL;
        if (timeline_wait_end(view, taker) >= wait.end_ns)
            break;
        taker = timeline_next(view, taker);
    }
    if (taker != ARGUS_NONE && timeline_wait_end(view, taker) >= wait.end_ns)
        note_silent(search, suspect, taker);
    return NULL;
}

static struct argus_error *blame_silent(struct diagnoser *d, uint32_t taker,
                                        struct walk_position *position)
{
    struct window part = wait_window(&d->view, taker, position->window);
    position->ended = true;
    uint32_t requester = position->requester != ARGUS_NONE ? position->requester : position->vertex;
    struct argus_reason why = {
        .kind = ARGUS_REASON_SILENT, .vertex = taker, .waiter = d->view.vertices[requester].thread};
    if (!diagnoser_add_step(d, taker, ARGUS_NONE, true))
        return argus_error_memory();
    size_t before = d->culprits.length;
    struct argus_error *error =
        diagnoser_add_culprit(d, taker, ARGUS_TYPE_LONG_WAIT, part, window_ns(part), &why);
    if (!error && d->culprits.length > before)
        d->culprits.data[before].silent = true;
    return error;
}

/* --- the search --- */

/* Whether a suspect that took a request and did not answer is explanation enough. That is so if a
 * loop polls a flag, since everything up to the request worked; or if the whole handler waits after
 * it. Otherwise another thread may still have the request. */
static bool is_enough(const struct search *search)
{
    return search->silent != ARGUS_NONE &&
           (search->position->requester != ARGUS_NONE || search->owing.owes);
}

/* Whether the wait may have been ended by a timer in its set of descriptors: a set is waited on for
 * many things. */
static bool is_timer_of_set(const struct diagnoser *d, const struct argus_wait *wait)
{
    return wait->outcome == ARGUS_OUTCOME_TIMED_OUT && wait_is_epoll(&d->view, wait);
}

/* Whether a thread was already waiting for whatever may come when the wait at the position began:
 * no thread has sent it a request since. */
static bool was_home_already(const struct search *search, const struct argus_vertex *waiter)
{
    uint8_t kind = waiter->wait.kind;
    bool is_open = kind == ARGUS_WAIT_POLL || kind == ARGUS_WAIT_SIGNAL;
    return is_open &&
           waiter->end_ns < search->shared.d->view.vertices[search->position->vertex].end_ns;
}

/* Whether a suspect that no request leads to was waiting for work, at a condition or in a poll: its
 * wait had begun before the searched one, and it had asked for nothing. */
static bool had_no_work(const struct search *search, const struct evidence *row,
                        const struct examined *examined)
{
    const struct view *view = &search->shared.d->view;
    if (!row || row->flags & EVIDENCE_OWED || examined->figures.type != ARGUS_TYPE_LONG_WAIT)
        return false;
    return waits_for_work(view, examined->figures.vertex,
                          view->vertices[search->position->vertex].end_ns);
}

/* Whether a suspect of `row` only waited for a thread on the path. That another thread could have
 * ended a wait, and waited too, does not mean that they waited for each other in two cases: the
 * first wait may have been for something else, or the second was for a child, which does not wait
 * for its parent. */
static bool only_waited(const struct search *search, const struct evidence *row, uint32_t thread,
                        const struct examined *examined)
{
    const struct diagnoser *d = search->shared.d;
    const struct view *view = &d->view;
    if (!row || !(row->flags & EVIDENCE_COULD_ONLY) ||
        examined->figures.type != ARGUS_TYPE_LONG_WAIT)
        return false;
    if (view->vertices[examined->figures.vertex].wait.kind == ARGUS_WAIT_CHILD &&
        diagnoser_find_step(d, thread) >= 0)
        return true;
    if (is_vague(row) && was_home_already(search, &view->vertices[examined->figures.vertex]))
        return true;
    uint32_t waker = waker_thread(view, examined->figures.vertex);
    return is_timer_of_set(d, &view->vertices[search->position->vertex].wait) &&
           waker != ARGUS_NONE && diagnoser_find_step(d, waker) >= 0;
}

/* Takes the idle holder of a lock as the explanation: it must release the lock, even in its home
 * wait. */
static struct argus_error *take_idle_holder(struct search *search, const struct examined *examined)
{
    struct diagnoser *d = search->shared.d;
    uint32_t vertex = examined->figures.vertex;
    search->decided = search->position->ended = true;
    long at = diagnoser_find_step(d, search->holder);
    if (at >= 0)
        return diagnoser_close_circle(d, (size_t)at);
    if (!diagnoser_add_step(d, vertex, ARGUS_NONE, true))
        return argus_error_memory();
    return diagnoser_blame_idle_holder(d, vertex,
                                       wait_window(&d->view, vertex, search->position->window));
}

/* Whether the path from index `first` on, and evidence of `row` for `suspect` after it, show that
 * the threads waited for each other. They do not if one of the threads could only have been waited
 * for: so could a thread that is merely idle. */
static bool is_circle(const struct search *search, size_t first, const struct suspect *suspect,
                      const struct evidence *row)
{
    const struct diagnoser *d = search->shared.d;
    bool vague = !makes_edge(search, suspect, row);
    for (size_t i = first + 1; !vague && i < d->path.length; i++)
        vague = d->path.data[i].vague;
    return !vague;
}

/* Whether a suspect was only woken by a thread that passed the request on in a message, to a thread
 * that took it and did not answer. */
static bool is_outdone(const struct search *search, const struct suspect *suspect)
{
    return suspect->woken && find_silent(search) != ARGUS_NONE;
}

/* Notes that the searched wait is for work from a thread on the path. The other suspects of the
 * same evidence are behind that thread. */
static void note_worker(struct search *search, const struct suspect *suspect,
                        const struct evidence *row)
{
    if (search->client.thread != ARGUS_NONE || is_vague(row) || makes_edge(search, suspect, row))
        return;
    search->client = *suspect;
    search->tried = search->suspects.length;
    search->shared.again = false;
}

/* Examines the new suspects, from `row` of the evidence; NULL: from other evidence. */
static struct argus_error *try_suspects(struct search *search, const struct evidence *row)
{
    struct diagnoser *d = search->shared.d;
    struct walk_position *position = search->position;
    struct argus_error *error = NULL;
    while (!error && !search->decided && !is_enough(search) &&
           search->tried < search->suspects.length) {
        struct suspect suspect = search->suspects.data[search->tried++];
        struct examined examined = diagnoser_examine_thread(d, suspect.thread, position->window);
        if (examined.figures.type == ARGUS_TYPE_LONG_WAIT && !examined.idle)
            examined.idle = came_back(search, &suspect, examined.figures.vertex) ||
                            had_no_work(search, row, &examined);
        suspect_note_duty(&search->shared, &suspect, position->window, &examined);
        if (suspect.thread == search->holder && examined.idle)
            return take_idle_holder(search, &examined);
        if (suspect.thread == search->holder) /* … or the holder */
            examined.abnormal = true;
        if (examined.idle)
            error = follow_idle_suspect(search, &suspect);
        if (error || !examined.abnormal || examined.idle || is_outdone(search, &suspect) ||
            only_waited(search, row, suspect.thread, &examined))
            continue;
        long at = diagnoser_find_step(d, suspect.thread);
        if (at >= 0 && !is_circle(search, (size_t)at, &suspect, row)) {
            note_worker(search, &suspect, row);
            continue;
        }
        search->decided = true;
        bool sure = row && row->flags & EVIDENCE_SURE && !suspect.guess;
        d->guessed |= row && !sure;
        error = sure ? NULL : note_guess(d, position->vertex, &suspect);
        if (error)
            return error;
        if (at < 0)
            return take_suspect(search, &suspect, &examined, row);
        position->ended = true;
        return diagnoser_close_circle(d, (size_t)at);
    }
    return error;
}

/* Whether the wait lasted as long as its thread had asked for: a timer of a runtime, a sleep on a
 * condition. Not for a poll of a socket or a pipe, which shows who should have ended it, and never
 * for the hung thread. */
static bool slept(const struct diagnoser *d, uint32_t vertex)
{
    const struct argus_wait *wait = &d->view.vertices[vertex].wait;
    return wait->outcome == ARGUS_OUTCOME_TIMED_OUT &&
           (wait->kind == ARGUS_WAIT_FUTEX || wait_is_epoll(&d->view, wait)) &&
           d->view.vertices[vertex].thread != d->hang.thread;
}

/* Blames the wait at the position itself. */
static struct argus_error *blame_position(struct search *search, enum argus_reason_kind because,
                                          uint32_t thread)
{
    return diagnoser_blame_waiting(search->shared.d, search->position->vertex,
                                   search->position->window, because, thread);
}

/* Blames the wait of a thread that waits for work from a thread on the path, which is a guess. */
static struct argus_error *blame_worker(struct search *search)
{
    struct diagnoser *d = search->shared.d;
    d->guessed = true;
    struct argus_error *error = note_guess(d, search->position->vertex, &search->client);
    return error ? error : blame_position(search, ARGUS_REASON_USUAL_SUSPECTS, ARGUS_NONE);
}

static struct argus_error *blame_nobody(struct search *search)
{
    struct diagnoser *d = search->shared.d;
    struct walk_position *position = search->position;
    bool is_slept = slept(d, position->vertex);
    position->ended = true;
    if (d->stopped)
        return blame_position(search, ARGUS_REASON_ANSWER_STOPPED, ARGUS_NONE);
    if (search->holder != ARGUS_NONE && d->view.threads[search->holder].vertex_count == 0)
        return blame_position(search, ARGUS_REASON_HOLDER_ABSENT, search->holder);
    uint32_t opener = find_silent_opener(&d->view, position->vertex);
    if (opener != ARGUS_NONE)
        return blame_position(search, ARGUS_REASON_OPENER_ABSENT, opener);
    if (search->client.thread != ARGUS_NONE)
        return blame_worker(search);
    if (search->idle != ARGUS_NONE && !is_slept)
        return blame_position(search, ARGUS_REASON_IDLE_SUSPECT, search->idle);
    if (search->awaited.remote != ARGUS_NONE)
        return diagnoser_blame_remote(d, position->vertex, position->window,
                                      window_ns(position->window), &search->awaited);
    if (is_slept)
        return blame_position(search, ARGUS_REASON_OWN_TIMEOUT, ARGUS_NONE);
    return blame_position(
        search, search->suspects.length > 0 ? ARGUS_REASON_USUAL_SUSPECTS : ARGUS_REASON_NO_SUSPECT,
        ARGUS_NONE);
}

/* Examines the suspects of one row of evidence, as often as the row has more. */
static struct argus_error *look_at_row(struct search *search, const struct evidence *row)
{
    struct argus_error *error = NULL;
    do {
        search->shared.again = false;
        error = row->find(&search->shared);
        if (!error && !search->shared.d->stopped)
            error = try_suspects(search, row);
    } while (!error && search->shared.again && !search->decided && search->silent == ARGUS_NONE &&
             !search->shared.d->stopped);
    return error;
}

/* Notes that the request was passed on to a thread that did not answer, or that the thread owes an
 * answer, which is a guess. */
static struct argus_error *note_silence(struct search *search)
{
    struct diagnoser *d = search->shared.d;
    if (search->silent != ARGUS_NONE && !search->owing.owes)
        return NULL;
    d->guessed = true;
    if (search->silent != ARGUS_NONE)
        return note_guess(d, search->position->vertex, &search->owing);
    const struct suspect *passed = &only_passed(search)->suspect;
    if (!diagnoser_add_step(d, passed->via, ARGUS_NONE, true))
        return argus_error_memory();
    return note_guess(d, search->position->vertex, passed);
}

/* `error`: of the search. */
static struct argus_error *end_search(struct search *search, struct argus_error *error)
{
    struct diagnoser *d = search->shared.d;
    uint32_t silent = find_silent(search);
    if (!error && !search->decided && !d->stopped && silent != ARGUS_NONE) {
        error = note_silence(search);
        error = error ? error : blame_silent(d, silent, search->position);
    } else if (!error && !search->decided) {
        error = blame_nobody(search);
    }
    vec_deinit(&search->suspects);
    return error;
}

static struct argus_error *begin_search(struct diagnoser *d, struct walk_position *position,
                                        struct search *ret)
{
    uint32_t vertex = position->vertex;
    *ret = (struct search){.shared = {.d = d, .vertex = vertex, .list = &ret->suspects},
                           .position = position,
                           .idle = ARGUS_NONE,
                           .silent = ARGUS_NONE,
                           .holder = ARGUS_NONE,
                           .client.thread = ARGUS_NONE};
    return awaited_remote_find(&d->view, vertex, !slept(d, vertex), &ret->awaited);
}

struct argus_error *diagnoser_explain_missing_from(struct diagnoser *d,
                                                   struct walk_position *position, uint32_t thread,
                                                   enum argus_reason_kind why)
{
    struct search search;
    struct argus_error *error = begin_search(d, position, &search);
    search.shared.polls = position->requester == position->vertex;
    if (!error && !suspect_search_add(&search.shared, thread, why))
        error = argus_error_memory();
    if (!error)
        error = try_suspects(&search, NULL);
    return end_search(&search, error);
}

static bool applies(const struct search *search, const struct evidence *row)
{
    const struct diagnoser *d = search->shared.d;
    uint32_t vertex = search->position->vertex;
    if (search->holder != ARGUS_NONE)
        return row->flags & EVIDENCE_OF_LOCK;
    if (d->view.vertices[vertex].wait.kind == ARGUS_WAIT_CHILD)
        return row->flags & EVIDENCE_OF_CHILD;
    return !(row->flags & EVIDENCE_COULD_ONLY) || !slept(d, vertex);
}

/* Whether enough is known without vague evidence. The address that the thread asked last is a
 * better guess than a thread with which it had to do before; a wait for a child is for no address.
 */
static bool is_known(const struct search *search)
{
    return search->awaited.remote != ARGUS_NONE || find_silent(search) != ARGUS_NONE ||
           search->client.thread != ARGUS_NONE;
}

struct argus_error *diagnoser_explain_missing(struct diagnoser *d, struct walk_position *position)
{
    struct search search;
    struct argus_error *error = begin_search(d, position, &search);
    search.holder = file_lock_find_holder(&d->view, position->vertex);
    for (size_t i = 0; !error && !search.decided && !d->stopped && i < all_evidence_count; i++) {
        if (((all_evidence[i].flags & EVIDENCE_VAGUE) && is_known(&search)) || is_enough(&search))
            break;
        if (applies(&search, &all_evidence[i]))
            error = look_at_row(&search, &all_evidence[i]);
    }
    return end_search(&search, error);
}
