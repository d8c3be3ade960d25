/* Which threads wait by poll, select or epoll, and since when they are away from it: for a recorder that watches for hangs.
 * Without --on-hang the verifier removes all of it. */
#ifndef ARGUS_BPF_POLLER_H
#define ARGUS_BPF_POLLER_H

#include "ring.h"

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, BPF_POLLERS);
    __type(key, uint32_t);
    __type(value, struct bpf_poller);
} pollers SEC(".maps");

static __always_inline void poller_enters(const struct moment *now, uint64_t number)
{
    uint32_t tid = (uint32_t)now->tid;
    if (!settings.watch_polls || !bit_is_set(settings.poll_syscalls, number))
        return;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (poller)
        poller->polling = 1;
}

static __always_inline void poller_returns(const struct moment *now, uint64_t number, uint32_t pid)
{
    uint32_t tid = (uint32_t)now->tid;
    if (!settings.watch_polls || !bit_is_set(settings.poll_syscalls, number))
        return;
    struct bpf_poller *poller = bpf_map_lookup_elem(&pollers, &tid);
    if (poller) {
        poller->returned_ns = now->time_ns;
        poller->returns++;
        poller->polling = 0;
        return;
    }
    struct bpf_poller first = {.returned_ns = now->time_ns, .pid = pid, .returns = 1};
    bpf_map_update_elem(&pollers, &tid, &first, BPF_ANY);
}

/* The thread ends, or becomes another program. */
static __always_inline void poller_forget(uint32_t tid)
{
    if (settings.watch_polls)
        bpf_map_delete_elem(&pollers, &tid);
}

#endif
