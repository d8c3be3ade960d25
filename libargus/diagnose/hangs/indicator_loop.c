/* The event-loop indicator: stretches from each home wait of a thread to the next (habits.h).
 *
 * A wait at the home's place for an answer to the thread's own request is part of a handler if
 * something else was pending meanwhile (the thread did not look at it), and idleness if nothing was
 * (the thread would have looked).
 *
 * Three things show that a thread came back to its loop:
 *   - a poll that blocked (a vertex ends in it);
 *   - a poll that returned at once (a visit: argus_graph_visits());
 *   - a turn that a toolkit's probe reports (ARGUS_VERTEX_LOOP).
 * habits.c finds out which polls are homes and not part of some handler. A visit counts if its call
 * has the arguments of a home's poll.
 */
#include "diagnose/hangs/answered_waits.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/nesting.h"

/* After so many reported turns, a toolkit's loop is believed to be one. */
#define LOOP_TURNS 3
/* Vertices that are looked at to find the poll of a turn. */
#define MOST_IN_TURN 256
/* At most so many homes' polls with different arguments are told apart. */
#define MOST_HOMES 8
/* Shorter waits for an answer are ignored. */
#define SHORTEST_IDLE_NS 5000000ull

/* A thread that is runnable for most of a stretch of this length is starved, and stays so across
 * turns of its loop that are shorter than this: with a quota of a few milliseconds per second, a
 * loop turns once a second, and its window seems frozen. Then the next stretch counts, too, if the
 * thread is runnable for half of it. */
#define SHORTEST_STARVED_NS   250000000ull
#define STARVED_PERCENT       80u
#define STILL_STARVED_PERCENT 50u
#define LONGEST_TURN_NS       100000000ull

/* No message that is on its way takes as long. */
#define LONG_REST_NS 100000000ull

/* The scan of one thread. */
struct scan {
    struct finder *finder;
    const struct view *view;
    const struct habits *habits;
    struct {
        uint64_t object;
        uint16_t syscall;
    } homes[MOST_HOMES]; /* the calls of the homes */
    size_t home_count;
    const struct habit *turns_at;      /* find_turns_at() */
    const struct argus_visits *visits; /* of the thread, and the next one to look at */
    size_t visit_count;
    bool turns;                /* a toolkit reports the loop's turns */
    bool in_handler;           /* a handler's poll was seen since the thread last came back */
    struct argus_hang starved; /* the starved stretch so far; end_ns 0: none */
    bool starved_sure;
};

/* The habit of a poll for whatever may come, or of what a loop does instead of polling. */
static const struct habit *loop_habit(const struct scan *scan, uint32_t vertex)
{
    const struct habit *habit = habits_of(scan->habits, &scan->view->vertices[vertex]);
    if (!habit || habit->nested)
        return NULL;
    if (habit->loop)
        return habit;
    bool is_loop = habit->kind == ARGUS_WAIT_POLL && !habit->answers &&
                   !is_in_conversation(scan->habits, scan->view, vertex);
    return is_loop && !is_answered_wait(scan->view, vertex) ? habit : NULL;
}

static bool is_home_call(const struct scan *scan, uint16_t syscall, uint64_t object)
{
    for (size_t i = 0; i < scan->home_count; i++)
        if (scan->homes[i].syscall == syscall && scan->homes[i].object == object)
            return true;
    return false;
}

static void find_homes(struct scan *scan, uint32_t thread)
{
    const struct argus_thread *t = &scan->view->threads[thread];
    uint32_t turns = 0;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &scan->view->vertices[v];
        const struct habit *habit = habits_of(scan->habits, vertex);
        turns += (vertex->flags & ARGUS_VERTEX_LOOP) != 0;
        if (!habit || !habit->home || habit->kind != ARGUS_WAIT_POLL ||
            scan->home_count == MOST_HOMES ||
            is_home_call(scan, vertex->wait.syscall, vertex->wait.object))
            continue;
        scan->homes[scan->home_count].syscall = vertex->wait.syscall;
        scan->homes[scan->home_count++].object = vertex->wait.object;
    }
    scan->turns = turns >= LOOP_TURNS;
}

