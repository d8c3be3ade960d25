/* Locks: which thread holds the lock that a futex waiter waits for.
 *
 * The kernel knows no owner of a futex, but the memory around the futex shows it, because glibc's
 * layouts are part of its ABI:
 *
 *   a mutex (nptl/bits/struct_mutex.h) is { int lock; unsigned count; int owner; … }: `lock` is 2
 *   while a thread waits, and `owner` is the holder's thread id;
 *   a thread to be joined, and a PI mutex (futex(2), "Priority-inheritance futexes"), has the
 *   thread id in the word itself.
 *
 * A futex of another library may be followed by anything. So a number is accepted only if it is the
 * id of a thread of this trace that lives now and is not the waiter. The futex word alone, which
 * may be any small counter, is accepted only if it is a thread of the waiter's own process.
 */
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/wait_details.h"

#define FUTEX_TID_MASK    0x3fffffffu /* include/uapi/linux/futex.h */
#define MUTEX_HAS_WAITERS 2

/* Whether `tid` is a living thread that `waiter` may wait for. */
static bool can_hold(const struct machine *machine, uint32_t tid, uint32_t waiter, bool any_process)
{
    uint32_t thread = tid ? machine_find_thread(machine, tid) : ARGUS_NONE;
    if (thread == ARGUS_NONE || thread == waiter)
        return false;
    const struct argus_thread *threads = machine->threads.data;
    return any_process || threads[thread].process == threads[waiter].process;
}

void graph_on_lock(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    (void)cpu;
    const struct machine *machine = &builder->graph->machine;
    uint32_t thread = machine_find_thread(machine, record->tid);
    if (thread == ARGUS_NONE || thread >= builder->threads.length)
        return;
    uint32_t word = (uint32_t)record->arg[1], owner = (uint32_t)record->arg[2];
    thread_at(builder, thread)->word = word;
    thread_at(builder, thread)->has_word = true;
    bool has_owner = word == MUTEX_HAS_WAITERS;
    uint32_t tid = has_owner ? owner : word & FUTEX_TID_MASK;
    if (can_hold(machine, tid, thread, has_owner))
        wait_note_holder(builder, thread, tid);
}
