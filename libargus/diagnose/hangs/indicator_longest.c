/* The LONGEST indicator: the user named a process, none of its event loops hung, and still there
 * should be something to explain.
 *
 * Every run, yield loop and wait is a candidate. The longest wins, after a weight for how much it
 * looks like idleness; a wait does not look like idleness while something is pending that it does
 * not take. Weights are per mille.
 *
 * A program's start, before it has asked for any input, ranks behind what the program did later: a
 * user who complains of a freeze has seen the program run. The start is taken if nothing else of
 * some length looks like a hang.
 */
#include <string.h>

#include "diagnose/file_locks.h"
#include "diagnose/hangs/answered_waits.h"
#include "diagnose/hangs/finder.h"

/* Vertices with waits of at most this between them are one run: page-ins, a lock now and then. */
#define RUN_PAUSE_NS 10000000ull
/* A loop of short waits may be interrupted for so long and still be the same loop. */
#define LOOP_PAUSE_NS 100000000ull

enum {
    WEIGHT_PLAIN = 1000,
    WEIGHT_UNUSUAL = 1500,     /* much longer than other waits of its habit */
    WEIGHT_ASKED_FOR = 200,    /* a sleep: it lasted as long as the thread had asked for */
    WEIGHT_UNUSUAL_IDLE = 400, /* a home wait, but much longer than ever before */
    WEIGHT_HOME = 100,         /* idle in a read or a lock */
    WEIGHT_ACCEPT = 50,        /* a server without clients */
    WEIGHT_EVENT_LOOP = 20,    /* idle in an event loop */
    WEIGHT_POLLING_LOOP = 300, /* an event loop with a short time-out, perhaps idle */
};

/* A stretch may be so many times shorter than the program's start and still rank before it. */
#define START_UP_TIMES 10
/* For shorter waits it is not checked whether something was pending. */
#define SHORTEST_AWAITED_NS 50000000ull
/* Of the search for tries to get locks: about half a second. */
#define LOCK_STEPS 100000000u

struct choice {
    uint64_t score;
    unsigned weight;
    struct argus_hang hang;
};

struct best {
    const struct argus_hang_options *options;
    struct choice start_up, later;
    uint64_t asked_ns; /* when the start of the current thread was over */
    uint64_t steps;    /* for lock_tries_find_run() */
};

static void consider(struct best *best, uint32_t thread, uint64_t start_ns, uint64_t end_ns,
                     uint32_t vertex, unsigned weight)
{
    uint64_t asked_ns = best->asked_ns; /* a run may go on for a while after that */
    bool in_start_up =
        start_ns < asked_ns && (end_ns <= asked_ns || end_ns - asked_ns <= asked_ns - start_ns);
    struct choice *choice = in_start_up ? &best->start_up : &best->later;
    uint64_t score = (uint64_t)((unsigned __int128)(end_ns - start_ns) * weight / 1000);
    if (start_ns >= end_ns || score <= choice->score ||
        !hang_is_at_time(best->options, start_ns, end_ns))
        return;
    choice->score = score;
    choice->weight = weight;
    choice->hang = (struct argus_hang){.start_ns = start_ns,
                                       .end_ns = end_ns,
                                       .thread = thread,
                                       .vertex = vertex,
                                       .indicator = ARGUS_INDICATOR_LONGEST};
}

static const struct choice *choose(const struct best *best)
{
    const struct choice *start_up = &best->start_up, *later = &best->later;
    bool like_a_hang =
        later->weight >= WEIGHT_PLAIN && later->score >= start_up->score / START_UP_TIMES;
    return later->score >= start_up->score || like_a_hang ? later : start_up;
}

static bool is_unusual(const struct habit *habit, uint64_t wait_ns)
{
    return habit->count >= 4 && wait_ns / 5 >= habit->median_ns;
}

/* Whether the wait of `vertex` was for another thread of its process to end. */
static bool is_join(const struct view *view, uint32_t vertex)
{
    uint32_t next = timeline_next(view, vertex);
    uint32_t cause = next == ARGUS_NONE ? ARGUS_NONE : argus_graph_cause(view->graph, next);
    if (cause == ARGUS_NONE || view->vertices[vertex].wait.kind != ARGUS_WAIT_FUTEX)
        return false;
    const struct argus_vertex *waker = &view->vertices[view->edges[cause].from];
    return (waker->flags & ARGUS_VERTEX_EXITED) && waker->wait.kind == ARGUS_WAIT_NONE;
}