/* The place at which the turns that a toolkit reports poll, if there is no other one, and the
 * thread came back to it at least once; too seldom, in this trace, to be known as a home. NULL:
 * there is none, or a home is known. */
static const struct habit *find_turns_at(const struct scan *scan, uint32_t thread)
{
    const struct argus_thread *t = &scan->view->threads[thread];
    const struct habit *place = NULL;
    if (!scan->turns || scan->home_count)
        return NULL;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &scan->view->vertices[v];
        const struct habit *habit = habits_of(scan->habits, vertex);
        if (!habit || habit->kind != ARGUS_WAIT_POLL || !(vertex->flags & ARGUS_VERTEX_LOOP))
            continue;
        if (place && place != habit)
            return NULL;
        place = habit;
    }
    bool clear = place && habit_is_clear(scan->view->graph, place->user_stack);
    return clear && !place->nested && place->count >= 2 ? place : NULL;
}

/* Adds a stretch. A thread that polled too seldom in this trace to be known as an event loop may
 * have been too busy for it. */
static bool add_stretch(struct scan *scan, struct argus_hang hang, bool sure)
{
    if (hang.end_ns < hang.start_ns ||
        hang.end_ns - hang.start_ns < finder_threshold(scan->finder, &hang))
        return true;
    hang.vertex = ARGUS_NONE;
    hang_measure(scan->view, &hang);
    if (!sure && hang.type != ARGUS_TYPE_LONG_RUNNING)
        return true;
    return hang_is_unnoticed(scan->finder, scan->habits, &hang, sure) ||
           finder_add(scan->finder, &hang);
}

static bool is_starved(const struct scan *scan, struct argus_hang hang, unsigned percent)
{
    uint64_t length_ns = hang.end_ns > hang.start_ns ? hang.end_ns - hang.start_ns : 0;
    if (length_ns < SHORTEST_STARVED_NS)
        return false;
    hang.vertex = ARGUS_NONE;
    hang_measure(scan->view, &hang);
    return hang.runnable_ns >= length_ns / 100 * percent;
}

/* Adds the starved stretches so far, as one. */
static bool end_starved(struct scan *scan)
{
    struct argus_hang hang = scan->starved;
    scan->starved.end_ns = 0;
    return hang.end_ns == 0 || add_stretch(scan, hang, scan->starved_sure);
}

/* Adds a stretch away from the loop, unless it is short. */
static bool add_if_long(struct scan *scan, struct argus_hang hang, bool sure)
{
    bool goes_on = scan->starved.end_ns && hang.start_ns <= scan->starved.end_ns + LONGEST_TURN_NS;
    if (!is_starved(scan, hang, goes_on ? STILL_STARVED_PERCENT : STARVED_PERCENT))
        return add_stretch(scan, hang, sure);
    if (goes_on) {
        scan->starved.end_ns = hang.end_ns;
        scan->starved.ongoing = hang.ongoing;
        return true;
    }
    bool done = end_starved(scan);
    scan->starved = hang;
    scan->starved_sure = sure;
    return done;
}

/* Whether the visits may be a search's own, for which something was there at once. */
static bool are_of_search(const struct scan *scan, const struct argus_visits *visits,
                          const struct habit *habit)
{
    return habit->searches && habit->syscall == visits->syscall &&
           !call_names_set(scan->view->graph, visits->syscall);
}

/* Whether the poll at `vertex`, or the nearest one that had to wait (`step` 1: after it, -1: before
 * it), is in a handler's loop that does not take what the home would take, or that lasts until a
 * child has ended whatever it takes. */
