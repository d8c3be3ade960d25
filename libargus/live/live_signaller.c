/* Waits inside a process of which no lock tells the end: conditions, semaphores, locks without an
 * owner.
 *
 * Which thread would signal, nothing tells. But if all other threads of the process have nothing to
 * do, except one, it is likely that one. And if all threads of the process wait in this way, with
 * no time-out, for words that no other process maps, then none of them can end the wait of another.
 */
#include <string.h>

#include "live/live_wait.h"

enum { LOOKED_AT = 8 /* frames */ };

/* Whether the end of its wait is in the hands of `other`, by a rule that is no guess. */
static bool depends_on(struct argus_live *live, uint32_t thread, uint32_t other)
{
    const struct argus_live_wait wait = live_wait(live, thread);
    if (wait.kind == ARGUS_LIVE_MUTEX)
        return live_mutex_owner(live, thread) == other;
    return wait.kind == ARGUS_LIVE_JOIN && live_joined(live, thread) == other;
}

/* Whether another busy thread of the process waits for `thread`: then its chain leads here anyway.
 */
static bool is_behind_another(struct argus_live *live, const struct argus_live_process *of,
                              uint32_t waiter, uint32_t thread)
{
    for (uint32_t i = of->first_thread; i < of->first_thread + of->thread_count; i++)
        if (i != waiter && i != thread && depends_on(live, i, thread))
            return true;
    return false;
}

/* Functions of a runtime whose program's locks and waits are its own: which of the program's
 * threads ends them, its threads do not tell. To add one: a row, with the beginning of its name. */
static bool is_of_runtime(const char *function, const void *context)
{
    (void)context;
    static const char *const beginnings[] = {
        "ObjectMonitor::", "ObjectSynchronizer::", "Unsafe_Park",
        "Parker::park",    "runtime.futex",        "runtime.futexsleep"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

bool live_waits_in_runtime(struct argus_live *live, uint32_t thread)
{
    return live_stack_has(live, thread, LOOKED_AT, is_of_runtime, NULL);
}

static bool joins(struct argus_live *live, const struct argus_live_wait *wait, uint32_t joiner,
                  uint32_t thread)
{
    return wait->kind == ARGUS_LIVE_JOIN && live_joined(live, joiner) == thread;
}

static bool waits_in_process(enum argus_live_kind kind)
{
    return kind == ARGUS_LIVE_FUTEX || kind == ARGUS_LIVE_CONDITION || kind == ARGUS_LIVE_MUTEX ||
           kind == ARGUS_LIVE_RWLOCK || kind == ARGUS_LIVE_ULOCK;
}

/* A lock's holder may wait for a condition or another lock. A thread that only sleeps is no more
 * likely to have it, so all of these may. */
static void add_possible_holders(struct argus_live *live, const struct argus_live_process *of,
                                 uint32_t waiter, const struct argus_live_wait *wait,
                                 struct live_candidates *ret)
{
    for (uint32_t i = 0; i < ret->count; i++)
        if (live_wait(live, ret->items[i].thread).kind != ARGUS_LIVE_SLEEP)
            return;
    for (uint32_t i = of->first_thread; ret->count && i < of->first_thread + of->thread_count;
         i++) {
        const struct argus_live_wait theirs = live_wait(live, i);
        if (i != waiter && waits_in_process(theirs.kind) && theirs.object != wait->object)
            live_candidate(ret, live->threads.data[i].process, i);
    }
}

/* A thread that waits for the end of the waiter is left out, and those for which the busy one
 * waits. */
void live_by_condition(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    const struct argus_live_process of = live->processes.data[process];
    ret->link = ARGUS_LIVE_LINK_SIGNALS;
    ret->end = ARGUS_LIVE_END_UNKNOWN;
    ret->is_guess = true;
    if (live_waits_in_runtime(live, thread))
        return;
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++) {
        const struct argus_live_wait theirs = live_wait(live, i);
        if (i != thread && !live_is_idle(theirs.kind) && !live_awaits_request(live, &theirs) &&
            !joins(live, &theirs, i, thread) && !is_behind_another(live, &of, thread, i))
            live_candidate(ret, process, i);
    }
    if (wait->kind != ARGUS_LIVE_CONDITION)
        add_possible_holders(live, &of, thread, wait, ret);
    live_add_sharers(live, thread, ret);
    if (!ret->count && live_are_stuck(live, process, &ret->is_end_guess))
        ret->end = ARGUS_LIVE_END_STUCK;
}
