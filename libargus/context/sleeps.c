/* A loop that sleeps for a second between two checks sleeps as long as the trace lasts. So the
 * measure is how long a function instance slept, compared with instances in the base. Such a loop
 * is sometimes woken early, by a signal or the end of the program, so the means of a few sleeps
 * differ by chance. Only the part beyond twice the standard error of that difference counts.
 *
 * A wait that timed out is compared in the same way: a worker that waits for work again and again
 * is not slow, but a request whose reply has become a time-out is. If in the base all waits there
 * were ended by other threads, their mean is what was to be expected.
 *
 * A background thread waits for as long as its process is needed. If the process lives longer, the
 * thread waits longer, and more of its waits time out. So if other threads ended the lives of all
 * threads that waited at a place, only what exceeds the base's share of their lives counts, since
 * they first waited there. If that share is large, it is where the threads wait for work, and they
 * wait for all of a longer life.
 *
 * Waits for disks all count, but two runs of one program differ in them: a disk is sometimes slow.
 * The spread of the single waits in the base says by how much (folds.c marks what is within it).
 * Not the spread of this run: few waits that are much longer than all of the base's are no chance.
 */
#include "context/sleeps.h"

#include <math.h>

#define CHANCE 2.0 /* in standard errors */
#define KNOWN  4   /* waits whose spread is known */
#define HOME   0.8 /* of their lives, since they first waited there, threads wait at their home */

static void add(struct sleep_sum *sum, int kind, uint64_t ns)
{
    double square = (double)ns * (double)ns;
    if (kind == ARGUS_WAITED_OTHERS) {
        sum->ended_ns += ns;
        sum->ended_count++;
    } else if (kind == ARGUS_WAITED_DEVICE) {
        sum->device_ns += ns;
        sum->device_squares += square;
        sum->device_count++;
    } else {
        sum->squares += square;
        sum->count++;
    }
}

void sleeps_note(struct sleeps *sleeps, uint32_t node, int kind, uint64_t slept_ns)
{
    if (kind == ARGUS_WAITED_CPU || kind == ARGUS_WAITED_SCHEDULER)
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
    add(&sleeps->sums.data[at], kind, slept_ns);
}

void sleeps_add_life(struct sleeps *sleeps, uint32_t node, uint64_t lived_ns, bool is_led)
{
    uint32_t at = idmap_get(&sleeps->by_node, node);
    if (at == IDMAP_NONE)
        return;
    sleeps->sums.data[at].lived_ns += lived_ns;
    sleeps->sums.data[at].has_own_life |= !is_led;
}