static bool is_ignoring_poll(const struct scan *scan, const struct argus_visits *visits,
                             uint32_t vertex, int step)
{
    uint32_t v = vertex;
    for (int i = 0; i < MOST_IN_TURN && v != ARGUS_NONE; i++) {
        const struct habit *habit = habits_of(scan->habits, &scan->view->vertices[v]);
        if (habit && habit->kind == ARGUS_WAIT_POLL)
            return habit->nested && (habit->ignores_pending || habit_asks_for_children(habit) ||
                                     are_of_search(scan, visits, habit));
        v = step > 0 ? timeline_next(scan->view, v) : argus_graph_previous(scan->view->graph, v);
    }
    return false;
}

/* Whether polls that returned at once show that the thread came back to its home. A handler's loop
 * may poll with the home's arguments; then the nearest polls that had to wait decide. */
static bool are_home_visits(const struct scan *scan, const struct argus_visits *visits)
{
    if (!is_home_call(scan, visits->syscall, visits->object))
        return false;
    uint32_t v = timeline_before(scan->view, visits->thread, visits->first_ns + 1);
    if (v != ARGUS_NONE && habits_in_signal(scan->habits, scan->view, v))
        return false;
    return v == ARGUS_NONE || !is_ignoring_poll(scan, visits, v, 1) ||
           !is_ignoring_poll(scan, visits, argus_graph_previous(scan->view->graph, v), -1);
}

/* Adds the parts of a stretch that are between visits. */
static bool add_between_visits(struct scan *scan, const struct argus_hang *whole, bool sure)
{
    struct argus_hang part = *whole;
    bool done = true;
    part.ongoing = false;
    for (; done && scan->visit_count && scan->visits->first_ns < whole->end_ns;
         scan->visits++, scan->visit_count--) {
        const struct argus_visits *visits = scan->visits;
        if (visits->first_ns < part.start_ns || !are_home_visits(scan, visits))
            continue;
        part.end_ns = visits->first_ns;
        done = add_if_long(scan, part, sure);
        part.start_ns = visits->gap_start_ns;
        part.end_ns = visits->gap_end_ns;
        if (part.end_ns <= whole->end_ns) /* otherwise it belongs to the stretches after this one */
            done = done && add_if_long(scan, part, sure);
        part.start_ns = visits->last_ns;
    }
    part.end_ns = whole->end_ns;
    part.ongoing = whole->ongoing;
    return done && add_if_long(scan, part, sure);
}

/* Whether anything is pending. UI events that the thread read afterwards may be what ended the
 * wait; if they were pending before, so were their messages. */
static bool is_anything_pending(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    struct argus_hang wait = {.start_ns = v->end_ns,
                              .end_ns = timeline_wait_end(view, vertex),
                              .thread = v->thread,
                              .vertex = vertex};
    struct argus_pendings pendings;
    struct argus_error *error = argus_pending_find(view->graph, &wait, &pendings);
    if (error) {
        argus_error_destroy(error);
        return true;
    }
    bool any = pendings_any(&pendings, 1u << ARGUS_PENDING_UI_EVENT);
    argus_pendings_deinit(&pendings);
    return any;
}

/* Whether `vertex` ends in a wait for an answer at the home's place, while nothing else was
 * pending. */
static bool is_idle_answer(const struct scan *scan, uint32_t vertex)
{
    const struct argus_vertex *v = &scan->view->vertices[vertex];
    const struct habit *habit = habits_of(scan->habits, v);
    return habit && habit->home && habit->kind == ARGUS_WAIT_POLL &&
           timeline_wait_end(scan->view, vertex) - v->end_ns >= SHORTEST_IDLE_NS &&
           !is_anything_pending(scan->view, vertex);
}

/* Adds the parts of a stretch between the waits in which the thread was idle after all. `first`:
 * the stretch's first vertex. */
