/* Decides which categories are left out so that a recording costs no more than its user allows
 * (--max-overhead). Only arithmetic: leave_out.c measures and acts.
 *
 * When the cost has been above the limit for two periods, one group of categories is left out: the
 * first one of a fixed order, least needed first, that can save a noticeable part; if there is
 * none, the one that saves most. A group comes back after a pause if the cost is well below the
 * limit by then. If it then goes out again soon, its next pause is twice as long, so that a lasting
 * load does not make it come and go.
 */
#ifndef ARGUS_RECORDER_OVERHEAD_H
#define ARGUS_RECORDER_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "category.h"

#define OVERHEAD_WHOLE            10000u /* shares are given in 1/10000 */
#define OVERHEAD_PERIOD_NS        1000000000ull
#define OVERHEAD_PAUSE_FIRST_NS   10000000000ull
#define OVERHEAD_PAUSE_LONGEST_NS 600000000000ull
/* A group that has been back for this long counts as one that never was out. */
#define OVERHEAD_PROVEN_NS 60000000000ull

/* Groups of categories that go and come together. To add one: a row in overhead.c, in its order. */
enum { OVERHEAD_GROUPS = 7 };

/* What one period cost. Nanoseconds of CPU time, of all CPUs. */
struct overhead_cost {
    uint64_t total_ns;
    /* What leaving out a category could save at most; need not add up to the total. */
    uint64_t saved_ns[CATEGORY_COUNT];
    uint64_t available_ns; /* the time of all CPUs in the period */
};

struct overhead_group_state {
    bool is_out;
    uint64_t changed_ns; /* when it went or came back; 0: never */
    uint64_t pause_ns;   /* the next one */
};

struct overhead {
    uint32_t limit;   /* in 1/OVERHEAD_WHOLE of the time of all CPUs */
    uint32_t allowed; /* bits of categories that are recorded and may be left out */
    uint32_t share;   /* of the last period, as `limit` */
    uint32_t above;   /* periods above the limit, in a row */
    bool is_helpless; /* the last excess left nothing to leave out */
    struct overhead_group_state groups[OVERHEAD_GROUPS];
};

void overhead_init(struct overhead *overhead, uint32_t limit, uint32_t allowed);
/* At the end of each period, at time `now_ns`. Returns the categories that are to be left out from
 * now on, as bits; at most one group differs from the last answer. */
uint32_t overhead_decide(struct overhead *overhead, uint64_t now_ns,
                         const struct overhead_cost *cost);
/* Whether the cost is above the limit and nothing noticeable is left to leave out. */
static inline bool overhead_is_helpless(const struct overhead *overhead)
{
    return overhead->is_helpless;
}

#endif
