/* A loop that sleeps for a second between two checks sleeps as long as the trace lasts. So the
 * measure is how long a function instance slept, compared with instances in the base. Such a loop
 * is sometimes woken early, by a signal or the end of the program, so the means of a few sleeps
 * differ by chance. Only the part beyond twice the standard error of that difference counts.
 *
 * A wait that timed out is compared in the same way: a worker that waits for work again and again is
 * not slow, but a request whose reply has become a time-out is. If in the base all waits there were
 * ended by other threads, their mean is what was to be expected.
 */
#include "context/sleeps.h"

#include <math.h>

#define CHANCE 2.0 /* in standard errors */

void sleeps_note(struct sleeps *sleeps, uint32_t node, int kind, uint64_t slept_ns)
{
    bool ended = kind == ARGUS_WAITED_OTHERS;
    if (!ended && kind != ARGUS_WAITED_SLEPT && kind != ARGUS_WAITED_IDLE)
        return;
    uint32_t at = idmap_get(&sleeps->by_node, node);
    if (at == IDMAP_NONE) {
        struct sleep_sum made = {0};
        at = (uint32_t)sleeps->sums.length;
        if (!vec_push(&sleeps->sums, made) || !idmap_put(&sleeps->by_node, node, at)) {
            sleeps->no_memory = true;
            return;
        }
    }
    struct sleep_sum *sum = &sleeps->sums.data[at];
    sum->ended_ns += ended ? slept_ns : 0;
    sum->ended_count += ended;
    sum->squares += ended ? 0 : (double)slept_ns * (double)slept_ns;
    sum->count += !ended;
}

void sleeps_deinit(struct sleeps *sleeps)
{
    vec_deinit(&sleeps->sums);
    idmap_deinit(&sleeps->by_node);
}

/* Statistics of a node's sleeps. */
struct slept {
    double ns;
    double instances; /* of the function, that slept */
    double variance;  /* of the sleep of one of them */
    double ended;     /* mean of the waits that another thread ended */
};

/* Consecutive sleeps are in one instance. In other instances, another thread ended the wait, so it
 * is not a sleep. */
static struct slept slept_of(struct sleeper sleeper)
{
    struct slept slept = {0};
    uint32_t at = sleeper.node ? idmap_get(&sleeper.sleeps->by_node, sleeper.number) : IDMAP_NONE;
    if (at == IDMAP_NONE)
        return slept;
    const struct sleep_sum *sum = &sleeper.sleeps->sums.data[at];
    const uint64_t *waited_ns = sleeper.node->waited_ns[sleeper.estimate];
    double count = sum->count, instances = (double)sleeper.node->count;
    slept.ended = sum->ended_count ? (double)sum->ended_ns / sum->ended_count : 0;
    if (!sum->count)
        return slept;
    slept.ns = (double)waited_ns[ARGUS_WAITED_SLEPT] + (double)waited_ns[ARGUS_WAITED_IDLE];
    slept.instances = count < instances || !instances ? count : instances;
    double mean = slept.ns / count, single = sum->squares / count - mean * mean;
    slept.variance = single > 0 ? single * count / slept.instances : 0;
    return slept;
}

double sleeps_excess(struct sleeper now, struct sleeper base)
{
    if (!base.sleeps)
        return (double)now.node->waited_ns[now.estimate][ARGUS_WAITED_SLEPT];
    struct slept here = slept_of(now), there = slept_of(base);
    if (!here.ns || !there.ns)
        return fmax(here.ns - here.instances * there.ended, 0);
    double difference = here.ns / here.instances - there.ns / there.instances;
    double chance = CHANCE * sqrt(there.variance * (1 / here.instances + 1 / there.instances));
    double beyond = fabs(difference) > chance ? fabs(difference) - chance : 0;
    return (difference < 0 ? -beyond : beyond) * here.instances;
}