/* A thread that waits for most of its life for a helper thread's end has nothing else to do. */
static bool is_launcher(const struct view *view, uint32_t vertex, uint64_t wait_ns)
{
    const struct argus_thread *t = &view->threads[view->vertices[vertex].thread];
    uint32_t last = t->first_vertex + t->vertex_count - 1;
    uint64_t life = timeline_wait_end(view, last) - view->vertices[t->first_vertex].start_ns;
    return wait_ns >= life / 100 * 97;
}

static unsigned weigh_wait(const struct view *view, uint32_t vertex, const struct habit *habit,
                           uint64_t wait_ns)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    bool unusual = is_unusual(habit, wait_ns);
    bool helper = wait->kind == ARGUS_WAIT_CHILD || is_join(view, vertex);
    if (wait->kind == ARGUS_WAIT_SLEEP || (helper && is_launcher(view, vertex, wait_ns)))
        return unusual ? WEIGHT_UNUSUAL_IDLE : WEIGHT_ASKED_FOR;
    if (wait->kind == ARGUS_WAIT_SIGNAL)
        return WEIGHT_HOME;
    if (wait->kind == ARGUS_WAIT_READ && is_for_clients(view, vertex))
        return WEIGHT_ACCEPT;
    if (habit->home && !is_answered_wait(view, vertex))
        return unusual                         ? WEIGHT_UNUSUAL_IDLE
               : wait->kind == ARGUS_WAIT_POLL ? WEIGHT_EVENT_LOOP
                                               : WEIGHT_HOME;
    if (wait->kind == ARGUS_WAIT_READ && wait->object == 0) /* standard input */
        return WEIGHT_HOME;
    return unusual ? WEIGHT_UNUSUAL : WEIGHT_PLAIN;
}

/* Whether something other than what ended the wait of `vertex` came for the thread during it. */
static bool is_awaited(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_hang wait = {.start_ns = v->end_ns,
                                    .end_ns = timeline_wait_end(view, vertex),
                                    .thread = v->thread,
                                    .vertex = vertex};
    return hang_leaves_message(view, &wait);
}

static void consider_wait(const struct view *view, const struct habits *habits, uint32_t vertex,
                          struct best *best)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct habit *habit = habits_of(habits, v);
    uint64_t end = timeline_wait_end(view, vertex);
    if (!habit || end <= v->end_ns)
        return;
    unsigned weight = weigh_wait(view, vertex, habit, end - v->end_ns);
    bool looks_idle = weight < WEIGHT_PLAIN && end - v->end_ns >= SHORTEST_AWAITED_NS &&
                      end - v->end_ns > best->later.score;
    if (looks_idle && is_awaited(view, vertex))
        weight = WEIGHT_PLAIN;
    consider(best, v->thread, v->end_ns, end, vertex, weight);
}

/* A loop of short waits that consists of several vertices, because the scheduler delayed it or a
 * page fault came in between. */
struct loop {
    const struct habit *habit; /* of its waits; NULL: no loop */
    uint64_t start_ns, turned_ns /* the end of its last wait */;
    bool turns;      /* at least one of its vertices was merged from several turns */
    uint32_t sleeps; /* vertices that were not */
};

/* So many sleeps in a row at the same place are a loop with long pauses. */
#define FEWEST_SLEEPS 3

/* Whether `vertex`, whose wait of `habit` ended at `end_ns`, belongs to the loop. If the loop is
 * over, a new one begins. Work before a loop's first wait is not part of it. */
static bool loop_goes_on(struct loop *loop, const struct argus_vertex *vertex,
                         const struct habit *habit, uint64_t end_ns)
{
    if (loop->habit && loop->habit == habit && vertex->start_ns <= loop->turned_ns + LOOP_PAUSE_NS)
        return true;
    if (loop->habit && loop->turns && end_ns <= loop->turned_ns + LOOP_PAUSE_NS)
        return false; /* an interruption so far */
    bool turns = vertex->flags & ARGUS_VERTEX_YIELDS;
    *loop = (struct loop){.habit = habit, .start_ns = turns ? vertex->start_ns : vertex->end_ns};
    return habit != NULL;
}