void sleeps_join(struct sleeps *sleeps, uint32_t node, const struct wait_pieces *pieces)
{
    uint32_t at = idmap_get(&sleeps->by_node, node);
    if (at == IDMAP_NONE)
        return;
    struct sleep_sum *sum = &sleeps->sums.data[at];
    sum->count -= pieces->count < sum->count ? pieces->count : sum->count;
    sum->squares = fmax(sum->squares - pieces->squares, 0);
    sum->ended_ns += pieces->ns;
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

static const struct sleep_sum *sum_of(struct sleeper sleeper)
{
    uint32_t at = sleeper.node ? idmap_get(&sleeper.sleeps->by_node, sleeper.number) : IDMAP_NONE;
    return at == IDMAP_NONE ? NULL : &sleeper.sleeps->sums.data[at];
}

static double waited_in_vain(struct sleeper sleeper)
{
    const uint64_t *waited_ns = sleeper.node->waited_ns[sleeper.estimate];
    return (double)waited_ns[ARGUS_WAITED_SLEPT] + (double)waited_ns[ARGUS_WAITED_IDLE];
}

/* Consecutive sleeps are in one instance. In other instances, another thread ended the wait, so it
 * is not a sleep. */
static struct slept slept_of(struct sleeper sleeper)
{
    struct slept slept = {0};
    const struct sleep_sum *sum = sum_of(sleeper);
    if (!sum)
        return slept;
    double count = sum->count, instances = (double)sleeper.node->count;
    slept.ended = sum->ended_count ? (double)sum->ended_ns / sum->ended_count : 0;
    if (!sum->count)
        return slept;
    slept.ns = waited_in_vain(sleeper);
    slept.instances = count < instances || !instances ? count : instances;
    double mean = slept.ns / count, single = sum->squares / count - mean * mean;
    slept.variance = single > 0 ? single * count / slept.instances : 0;
    return slept;
}

/* How long threads that live for `lived_ns` are expected to wait at a place, where in the base they
 * waited for `waited_ns` of their lives. */
static double expected_wait(const struct sleep_sum *base, double waited_ns, double lived_ns)
{
    double base_lived_ns = (double)base->lived_ns;
    if (waited_ns >= HOME * base_lived_ns)
        return fmax(waited_ns + lived_ns - base_lived_ns, 0);
    return base_lived_ns ? waited_ns * lived_ns / base_lived_ns : waited_ns;
}

double sleeps_expected(struct sleeper now, struct sleeper base, double waited_ns)
{
    const struct sleep_sum *here = sum_of(now), *there = base.sleeps ? sum_of(base) : NULL;
    if (!here || !there || here->has_own_life || there->has_own_life)
        return waited_ns;
    return expected_wait(there, waited_ns, (double)here->lived_ns);
}

/* What exceeds the base's share of the lives, of waits that others ended, too; `excess` if that is
 * less, or if the lives tell nothing. */
static double beyond_life(struct sleeper now, struct sleeper base, double excess)
{
    const struct sleep_sum *here = sum_of(now), *there = sum_of(base);
    if (!here || !there || here->has_own_life || there->has_own_life)
        return excess;
    double before = waited_in_vain(base) + (double)there->ended_ns;
    double expected = expected_wait(there, before, (double)here->lived_ns);
    double beyond = waited_in_vain(now) + (double)here->ended_ns - expected;
    return fmin(excess, fmax(beyond, 0));
}

static double excess_of_means(struct sleeper now, struct sleeper base)
{
    struct slept here = slept_of(now), there = slept_of(base);
    if (!here.ns || !there.ns)
        return fmax(here.ns - here.instances * there.ended, 0);
    double difference = here.ns / here.instances - there.ns / there.instances;
    double chance = CHANCE * sqrt(there.variance * (1 / here.instances + 1 / there.instances));
    double beyond = fabs(difference) > chance ? fabs(difference) - chance : 0;
    return (difference < 0 ? -beyond : beyond) * here.instances;
}

/* Whether its threads do hardly anything else after their first wait here. */
static bool is_home(struct sleeper sleeper)
{
    const struct sleep_sum *sum = sum_of(sleeper);
    return sum && waited_in_vain(sleeper) + (double)sum->ended_ns >= HOME * (double)sum->lived_ns;
}

double sleeps_excess(struct sleeper now, struct sleeper base, struct sleeper home)
{
    if (!base.sleeps)
        return (double)now.node->waited_ns[now.estimate][ARGUS_WAITED_SLEPT];
    double excess = excess_of_means(now, base);
    if (!base.node && !is_home(now))
        return excess;
    return beyond_life(now, base.node ? base : home, excess);
}

bool sleeps_device_is_known(struct sleeper base)
{
    const struct sleep_sum *there = sum_of(base);
    return there && there->device_count >= KNOWN;
}

double sleeps_device_variance(struct sleeper now, struct sleeper base)
{
    const struct sleep_sum *here = sum_of(now), *there = base.sleeps ? sum_of(base) : NULL;
    if (!there || there->device_count < 2)
        return 0;
    double count = there->device_count, mean = (double)there->device_ns / count;
    double single = (there->device_squares / count - mean * mean) * count / (count - 1);
    return single > 0 ? single * (count + (here ? here->device_count : 0)) : 0;
}