static bool add_parts(struct scan *scan, const struct argus_hang *whole, uint32_t first, bool sure)
{
    struct argus_hang part = *whole;
    bool done = true;
    part.ongoing = false;
    for (uint32_t v = first; done && v != ARGUS_NONE; v = timeline_next(scan->view, v)) {
        if (scan->view->vertices[v].end_ns >= whole->end_ns)
            break;
        if (whole->end_ns - part.start_ns < finder_threshold(scan->finder, &part))
            break;
        if (!is_idle_answer(scan, v))
            continue;
        part.end_ns = scan->view->vertices[v].end_ns;
        done = add_between_visits(scan, &part, sure);
        part.start_ns = timeline_wait_end(scan->view, v);
        part.end_ns = whole->end_ns;
    }
    part.ongoing = whole->ongoing;
    return done && add_between_visits(scan, &part, sure);
}

/* A place where a stretch can end. */
struct stop {
    uint64_t end_ns;   /* of the stretch before */
    uint64_t start_ns; /* of the next one */
    uint32_t first;    /* the first vertex of the next one */
    bool home;         /* certainly the loop's */
    bool back;         /* the thread came back; otherwise its records end here */
};

/* Whether the turn with which `vertex` begins is one of the thread's loop, and not of a loop with
 * other sources that a handler runs. The poll of that turn, or of the next turn that has to wait,
 * decides. */
static bool is_own_turn(const struct scan *scan, uint32_t vertex)
{
    uint32_t v = vertex;
    for (int i = 0; i < MOST_IN_TURN && v != ARGUS_NONE; i++, v = timeline_next(scan->view, v)) {
        const struct argus_vertex *at = &scan->view->vertices[v];
        const struct habit *habit = habits_of(scan->habits, at);
        if (habit && habit->kind == ARGUS_WAIT_POLL && (at->flags & ARGUS_VERTEX_LOOP))
            return !habit->nested;
    }
    return !scan->in_handler;
}

/* The same as loop_habit(). A thread that serves the main thread may mostly get answers in its
 * loop. */
static const struct habit *loop_habit_of_turns(const struct scan *scan, uint32_t vertex)
{
    const struct view *view = scan->view;
    const struct argus_vertex *v = &view->vertices[vertex];
    bool is_main = view->processes[view->threads[v->thread].process].main_thread == v->thread;
    const struct habit *habit = habits_of(scan->habits, v);
    return habit && habit == scan->turns_at && !is_main ? habit : loop_habit(scan, vertex);
}

/* Whether the thread is back in its loop in `vertex`. A poll in the middle of a handler counts only
 * if there is no other home (`from_home`: the stretch began in a home wait). */
static bool find_stop(const struct scan *scan, uint32_t v, bool from_home, struct stop *ret)
{
    const struct argus_vertex *vertex = &scan->view->vertices[v];
    const struct habit *habit = loop_habit_of_turns(scan, v);
    if (scan->turns && (vertex->flags & ARGUS_VERTEX_LOOP) && !habit && is_own_turn(scan, v) &&
        !habits_in_signal(scan->habits, scan->view, v)) {
        *ret = (struct stop){vertex->start_ns, vertex->start_ns, v, true, true};
        return true;
    }
    bool must_be_home = from_home || habits_resumes(scan->habits, scan->view, v);
    bool is_home = habit && (habit->home || habit == scan->turns_at);
    if (!habit || (must_be_home && !is_home))
        return false;
    *ret = (struct stop){vertex->end_ns, timeline_wait_end(scan->view, v), v + 1, is_home, true};
    if (vertex->flags & ARGUS_VERTEX_YIELDS) /* turns of a poll with a short time-out are idle */
        ret->end_ns = vertex->start_ns;
    return true;
}

static void note_handler(struct scan *scan, uint32_t v, bool back)
{
    const struct habit *habit = habits_of(scan->habits, &scan->view->vertices[v]);
    scan->in_handler = !back && (scan->in_handler || (habit && habit->nested));
}

/* Adds the stretch with which the thread's records end, if its loop's last turn begins in its last
 * vertex: the thread never came back from that turn. */
