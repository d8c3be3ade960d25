/* Locks: who holds what a futex waiter waits for.
 *
 * The kernel knows no owner of a futex, but the memory around it tells, since glibc's layouts are part of its ABI:
 *
 *   a mutex (nptl/bits/struct_mutex.h) is { int lock; unsigned count; int owner; … }: `lock` is 2 while somebody
 *   waits, and `owner` is the holder's thread id;
 *   a thread to be joined, and a PI mutex (futex(2), "Priority-inheritance futexes"), has the thread id in the word itself.
 *
 * Anything may lie behind some other program's futex, so a number counts only if it is a thread of this trace
 * that lives now, other than the waiter; and a word alone, which may be any small counter, only if it is a thread of the
 * waiter's own process.
 */
#include "graph/builder.h"

#define FUTEX_TID_MASK    0x3fffffffu /* include/uapi/linux/futex.h */
#define MUTEX_HAS_WAITERS 2

static bool lives(struct builder *builder, uint32_t tid, uint32_t waiter)
{
    uint32_t thread = tid ? machine_find_thread(&builder->graph->machine, tid) : ARGUS_NONE;
    return thread != ARGUS_NONE && thread != waiter;
}

static bool same_process(struct builder *builder, uint32_t tid, uint32_t waiter)
{
    const struct machine *machine = &builder->graph->machine;
    const struct argus_thread *threads = machine->threads.data;
    return threads[machine_find_thread(machine, tid)].process == threads[waiter].process;
}

void graph_on_lock(struct builder *builder, struct cpu_state *cpu,
                   const struct argus_record *record)
{
    (void)cpu;
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->tid);
    if (thread == ARGUS_NONE || thread >= builder->threads.length)
        return;
    uint32_t word = (uint32_t)record->arg[1], owner = (uint32_t)record->arg[2];
    uint32_t holder = word == MUTEX_HAS_WAITERS ? owner : word & FUTEX_TID_MASK;
    bool by_owner = word == MUTEX_HAS_WAITERS;
    if (lives(builder, holder, thread) && (by_owner || same_process(builder, holder, thread)))
        wait_note_holder(builder, thread, holder);
}
