/* Futex wake-ups: unlock, or condition?
 *
 * To the kernel, a mutex, a condition variable and a semaphore are all futexes (futex(2)). But the
 * kind decides what a wake-up means: signalling a condition asks the waiter to continue, while
 * unlocking only stops blocking it. The first of these signs that applies to the wake-up decides:
 *
 *   requeues    FUTEX_REQUEUE, FUTEX_CMP_REQUEUE and FUTEX_WAKE_OP exist only for condition
 *               variables: condition
 *   inherits    FUTEX_LOCK_PI and FUTEX_UNLOCK_PI are locks: unlock
 *   is_locked   the futex word is 2, as in a mutex with waiters in glibc, Rust and many others; or 3
 *               (a rwlock of glibc, which waits with FUTEX_WAIT_BITSET): unlock
 *   wakes_many  more than one waiter is to be woken, while an unlock admits one: condition
 *   awaits      FUTEX_WAIT_BITSET: glibc waits with it for conditions, semaphores and threads
 *               (nptl/futex-internal.c), but with FUTEX_WAIT for a mutex (nptl/lowlevellock.c):
 *               condition
 *
 * If none applies, the wake-up counts as an unlock, which is weak: a weak edge leads to a question,
 * whereas a wrong strong edge would go unnoticed. If there are call stacks, they have the last
 * word: rules/wake_stacks.c.
 */
#include <string.h>

#include "graph/rules/wakeup.h"

/* Linux's operations (include/uapi/linux/futex.h), without the flags for private futexes and the
 * clock. */
enum {
    FUTEX_OP_REQUEUE = 3,
    FUTEX_OP_CMP_REQUEUE = 4,
    FUTEX_OP_WAKE_OP = 5,
    FUTEX_OP_LOCK_PI = 6,
    FUTEX_OP_UNLOCK_PI = 7,
    FUTEX_OP_WAIT_BITSET = 9,
    FUTEX_OP_WAIT_REQUEUE_PI = 11,
    FUTEX_OP_CMP_REQUEUE_PI = 12,
    FUTEX_OP_LOCK_PI2 = 13,
    FUTEX_OP_MASK = 127,
};

static uint64_t operation(const struct wakeup *wakeup, uint32_t thread)
{
    return thread_at(wakeup->builder, thread)->arg[1] & FUTEX_OP_MASK;
}

static bool requeues(const struct wakeup *wakeup)
{
    uint64_t wakes = operation(wakeup, wakeup->waker), waits = operation(wakeup, wakeup->wakee);
    return wakes == FUTEX_OP_REQUEUE || wakes == FUTEX_OP_CMP_REQUEUE ||
           wakes == FUTEX_OP_WAKE_OP || wakes == FUTEX_OP_CMP_REQUEUE_PI ||
           waits == FUTEX_OP_WAIT_REQUEUE_PI;
}

static bool inherits(const struct wakeup *wakeup)
{
    uint64_t waits = operation(wakeup, wakeup->wakee);
    return operation(wakeup, wakeup->waker) == FUTEX_OP_UNLOCK_PI || waits == FUTEX_OP_LOCK_PI ||
           waits == FUTEX_OP_LOCK_PI2;
}

static bool is_locked(const struct wakeup *wakeup)
{
    const struct thread_state *wakee = thread_at(wakeup->builder, wakeup->wakee);
    bool by_bitset = operation(wakeup, wakeup->wakee) == FUTEX_OP_WAIT_BITSET;
    return wakee->has_word && (wakee->word == 2 || (wakee->word == 3 && by_bitset));
}

static bool wakes_many(const struct wakeup *wakeup)
{
    return (uint32_t)thread_at(wakeup->builder, wakeup->waker)->arg[2] > 1;
}

static bool awaits(const struct wakeup *wakeup)
{
    return operation(wakeup, wakeup->wakee) == FUTEX_OP_WAIT_BITSET;
}

/* To add a sign: a function and a row. */
static const struct {
    bool (*says)(const struct wakeup *wakeup);
    bool condition;
} signs[] = {
    {requeues, true}, {inherits, false}, {is_locked, false}, {wakes_many, true}, {awaits, true},
};

/* The names of Darwin's calls say what they are for, except ulock_wake(): UL_UNFAIR_LOCK and its
 * shared form are locks (bsd/sys/ulock.h), all other forms compare and wait. */
static bool darwin_signals(const struct wakeup *wakeup)
{
    enum { OPERATION = 0xff, UNFAIR_LOCK = 2, UNFAIR_LOCK_SHARED = 4 };
    uint64_t ulock = thread_at(wakeup->builder, wakeup->waker)->arg[0] & OPERATION;
    bool by_ulock = wakeup->call->name && !strcmp(wakeup->call->name, "ulock_wake");
    return (wakeup->call->flags & SYSCALL_SIGNALS) ||
           (by_ulock && ulock != UNFAIR_LOCK && ulock != UNFAIR_LOCK_SHARED);
}

bool match_condition(const struct wakeup *wakeup)
{
    if (!match_unlock(wakeup))
        return false;
    if (wakeup->builder->os == ARGUS_OS_DARWIN)
        return darwin_signals(wakeup);
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (signs[i].says(wakeup))
            return signs[i].condition;
    return false;
}