static bool add_last_turn(struct scan *scan, struct argus_hang hang, uint32_t first)
{
    const struct argus_thread *t = &scan->view->threads[hang.thread];
    if (first != t->first_vertex + t->vertex_count - 1)
        return true;
    hang.end_ns = timeline_wait_end(scan->view, first);
    hang.ongoing = !(scan->view->vertices[first].flags & ARGUS_VERTEX_EXITED);
    return add_parts(scan, &hang, first, true);
}

static bool scan_thread(struct scan *scan, uint32_t thread)
{
    const struct argus_thread *t = &scan->view->threads[thread];
    struct argus_hang hang = {.thread = thread, .indicator = ARGUS_INDICATOR_EVENT_LOOP};
    bool done = true, away = false, from_home = false;
    uint32_t first = t->first_vertex;
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &scan->view->vertices[v];
        bool is_last = timeline_next(scan->view, v) == ARGUS_NONE;
        struct stop stop = {.end_ns = timeline_wait_end(scan->view, v)};
        /* In the thread's last vertex, any poll that is not a handler's is believed to be the
         * home's. */
        bool found = find_stop(scan, v, away && from_home && !is_last, &stop);
        note_handler(scan, v, found);
        if (!found && !is_last)
            continue;
        hang.end_ns = stop.end_ns;
        hang.ongoing = !stop.back && !(vertex->flags & ARGUS_VERTEX_EXITED);
        if (away)
            done = add_parts(scan, &hang, first, from_home);
        first = stop.first;
        away = stop.back;
        from_home = stop.home;
        hang.start_ns = stop.start_ns;
    }
    if (done && away && from_home)
        done = add_last_turn(scan, hang, first);
    return done && end_starved(scan);
}

/* When the program of a main thread was started, if the trace shows that; 0: it does not, or the
 * thread is not a main thread. */
static uint64_t started_ns(const struct view *view, uint32_t thread)
{
    const struct argus_process *process = &view->processes[view->threads[thread].process];
    if (process->main_thread != thread)
        return 0;
    return process->exec_ns > process->start_ns ? process->exec_ns : process->start_ns;
}

/* Finds the first long poll of a thread with windows that polled too seldom to be known as a loop:
 * it rests there all the same, unless it leaves unread there what the display server sends. */
static bool find_rest(const struct scan *scan, uint32_t thread, struct stop *ret)
{
    const struct argus_thread *t = &scan->view->threads[thread];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &scan->view->vertices[v];
        uint64_t back_ns = timeline_wait_end(scan->view, v);
        if (!loop_habit(scan, v) || back_ns - vertex->end_ns < LONG_REST_NS ||
            thread_leaves_display_unread(scan->view, thread, vertex->start_ns,
                                         back_ns - LONG_REST_NS))
            continue;
        *ret = (struct stop){vertex->end_ns, back_ns, v + 1, true, true};
        return finder_has_windows(scan->finder, thread);
    }
    return false;
}

/* The stretch from a program's start until its main thread first reaches its loop, or until the end
 * of the trace. It counts if something was pending by then, or if a program with windows spent it
 * in one wait, or without a cpu. */
static bool add_start(struct scan *scan, struct argus_hang hang)
{
    struct argus_hang measured = hang;
    uint64_t threshold_ns = finder_threshold(scan->finder, &measured);
    if (hang.end_ns < hang.start_ns || hang.end_ns - hang.start_ns < threshold_ns)
        return true;
    hang_measure(scan->view, &measured);
    if (start_up_starves(scan->finder, &measured, threshold_ns)) {
        scan->starved = hang; /* the loop's first turns may be a part of it */
        scan->starved_sure = true;
        return true;
    }
    bool counts = (!hang.ongoing && hang_leaves_message(scan->view, &measured)) ||
                  start_up_waits(scan->finder, &measured, threshold_ns);
    return !counts || finder_add(scan->finder, &measured);
}

