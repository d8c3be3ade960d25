/* Turnstiles: osfmk/kern/turnstile.c. A thread that waits for a lock waits on a turnstile. The
 * turnstile names the thread that inherits the waiters' priority: the lock's holder. Both facts are
 * recorded, in either order, before the waiter leaves its CPU. */
#include "event/darwin/darwin.h"

enum { HAS_WAITERS = 2 }; /* graph_on_lock() takes this for a word that names an owner */

static void tell(struct darwin *darwin, const struct argus_record *record, uint64_t turnstile)
{
    uint32_t holder = idmap_get(&darwin->holder_by_turnstile, turnstile);
    uint32_t waiter = idmap_get(&darwin->waiter_by_turnstile, turnstile);
    if (holder == IDMAP_NONE || waiter == IDMAP_NONE || holder == waiter)
        return;
    const uint64_t arg[4] = {turnstile, HAS_WAITERS, darwin->threads.data[holder].tid};
    if (darwin->threads.data[waiter].turnstile == turnstile)
        darwin_emit_of(darwin, record, darwin->threads.data[waiter].tid, ARGUS_ID_LOCK, arg);
}

void darwin_on_turnstile_waiter(struct darwin *darwin, struct darwin_cpu *cpu,
                                const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[1]);
    (void)cpu;
    if (!thread)
        return;
    thread->turnstile = record->arg[0];
    darwin_put(darwin, &darwin->waiter_by_turnstile, record->arg[0],
               (uint32_t)(thread - darwin->threads.data));
    tell(darwin, record, record->arg[0]);
}

void darwin_on_turnstile_holder(struct darwin *darwin, struct darwin_cpu *cpu,
                                const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_thread(darwin, record->arg[0]);
    (void)cpu;
    if (!thread)
        return;
    darwin_put(darwin, &darwin->holder_by_turnstile, record->arg[1],
               (uint32_t)(thread - darwin->threads.data));
    tell(darwin, record, record->arg[1]);
}

void darwin_on_turnstile_freed(struct darwin *darwin, struct darwin_cpu *cpu,
                               const struct argus_record *record)
{
    (void)cpu;
    darwin_put(darwin, &darwin->holder_by_turnstile, record->arg[1], IDMAP_NONE);
}
