/* A loop that sleeps for a second between two checks sleeps as long as the trace lasts. So the
 * measure is how long a function instance slept, compared with instances in the base. Such a loop
 * is sometimes woken early, by a signal or the end of the program, so the means of a few sleeps
 * differ by chance. Only the part beyond twice the standard error of that difference counts.
 */
#include "context/sleeps.h"

#include <math.h>

#define CHANCE 2.0 /* in standard errors */

void sleeps_note(struct sleeps *sleeps, uint32_t node, uint64_t slept_ns)
{
    uint32_t at = idmap_get(&sleeps->by_node, node);
    if (at == IDMAP_NONE) {
        struct sleep_sum made = {0};
        at = (uint32_t)sleeps->sums.length;
        if (!vec_push(&sleeps->sums, made) || !idmap_put(&sleeps->by_node, node, at)) {
            sleeps->no_memory = true;
            return;
        }
    }
    sleeps->sums.data[at].squares += (double)slept_ns * (double)slept_ns;
    sleeps->sums.data[at].count++;
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
    double count = sum->count, instances = (double)sleeper.node->count;
    slept.ns = (double)sleeper.node->waited_ns[ARGUS_WAITED_SLEPT];
    slept.instances = count < instances || !instances ? count : instances;
    double mean = slept.ns / count, single = sum->squares / count - mean * mean;
    slept.variance = single > 0 ? single * count / slept.instances : 0;
    return slept;
}

double sleeps_excess(struct sleeper now, struct sleeper base)
{
    struct slept here = slept_of(now), there = slept_of(base);
    if (!here.ns || !there.ns)
        return here.ns;
    double difference = here.ns / here.instances - there.ns / there.instances;
    double chance = CHANCE * sqrt(there.variance * (1 / here.instances + 1 / there.instances));
    double beyond = fabs(difference) > chance ? fabs(difference) - chance : 0;
    return (difference < 0 ? -beyond : beyond) * here.instances;
}