/* A loop of sched_yield() is a single vertex. */
static void consider_yields(const struct view *view, const struct habits *habits, uint32_t thread,
                            struct best *best)
{
    const struct argus_thread *t = &view->threads[thread];
    struct loop loop = {.habit = NULL};
    bool steps = false;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        unsigned weight = vertex->wait.kind == ARGUS_WAIT_POLL ? WEIGHT_POLLING_LOOP : WEIGHT_PLAIN;
        uint64_t end_ns = timeline_wait_end(view, v);
        bool yields = is_yielding(view, v);
        if (stepping_holds(view, v, &steps) && loop.habit) {
            loop.turned_ns = end_ns;
            continue;
        }
        bool member = loop_goes_on(&loop, vertex, habits_of(habits, vertex), end_ns);
        loop.turns |= member && yields && (vertex->flags & ARGUS_VERTEX_YIELDS);
        loop.turned_ns = member ? end_ns : loop.turned_ns;
        loop.sleeps += member && vertex->wait.kind == ARGUS_WAIT_SLEEP;
        if (member && loop.turns)
            consider(best, thread, loop.start_ns, vertex->end_ns, ARGUS_NONE, weight);
        else if (loop.sleeps >= FEWEST_SLEEPS && member)
            consider(best, thread, loop.start_ns, end_ns, ARGUS_NONE, WEIGHT_ASKED_FOR);
        else if (yields)
            consider(best, thread, vertex->start_ns, vertex->end_ns, v, weight);
    }
}

/* Considers loops that look for a lock on a file, however long they sleep in between. */
static void consider_tries(const struct view *view, uint32_t thread, struct best *best)
{
    struct lock_tries tries;
    for (uint64_t from_ns = 0; lock_tries_find_run(view, thread, from_ns, &best->steps, &tries);
         from_ns = tries.last_ns + 1) {
        uint32_t last = timeline_before(view, thread, tries.last_ns + 1);
        bool goes_on = last != ARGUS_NONE && timeline_next(view, last) == ARGUS_NONE;
        consider(best, thread, tries.first_ns,
                 goes_on ? timeline_wait_end(view, last) : tries.last_ns, ARGUS_NONE, WEIGHT_PLAIN);
    }
}

/* A run that lasts until a wait of some length. */
struct run {
    uint64_t start_ns, busy_ns;
    bool open;
};

static bool is_on_lock(const struct view *view, uint32_t vertex)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    return wait->kind == ARGUS_WAIT_FUTEX && wait->object;
}

/* Considers waits for locks in pieces: each piece has a time-out, after which the thread checks the
 * lock and waits again, until another thread ends the last piece. Monitors of Java wait like this.
 * (A sleep in pieces is ended by its own clock.) */
static void consider_pieces(const struct view *view, const struct habits *habits, uint32_t thread,
                            struct best *best)
{
    const struct argus_thread *t = &view->threads[thread];
    uint32_t first = ARGUS_NONE;
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        const struct argus_wait *wait = &vertex->wait;
        const struct habit *habit = habits_of(habits, vertex);
        if (!is_on_lock(view, v) ||
            (wait->outcome != ARGUS_OUTCOME_TIMED_OUT && first == ARGUS_NONE)) {
            first = ARGUS_NONE;
            continue;
        }
        if (first == ARGUS_NONE || view->vertices[first].wait.object != wait->object ||
            vertex->run_ns + vertex->runnable_ns > RUN_PAUSE_NS)
            first = wait->outcome == ARGUS_OUTCOME_TIMED_OUT ? v : ARGUS_NONE;
        if (first == ARGUS_NONE || wait->outcome == ARGUS_OUTCOME_TIMED_OUT)
            continue;
        uint64_t start_ns = view->vertices[first].end_ns, end_ns = timeline_wait_end(view, v);
        first = ARGUS_NONE;
        if (wait->outcome == ARGUS_OUTCOME_SATISFIED && habit)
            consider(best, thread, start_ns, end_ns, ARGUS_NONE,
                     weigh_wait(view, v, habit, end_ns - start_ns));
    }
}

/* Considers runs: vertices with short waits between them that are busy for more than half of their
 * time. */
static void consider_runs(const struct view *view, uint32_t thread, struct best *best)
{
    const struct argus_thread *t = &view->threads[thread];
    struct run run = {.open = false};
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        if (is_yielding(view, v)) {
            run = (struct run){.open = false};
            continue;
        }
        if (!run.open)
            run = (struct run){.start_ns = vertex->start_ns, .open = true};
        run.busy_ns += vertex->run_ns + vertex->runnable_ns;
        bool busy = run.busy_ns >= (vertex->end_ns - run.start_ns) / 2;
        if (busy)
            consider(best, thread, run.start_ns, vertex->end_ns, ARGUS_NONE, WEIGHT_PLAIN);
        run.open = busy && timeline_wait_end(view, v) - vertex->end_ns <= RUN_PAUSE_NS;
    }
}