/* Whether the thread's first record shows that something was typed in the terminal which it
 * reads. */
static bool begins_with_keys(const struct scan *scan, uint32_t thread)
{
    for (size_t i = 0; i < scan->habits->items.length; i++)
        if (scan->habits->items.data[i].kind == ARGUS_WAIT_READ &&
            input_is_brought(&scan->habits->items.data[i]))
            return begins_with_input(scan->view, thread);
    return false;
}

static bool scan_before(struct scan *scan, uint32_t thread)
{
    const struct argus_thread *t = &scan->view->threads[thread];
    struct argus_hang hang = {.start_ns = started_ns(scan->view, thread),
                              .thread = thread,
                              .vertex = ARGUS_NONE,
                              .indicator = ARGUS_INDICATOR_EVENT_LOOP};
    struct stop stop = {.end_ns = UINT64_MAX}; /* no stop: the loop was not reached */
    uint32_t v = t->first_vertex, end = t->first_vertex + t->vertex_count;
    while (v < end && !(find_stop(scan, v, true, &stop) && stop.home))
        v++;
    if (hang.start_ns == 0 && v < end && begins_with_keys(scan, thread)) {
        hang.start_ns = scan->view->vertices[t->first_vertex].start_ns;
        hang.end_ns = stop.end_ns;
        return add_parts(scan, &hang, t->first_vertex, true);
    }
    if (hang.start_ns == 0 && t->vertex_count)
        return busy_before_loop(scan->finder, scan->habits, thread,
                                v == end ? UINT64_MAX : stop.end_ns);
    if (hang.start_ns == 0)
        return true;
    hang.ongoing = v == end && !find_rest(scan, thread, &stop);
    if (hang.ongoing && scan->view->vertices[end - 1].flags & ARGUS_VERTEX_EXITED)
        return true;
    hang.end_ns = hang.ongoing ? timeline_wait_end(scan->view, end - 1) : stop.end_ns;
    return add_start(scan, hang);
}

/* A loop that never had to wait, because something was pending whenever it polled, is known only by
 * its visits. The longest time between two of them counts if something was pending. */
static bool scan_visits(struct scan *scan)
{
    bool done = true;
    for (size_t i = 0; done && i < scan->visit_count; i++) {
        const struct argus_visits *visits = &scan->visits[i];
        struct argus_hang hang = {.start_ns = visits->gap_start_ns,
                                  .end_ns = visits->gap_end_ns,
                                  .thread = visits->thread,
                                  .vertex = ARGUS_NONE,
                                  .indicator = ARGUS_INDICATOR_EVENT_LOOP};
        if (visits->count < LOOP_TURNS ||
            hang.end_ns - hang.start_ns < finder_threshold(scan->finder, &hang))
            continue;
        hang_measure(scan->view, &hang);
        done = !hang_leaves_message(scan->view, &hang) ||
               hang_is_unnoticed(scan->finder, scan->habits, &hang, false) ||
               finder_add(scan->finder, &hang);
    }
    return done;
}

bool indicator_loop(struct finder *finder, uint32_t thread)
{
    struct habits habits;
    struct scan scan = {.finder = finder, .view = finder->view, .habits = &habits};
    bool done = habits_find(finder->view, thread, &habits);
    if (done) {
        find_homes(&scan, thread);
        scan.visit_count = argus_graph_thread_visits(scan.view->graph, thread, &scan.visits);
        size_t found = finder->found.length;
        done = scan_before(&scan, thread);
        scan.turns_at = find_turns_at(&scan, thread); /* a start may wait in such a turn */
        done = done && scan_thread(&scan, thread) && nested_answers(finder, &habits, thread);
        if (done && finder->sees_pending && scan.home_count == 0 && finder->found.length == found)
            done = scan_visits(&scan);
        if (done && finder->found.length == found)
            done = waits_at_end(finder, thread);
    }
    habits_deinit(&habits);
    return done;
}
