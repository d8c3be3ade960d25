/* What the stacks of a trace have seen of the true calls, thread by thread: the paper's section 5.3.
 *
 * An instance, one call of a function, is covered when a moment of the thread lies in it whose stack has it; a context, when one of
 * its instances is. Which stacks are looked at is a scheme: several are counted in one walk, a bit each.
 */
#ifndef ARGUS_BENCH_COVERAGE_H
#define ARGUS_BENCH_COVERAGE_H

#include "truth_tree.h"

enum scheme {
    SCHEME_CALLS,    /* stacks at system calls */
    SCHEME_SWITCHES, /* and at context switches and wake-ups, as recorded */
    SCHEME_ALL,      /* and cpu samples: all that Argus takes */
    SCHEME_SLOW, /* as the paper does it: true stacks at system calls, and every 120 ms instead of switches */
    SCHEME_FAST, /* … every 20 ms */
    SCHEMES
};

/* The scheme that takes a moment first; those behind it, up to SCHEME_ALL, take it too. */
static inline enum scheme scheme_of(const struct argus_context_moment *moment)
{
    if (moment->kind == ARGUS_MOMENT_SAMPLE)
        return SCHEME_ALL;
    return moment->call != ARGUS_NONE ? SCHEME_CALLS : SCHEME_SWITCHES;
}

struct seen_moment {
    uint64_t time_ns, tid;
    uint32_t node;
    uint8_t scheme;
};

struct context_figures {
    uint64_t count, total_ns;
    uint32_t seen; /* bits: schemes */
};

/* How the recorded stacks agree with the true ones. */
struct agreement {
    uint64_t equal, outer; /* outer: the recorded one lacks innermost functions */
    uint64_t
        in_hook; /* it has a function more: taken in the hook before or after the time was read */
    uint64_t wrong;   /* it has another function at some depth */
    uint64_t outside; /* at that time no function of the program was on the stack */
};

struct coverage {
    struct truth_tree *tree;
    const struct placed *placed;
    VEC(struct context_figures) contexts; /* by node of the tree */
    VEC(uint64_t) instances;              /* ns << 8 | seen */
    struct agreement agreement;
    uint64_t calls,
        repaired; /* repaired: instances that a longjmp or the end of the thread ended */
    bool no_memory;
};

/* A thread's calls with its moments, which are in order of time. */
void coverage_thread(struct coverage *coverage, const struct truth_event *events, size_t count,
                     const struct seen_moment *moments, size_t moment_count);

/* Adds what one thread has; forgets what was counted. */
void coverage_add(struct coverage *coverage, const struct coverage *more);
void coverage_clear(struct coverage *coverage);
void coverage_deinit(struct coverage *coverage);

/* Shares covered, 0 to 1, by scheme. */
struct shares {
    uint64_t contexts, instances;
    double contexts_all[SCHEMES], contexts_top[SCHEMES];
    double instances_all[SCHEMES], instances_top[SCHEMES];
    uint64_t top_ns; /* an instance among the slowest 1 % takes at least that long */
};

bool coverage_shares(const struct coverage *coverage, struct shares *ret);

/* How many of `count` are the slowest 1 %: at least one. */
size_t coverage_top(size_t count);

/* Contexts in ascending order of mean latency, only those that were called; owned by the caller. */
uint32_t *coverage_by_latency(const struct coverage *coverage, size_t *ret_count);

#endif
