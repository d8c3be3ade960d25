/* Which of the threads that could end a wait has to act.
 *
 * Threads that have nothing to do (they wait for events, or for work) are not to blame. A thread
 * that uses the very object now comes first. Otherwise a busy or blocked one counts if there is
 * only one such: it is likely, not certain. Once a request has been read, a thread that has not run
 * since it was sent does not count, unless all workers of the process are blocked by the same
 * (live_pool.c). If all other threads have nothing to do, and only one of them has run since, that
 * one counts. Else the main thread of the only process stands for them: the walk ends there, and
 * says so. */
#include "live/live_wait.h"

enum { MARGIN_NS = 50000000 }; /* of two clocks that tick every 10 ms at most */

enum rank { RANK_IDLE, RANK_HAS_RUN, RANK_POOL, RANK_SLEEPS, RANK_BUSY, RANK_USES };

struct choice {
    uint32_t thread, count; /* the best one, and how many are as good */
    enum rank rank;
};

static bool uses(struct argus_live *live, const struct argus_live_wait *waits,
                 const struct argus_live_wait *theirs)
{
    if (theirs->kind != waits->kind || !theirs->object)
        return false;
    if (waits->kind == ARGUS_LIVE_PIPE)
        return theirs->object == waits->object;
    const struct live_socket *socket = live_socket(live, theirs->object);
    return socket && socket->peer == waits->object;
}

/* Whether it waits for data that only the waiter's own process can send, or for a thread that does.
 */
static bool leads_back(struct argus_live *live, uint32_t waiter, uint32_t thread,
                       const struct argus_live_wait *wait)
{
    struct live_candidates theirs;
    if (wait->kind == ARGUS_LIVE_JOIN) {
        live_resolve(live, thread, wait, &theirs);
        const struct argus_live_wait joined =
            theirs.count ? live_wait(live, theirs.items[0].thread) : *wait;
        return joined.kind != ARGUS_LIVE_JOIN &&
               leads_back(live, waiter, theirs.items[0].thread, &joined);
    }
    if (wait->kind != ARGUS_LIVE_PIPE && wait->kind != ARGUS_LIVE_UNIX_SOCKET &&
        wait->kind != ARGUS_LIVE_TCP)
        return false;
    live_resolve(live, thread, wait, &theirs);
    return theirs.count == 1 && theirs.items[0].process == live->threads.data[waiter].process &&
           theirs.items[0].process != live->threads.data[thread].process;
}

enum live_presence live_has_run_since(struct argus_live *live, uint32_t thread, uint64_t asked_ns)
{
    if (!asked_ns || live->threads.data[thread].state != 'S')
        return LIVE_NOT_KNOWN;
    uint64_t ran_ns = live_last_ran_ns(live, thread);
    return !ran_ns ? LIVE_NOT_KNOWN : ran_ns + MARGIN_NS < asked_ns ? LIVE_ABSENT : LIVE_PRESENT;
}

/* Whether a rule that is no guess says that it waits for the waiter. */
static bool waits_for(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                      uint32_t waiter)
{
    if (wait->kind == ARGUS_LIVE_JOIN)
        return live_joined(live, thread) == waiter;
    return wait->kind == ARGUS_LIVE_MUTEX && live_mutex_owner(live, thread) == waiter;
}

static enum rank rank_of(struct argus_live *live, uint32_t waiter,
                         const struct argus_live_wait *waits, uint32_t thread,
                         const struct live_candidates *candidates)
{
    const struct argus_live_wait theirs = live_wait(live, thread);
    if (uses(live, waits, &theirs))
        return RANK_USES;
    enum live_presence has_run = live_has_run_since(live, thread, candidates->asked_ns);
    if (candidates->is_asked_guess && has_run != LIVE_ABSENT)
        has_run = LIVE_NOT_KNOWN;
    if (has_run == LIVE_ABSENT && (theirs.kind == ARGUS_LIVE_SLEEP || !candidates->is_asked_guess))
        return RANK_IDLE;
    if (live_is_idle(theirs.kind) || live_awaits_request(live, &theirs) ||
        leads_back(live, waiter, thread, &theirs))
        return has_run == LIVE_PRESENT ? RANK_HAS_RUN : RANK_IDLE;
    /* a deadlock only if no thread that sleeps could end the wait */
    return theirs.kind == ARGUS_LIVE_SLEEP || waits_for(live, thread, &theirs, waiter) ? RANK_SLEEPS
                                                                                       : RANK_BUSY;
}

static void consider(struct choice *choice, uint32_t thread, enum rank rank)
{
    if (choice->thread != ARGUS_LIVE_NONE && rank == choice->rank)
        choice->count++;
    if (choice->thread != ARGUS_LIVE_NONE && rank <= choice->rank)
        return;
    *choice = (struct choice){.thread = thread, .count = 1, .rank = rank};
}

/* Whether a server has to answer a request that it has read, or to read it. */
static bool awaits_server(struct argus_live *live, const struct argus_live_wait *wait,
                          const struct live_candidates *candidates)
{
    if (candidates->asked_ns && !candidates->is_asked_guess)
        return true;
    const struct live_socket *own = wait->kind == ARGUS_LIVE_UNIX_SOCKET && !wait->is_write
                                        ? live_socket(live, wait->object)
                                        : NULL;
    return own && !own->path && !own->unread;
}

