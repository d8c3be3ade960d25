/* How much of the true calls the stacks of a trace have seen, per thread: the paper's section 5.3.
 *
 * An instance (one call of a function) is covered if its stack was taken during the call and
 * contains it. A context is covered if one of its instances is. A scheme selects which stacks
 * count: one walk counts several schemes, a bit each.
 */
#ifndef ARGUS_BENCH_COVERAGE_H
#define ARGUS_BENCH_COVERAGE_H

#include "truth_tree.h"

enum scheme {
    SCHEME_CALLS,    /* stacks at system calls */
    SCHEME_SWITCHES, /* and at context switches and wake-ups, as recorded */
    SCHEME_ALL,      /* and cpu samples: all that Argus takes */
    /* As the paper does it: true stacks at system calls, and every 120 ms instead of switches. */
    SCHEME_SLOW,
    SCHEME_FAST, /* … every 20 ms */
    SCHEMES
};

/* The first scheme that includes a moment; later ones up to SCHEME_ALL include it, too. */
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

/* Comparison of the recorded stacks with the true ones. */
struct agreement {
    uint64_t equal, outer; /* outer: the recorded one lacks innermost functions */
    /* It has an extra function: taken in the hook before or after the time was read. */
    uint64_t in_hook;
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

/* A thread's calls and its moments, in time order. */
void coverage_thread(struct coverage *coverage, const struct truth_event *events, size_t count,
                     const struct seen_moment *moments, size_t moment_count);

/* Adds the counts of one thread to the total, and resets them. */
void coverage_add(struct coverage *coverage, const struct coverage *more);
void coverage_clear(struct coverage *coverage);
void coverage_deinit(struct coverage *coverage);

/* Shares covered, 0 to 1, by scheme. */
struct shares {
    uint64_t contexts, instances;
    double contexts_all[SCHEMES], contexts_top[SCHEMES];
    double instances_all[SCHEMES], instances_top[SCHEMES];
    uint64_t top_ns; /* the shortest instance among the slowest 1 % */
};

bool coverage_shares(const struct coverage *coverage, struct shares *ret);

/* The number of the slowest 1 % of `count`, at least one. */
size_t coverage_top(size_t count);

/* Contexts in ascending order of mean latency, only those that were called; owned by the caller. */
uint32_t *coverage_by_latency(const struct coverage *coverage, size_t *ret_count);

#endif
