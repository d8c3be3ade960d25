/* Which threads wait by poll, select or epoll, and since when they are away from it: for a recorder that watches for hangs.
 * Without --on-hang the verifier removes all of it.
 *
 * A poll inside a handler is no coming back. Its stack pointer tells: the handler was called by the loop, so it lies deeper than
 * that of the loop's own poll, which is the highest at which the thread polls. A nested loop that polls the same array or
 * the same epoll set is the loop. What each waits for is kept, so that the recorder can see whether a nested
 * loop with an array of its own takes the loop's input too, and whether such input lies there (hang_watch.c).
 *
 * A program may poll at its beginning, and have its loop in a deeper function. So a place inside that others have woken often
 * enough, without the thread having been back, becomes the loop's.
 */
#ifndef ARGUS_BPF_POLLER_H
#define ARGUS_BPF_POLLER_H

#include "ready.h"
#include "ring.h"

#define POLLER_ADOPTS 16        /* polls inside that found something */
#define POLLER_STACK  0x800000u /* farther apart: another stack */

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, BPF_POLLERS);
    __type(key, uint32_t);
    __type(value, struct bpf_poller);
} pollers SEC(".maps");

/* All zero, and too large for the stack. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct bpf_poller);
} new_pollers SEC(".maps");

static __always_inline struct bpf_poller *add_poller(uint32_t tid)
{
    uint32_t zero = 0;
    const struct bpf_poller *made = bpf_map_lookup_elem(&new_pollers, &zero);
    if (!made)
        return NULL;
    bpf_map_update_elem(&pollers, &tid, made, BPF_ANY);
    return bpf_map_lookup_elem(&pollers, &tid);
}

/* The first descriptors of an array, or the lowest of a set. */
static __always_inline void copy_poll_set(struct bpf_poll_set *set, struct pt_regs *regs,
                                          uint64_t number)
{
    uint64_t count = arch_argument1(regs);
    set->number = number;
    set->object = arch_argument0(regs);
    set->count = 0;
    if (is_poll(number)) {
        if (count > BPF_POLL_WORDS - 1)
            count = BPF_POLL_WORDS - 1;
        if (bpf_probe_read_user(set->words, bounded(count * 8, BPF_POLL_WORDS * 8),
                                (void *)set->object) == 0)
            set->count = count;
    } else if (is_select(number) && arch_argument1(regs)) {
        if (bpf_probe_read_user(set->words, 16, (void *)arch_argument1(regs)) == 0)
            set->count = 2;
    }
}

static __always_inline bool is_inside(const struct bpf_poller *poller, uint64_t sp, bool same)
{
    return sp < poller->sp && poller->sp - sp < POLLER_STACK && !same &&
           poller->served < POLLER_ADOPTS;
}

static __always_inline void poller_enters(const struct moment *now, struct pt_regs *regs,
                                          uint64_t number)
{
    uint32_t tid = (uint32_t)now->tid;
    if (!settings.watch_polls || !bit_is_set(settings.poll_syscalls, number))
        return;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (!poller)
        return;
    uint64_t sp = arch_stack_pointer(regs);
    bool same = poller->home.number == number && poller->home.object == arch_argument0(regs) &&
                !is_select(number);
    if (is_inside(poller, sp, same)) {
        poller->place = BPF_POLLER_INSIDE;
        poller->inner++;
        copy_poll_set(&poller->inside, regs, number);
        return;
    }
    if (!same || sp > poller->sp)
        poller->sp = sp;
    poller->place = BPF_POLLER_HOME;
    copy_poll_set(&poller->home, regs, number);
}

static __always_inline void poller_returns(const struct moment *now, struct pt_regs *regs,
                                           uint64_t number, uint32_t pid, int64_t result)
{
    uint32_t tid = (uint32_t)now->tid;
    if (!settings.watch_polls || !bit_is_set(settings.poll_syscalls, number))
        return;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (!poller) {
        poller = add_poller(tid);
        if (!poller)
            return;
        poller->pid = pid;
        poller->sp = arch_stack_pointer(regs);
    }
    bool inside = poller->place == BPF_POLLER_INSIDE;
    poller->place = BPF_POLLER_AWAY;
    if (inside) {
        poller->served += result > 0;
        return;
    }
    poller->returned_ns = now->time_ns;
    poller->returns++;
    poller->inner = 0;
    poller->served = 0;
}

/* The thread ends, or becomes another program. */
static __always_inline void poller_forget(uint32_t tid)
{
    if (settings.watch_polls)
        bpf_map_delete_elem(&pollers, &tid);
}

#endif