static struct choice best_of_process(struct argus_live *live, uint32_t waiter,
                                     const struct argus_live_wait *wait, uint32_t process,
                                     const struct live_candidates *candidates)
{
    const struct argus_live_process of = live->processes.data[process];
    struct choice choice = {.thread = ARGUS_LIVE_NONE};
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++)
        if (i != waiter)
            consider(&choice, i, rank_of(live, waiter, wait, i, candidates));
    uint32_t pool = ARGUS_LIVE_NONE;
    if (process != live->threads.data[waiter].process && awaits_server(live, wait, candidates) &&
        (choice.rank == RANK_HAS_RUN || (choice.rank == RANK_BUSY && choice.count > 1)))
        pool = live_blocked_pool(live, process);
    return pool == ARGUS_LIVE_NONE ? choice : (struct choice){pool, 1, RANK_POOL};
}

static uint32_t first_but(const struct argus_live *live, uint32_t waiter, uint32_t process)
{
    uint32_t first = live->processes.data[process].first_thread;
    return first == waiter ? first + 1 : first;
}

bool live_is_halted(struct argus_live *live, uint32_t process)
{
    const struct argus_live_process of = live->processes.data[process];
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++) {
        enum argus_live_kind kind = live_wait(live, i).kind;
        if (kind != ARGUS_LIVE_STOPPED && kind != ARGUS_LIVE_FROZEN)
            return false;
    }
    return of.thread_count > 0;
}

static bool is_served(const struct argus_live_wait *wait)
{
    return wait->kind == ARGUS_LIVE_UNIX_SOCKET || wait->kind == ARGUS_LIVE_TCP ||
           wait->kind == ARGUS_LIVE_EVENTS;
}

static bool awaits_child(struct argus_live *live, uint32_t process,
                         const struct argus_live_wait *wait,
                         const struct live_candidates *candidates)
{
    uint32_t pid = live->processes.data[process].pid;
    for (uint32_t i = 0; i < candidates->count; i++) {
        uint32_t other = candidates->items[i].process;
        if (other != process && live_parent_of(live, other) == pid &&
            (!wait->object || wait->object == live->processes.data[other].pid))
            return true;
    }
    return false;
}

/* Whether only another candidate has the other end of the pipe. */
static bool awaits_neighbour(struct argus_live *live, uint32_t process,
                             const struct argus_live_wait *wait,
                             const struct live_candidates *candidates)
{
    struct live_candidates found;
    live_resolve(live, live->processes.data[process].first_thread, wait, &found);
    for (uint32_t i = 0; found.count == 1 && i < candidates->count; i++)
        if (found.items[0].process == candidates->items[i].process)
            return found.items[0].process != process;
    return false;
}

/* Whether the process only waits for another candidate: a wrapper, whose child has inherited the
 * object, or a part of a pipeline. */
static bool awaits_candidate(struct argus_live *live, uint32_t process,
                             const struct live_candidates *candidates)
{
    const struct argus_live_process of = live->processes.data[process];
    if (of.thread_count != 1)
        return false;
    const struct argus_live_wait wait = live_wait(live, of.first_thread);
    return (wait.kind == ARGUS_LIVE_CHILD && awaits_child(live, process, &wait, candidates)) ||
           (wait.kind == ARGUS_LIVE_PIPE && awaits_neighbour(live, process, &wait, candidates));
}

uint32_t live_choose(struct argus_live *live, uint32_t waiter, const struct argus_live_wait *wait,
                     const struct live_candidates *candidates, struct live_choice *ret)
{
    struct choice best = {.thread = ARGUS_LIVE_NONE};
    uint32_t threads = 0;
    if (candidates->is_any)
        return ARGUS_LIVE_NONE;
    *ret =
        (struct live_choice){.is_guess = candidates->is_guess, .is_shared = candidates->count > 1};
    for (uint32_t i = 0; i < candidates->count; i++) {
        uint32_t process = candidates->items[i].process;
        if (candidates->items[i].thread != ARGUS_LIVE_NONE) {
            consider(&best, candidates->items[i].thread, RANK_BUSY);
            threads++;
            continue;
        }
        if (awaits_candidate(live, process, candidates)) {
            threads++;
            continue;
        }
        struct choice choice = best_of_process(live, waiter, wait, process, candidates);
        if (choice.thread == ARGUS_LIVE_NONE)
            continue;
        bool halted = live_is_halted(live, process);
        choice.count = halted ? 1 : choice.count;
        if (choice.rank == RANK_HAS_RUN && choice.count > 1) {
            choice.rank = RANK_IDLE;
            choice.thread = first_but(live, waiter, process);
        }
        threads += halted ? 1 : live->processes.data[process].thread_count;
        if (choice.rank == RANK_IDLE) {
            uint32_t serving = is_served(wait)
                                   ? live_serving_thread(live, process, candidates->asked_ns)
                                   : ARGUS_LIVE_NONE;
            choice.count = 1; /* the first one, which is the main thread */
            choice.thread = serving != ARGUS_LIVE_NONE ? serving : choice.thread;
        }
        consider(&best, choice.thread, choice.rank);
        if (best.thread == choice.thread)
            best.count = choice.count;
    }
    if (best.thread == ARGUS_LIVE_NONE || best.count > 1)
        return ARGUS_LIVE_NONE;
    if (threads > 1 && best.rank != RANK_USES)
        ret->is_guess = true;
    ret->is_pool = best.rank == RANK_POOL;
    return best.thread;
}