static bool consider_thread(const struct view *view, uint32_t thread, struct best *best)
{
    const struct argus_thread *t = &view->threads[thread];
    struct habits habits;
    bool done = habits_find(view, thread, &habits);
    best->asked_ns = start_up_end(view, thread);
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++)
        consider_wait(view, &habits, v, best);
    if (done)
        consider_yields(view, &habits, thread, best);
    if (done)
        consider_pieces(view, &habits, thread, best);
    consider_tries(view, thread, best);
    consider_runs(view, thread, best);
    habits_deinit(&habits);
    return done;
}

/* Whether the thread only waited in its event loop's poll, not for an answer, and nothing was
 * pending for it. */
static bool is_idle(const struct view *view, const struct argus_hang *hang)
{
    struct argus_pendings pendings;
    if (hang->type != ARGUS_TYPE_LONG_WAIT ||
        view->vertices[hang->vertex].wait.kind != ARGUS_WAIT_POLL ||
        !is_home_wait(view, hang->vertex))
        return false;
    struct argus_error *error = argus_pending_find(view->graph, hang, &pendings);
    if (error) {
        argus_error_destroy(error);
        return false;
    }
    bool pending = pendings_any(&pendings, 0);
    argus_pendings_deinit(&pendings);
    return !pending;
}

static void finish(const struct view *view, struct argus_hang *hang)
{
    uint32_t last = timeline_before(view, hang->thread, hang->end_ns);
    hang->ongoing = timeline_next(view, last) == ARGUS_NONE &&
                    !(view->vertices[last].flags & ARGUS_VERTEX_EXITED) &&
                    hang->end_ns == timeline_wait_end(view, last);
    hang_measure(view, hang);
    if (is_idle(view, hang))
        hang->nature = ARGUS_NATURE_IDLE;
}

/* The thread that acts as the main thread of `process`: usually the main thread itself. But a
 * launcher, such as Java's, starts a thread that does the work of a main thread, and waits for its
 * end. */
static uint32_t acting_main(const struct view *view, uint32_t process)
{
    uint32_t main = view->processes[process].main_thread;
    if (main == ARGUS_NONE || !view->threads[main].vertex_count)
        return main;
    const struct argus_thread *t = &view->threads[main];
    for (uint32_t v = t->first_vertex; v < t->first_vertex + t->vertex_count; v++) {
        uint64_t wait_ns = argus_vertex_wait_ns(&view->vertices[v]);
        if (wait_ns && is_launcher(view, v, wait_ns) && is_join(view, v))
            return view
                ->vertices[view->edges[argus_graph_cause(view->graph, timeline_next(view, v))].from]
                .thread;
    }
    return main;
}

bool indicator_longest(struct finder *finder)
{
    const struct view *view = finder->view;
    const struct argus_hang_options *options = finder->options;
    uint64_t threshold = argus_hang_threshold_ns(options);
    struct best of_main = {.options = options, .steps = LOCK_STEPS}, of_others = of_main;
    struct best of_idle = of_main; /* those that never ran */
    for (uint32_t thread = 0; thread < view->thread_count; thread++) {
        if (!hang_is_wanted(view, options, thread))
            continue;
        bool is_main = acting_main(view, view->threads[thread].process) == thread;
        struct best *best = is_main ? &of_main : &of_others;
        if (!consider_thread(view, thread, thread_never_ran(view, thread) ? &of_idle : best))
            return false;
    }
    /* Users see the main thread. Another thread is taken only if the main thread has nothing to
     * show, not even an unusual home wait that is as long as a hang. */
    struct choice best = *choose(&of_main), of_other = *choose(&of_others);
    uint64_t shows_ns = threshold / 1000 * WEIGHT_UNUSUAL_IDLE;
    if (of_other.score > 0 && best.score < shows_ns && of_other.score > best.score)
        best = of_other;
    /* Several processes can have the wanted name, and most threads that never ran are idle. */
    struct choice of_rest = *choose(&of_idle);
    if (best.score < shows_ns && of_rest.score > best.score)
        best = of_rest;
    if (best.score == 0)
        return true;
    finish(view, &best.hang);
    if (best.hang.nature == ARGUS_NATURE_IDLE && pending_longest(finder, &best.hang))
        finish(view, &best.hang);
    finder_threshold(finder, &best.hang);
    return finder_add(finder, &best.hang);
}
