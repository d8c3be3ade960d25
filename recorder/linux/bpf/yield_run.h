/* Runs of sched_yield(). A loop that waits for a variable calls it some 500,000 times a second,
 * which would push everything else out of the ring. So of a thread's calls, one is recorded in each
 * interval; the end of the next recorded call tells how many were left out before it. */
#ifndef ARGUS_BPF_YIELD_RUN_H
#define ARGUS_BPF_YIELD_RUN_H

#include "ring.h"

#define YIELD_INTERVAL_NS 2000000ull

struct yield_run {
    uint64_t recorded_ns; /* when the last recorded call began */
    uint32_t left_out;    /* calls since then */
    uint32_t skips;       /* 1: the current call is left out */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024);
    __type(key, uint32_t);
    __type(value, struct yield_run);
} yield_runs SEC(".maps");

/* The thread enters sched_yield(). Returns whether the call is left out. */
static __always_inline bool yield_begins(const struct moment *now)
{
    uint32_t tid = now->tid;
    struct yield_run *run = bpf_map_lookup_elem(&yield_runs, &tid);
    if (!run) {
        struct yield_run first = {.recorded_ns = now->time_ns};
        bpf_map_update_elem(&yield_runs, &tid, &first, BPF_ANY);
        return false;
    }
    run->skips = now->time_ns - run->recorded_ns < YIELD_INTERVAL_NS;
    if (run->skips)
        run->left_out++;
    else
        run->recorded_ns = now->time_ns;
    return run->skips;
}

/* It returns. Returns whether the call is left out; else writes the number of calls that were left
 * out before it. */
static __always_inline bool yield_ends(const struct moment *now, uint64_t *ret_left_out)
{
    uint32_t tid = now->tid;
    struct yield_run *run = bpf_map_lookup_elem(&yield_runs, &tid);
    if (!run)
        return false;
    if (run->skips)
        return true;
    *ret_left_out = run->left_out;
    run->left_out = 0;
    return false;
}

#endif
