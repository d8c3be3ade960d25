/* Stacks are copied late, and only after long waits.
 *
 * Most programs of a distribution have no frame pointers, so their stacks have to be copied and
 * unwound afterwards (snapshot.h). A copy costs some microseconds, which is too much for each of
 * the many waits that last for less than that. When a wait begins its length is not known. But the
 * thread leaves its system call with the registers and the stack with which it entered. So its
 * stack is copied at that time if the wait was long: short waits cost two lookups, and a thread
 * pays for a copy at most once in `late_ns`.
 *
 *   a wait in a system call  copied when that call ends, for all long waits since its first one (ARGUS_STACK_WAITED)
 *   a wait in a page fault   copied when it begins: the kernel has no tracepoint where a fault ends
 *   a wake-up                the waker's stack is copied if the woken thread had waited for long
 *   a wait that still lasts  read when the recording ends (lasting.h)
 *
 * The record of a wait has its stack pointer, and so has a copy: a short wait of the same thread
 * with the same stack pointer has the same stack, which is assigned when the trace is read
 * (libargus/trace/late_stacks.c).
 *
 * The table is indexed by the lower bits of the thread id. If another thread takes over a thread's
 * entry, the stack by frame pointers is used.
 */
#ifndef ARGUS_BPF_LATE_H
#define ARGUS_BPF_LATE_H

#include "snapshot.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, BPF_WAITS);
    __type(key, uint32_t);
    __type(value, struct bpf_wait);
} waits SEC(".maps");

static __always_inline struct bpf_wait *wait_of(uint32_t tid)
{
    uint32_t key = tid & (BPF_WAITS - 1);
    return bpf_map_lookup_elem(&waits, &key);
}

static __always_inline bool late_is_on(void)
{
    return settings.unwind & UNWIND_LATE && !switched_off;
}

/* The current thread begins to wait in a system call. */
static __always_inline void late_begins(const struct moment *now)
{
    struct bpf_wait *wait = wait_of((uint32_t)now->tid);
    if (!wait)
        return;
    if (wait->tid != (uint32_t)now->tid)
        *wait = (struct bpf_wait){.tid = (uint32_t)now->tid};
    if (!wait->late)
        wait->first_ns = now->time_ns;
    wait->since_ns = now->time_ns;
}

/* Thread `tid` is scheduled in on this CPU; replaces the note about the previous thread. */
static __always_inline void late_comes(uint32_t tid, uint64_t now_ns)
{
    uint32_t cpu;
    struct bpf_cpu *state = this_cpu(&cpu);
    struct bpf_wait *wait = wait_of(tid);
    if (!state || !wait)
        return;
    bool known = wait->tid == tid && tid;
    if (known && wait->since_ns) {
        wait->late |= now_ns - wait->since_ns >= settings.late_ns;
        wait->since_ns = 0;
    }
    state->late_tid = known && wait->late ? tid : 0;
}

/* Whether `tid`, which is about to be woken, has waited for long. */
static __always_inline bool late_waited(uint32_t tid, uint64_t now_ns)
{
    const struct bpf_wait *wait = wait_of(tid);
    return wait && wait->tid == tid && wait->since_ns &&
           now_ns - wait->since_ns >= settings.late_ns;
}

/* At the end of a system call of the current thread, which had waited for long. */
static __always_inline void late_ends(struct bpf_cpu *state, const struct moment *now, uint64_t sp)
{
    struct bpf_wait *wait = wait_of((uint32_t)now->tid);
    state->late_tid = 0;
    if (!wait || wait->tid != (uint32_t)now->tid)
        return;
    uint64_t first_ns = wait->first_ns;
    wait->late = 0;
    uint64_t user = snapshot_take(SNAPSHOT_ANY);
    if (user)
        emit(now, ARGUS_ID_STACK, user, sp, ARGUS_STACK_WAITED, first_ns);
}

#endif
