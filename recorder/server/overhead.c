#include "server/overhead.h"

#include <stddef.h>

#define NO_GROUP OVERHEAD_GROUPS

/* The first whose absence costs an answer least; argus-recorder(8), OVERHEAD, has the same order.
 * Message records are written when system calls end, and what a poll tells ends callbacks of
 * probes, so these are one group. sched is never left out. */
static const uint32_t groups[OVERHEAD_GROUPS] = {
    CATEGORY_BIT(CATEGORY_INTERRUPTS),
    CATEGORY_BIT(CATEGORY_WORK),
    CATEGORY_BIT(CATEGORY_TIMERS),
    CATEGORY_BIT(CATEGORY_SIGNALS),
    CATEGORY_BIT(CATEGORY_BLOCK),
    CATEGORY_BIT(CATEGORY_STACKS),
    CATEGORY_BIT(CATEGORY_SYSCALLS) | CATEGORY_BIT(CATEGORY_MESSAGES) |
        CATEGORY_BIT(CATEGORY_PROBES),
};

#define ABOVE_PERIODS 2 /* one busy second is no reason */
/* A group that saves less of the limit, or of what is above it, is left alone. */
#define LIMIT_DIVISOR  10
#define EXCESS_DIVISOR 4
/* Below this part of the limit a group may come back. */
#define CALM_NUMERATOR   2
#define CALM_DENOMINATOR 3

void overhead_init(struct overhead *overhead, uint32_t limit, uint32_t allowed)
{
    *overhead = (struct overhead){.limit = limit, .allowed = allowed};
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++)
        overhead->groups[i].pause_ns = OVERHEAD_PAUSE_FIRST_NS;
}

/* At most OVERHEAD_WHOLE: clocks that disagree must not give a number without a meaning. */
static uint32_t share_of(uint64_t ns, uint64_t available_ns)
{
    if (ns >= available_ns)
        return available_ns ? OVERHEAD_WHOLE : 0;
    return (uint32_t)((double)ns * OVERHEAD_WHOLE / (double)available_ns);
}

static uint64_t saved_ns(const struct overhead_cost *cost, size_t group)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (groups[group] & CATEGORY_BIT(i))
            sum_ns += cost->saved_ns[i];
    return sum_ns;
}

static bool may_go(const struct overhead *overhead, size_t group)
{
    return (overhead->allowed & groups[group]) && !overhead->groups[group].is_out;
}

/* Whether it came back so recently that it is the probable reason for a new excess. */
static bool is_on_trial(const struct overhead_group_state *state, uint64_t now_ns)
{
    return !state->is_out && state->changed_ns && now_ns - state->changed_ns < OVERHEAD_PROVEN_NS;
}

/* Whether it saves a share of the limit, and not nothing: a tenth of a small limit rounds to 0. */
static bool saves_of_limit(const struct overhead *overhead, const struct overhead_cost *cost,
                           size_t group)
{
    uint32_t saves = share_of(saved_ns(cost, group), cost->available_ns);
    return saves > 0 && saves >= overhead->limit / LIMIT_DIVISOR;
}

/* Whether leaving out the group is worth what it costs the answers: it must save a part of the
 * limit, and of the excess. */
static bool is_noticeable(const struct overhead *overhead, const struct overhead_cost *cost,
                          size_t group)
{
    uint32_t saves = share_of(saved_ns(cost, group), cost->available_ns);
    uint32_t excess = overhead->share > overhead->limit ? overhead->share - overhead->limit : 0;
    return may_go(overhead, group) && saves_of_limit(overhead, cost, group) &&
           saves >= excess / EXCESS_DIVISOR;
}

static size_t on_trial(const struct overhead *overhead, const struct overhead_cost *cost,
                       uint64_t now_ns)
{
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++)
        if (is_on_trial(&overhead->groups[i], now_ns) && is_noticeable(overhead, cost, i))
            return i;
    return NO_GROUP;
}

static size_t first_noticeable(const struct overhead *overhead, const struct overhead_cost *cost)
{
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++)
        if (is_noticeable(overhead, cost, i))
            return i;
    return NO_GROUP;
}

/* Where no single group saves enough: the one that saves most, unless that is nothing. */
static size_t largest(const struct overhead *overhead, const struct overhead_cost *cost)
{
    size_t best = NO_GROUP;
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++)
        if (may_go(overhead, i) && saves_of_limit(overhead, cost, i) &&
            (best == NO_GROUP || saved_ns(cost, i) > saved_ns(cost, best)))
            best = i;
    return best;
}

static void leave_out(struct overhead *overhead, size_t group, uint64_t now_ns)
{
    struct overhead_group_state *state = &overhead->groups[group];
    bool again = is_on_trial(state, now_ns);
    state->pause_ns = again ? 2 * state->pause_ns : OVERHEAD_PAUSE_FIRST_NS;
    if (state->pause_ns > OVERHEAD_PAUSE_LONGEST_NS)
        state->pause_ns = OVERHEAD_PAUSE_LONGEST_NS;
    state->is_out = true;
    state->changed_ns = now_ns;
}

/* The last of the order comes back first. */
static void bring_back(struct overhead *overhead, uint64_t now_ns)
{
    for (size_t i = OVERHEAD_GROUPS; i-- > 0;) {
        struct overhead_group_state *state = &overhead->groups[i];
        if (!state->is_out || now_ns - state->changed_ns < state->pause_ns)
            continue;
        state->is_out = false;
        state->changed_ns = now_ns;
        return;
    }
}

uint32_t overhead_decide(struct overhead *overhead, uint64_t now_ns,
                         const struct overhead_cost *cost)
{
    overhead->share = share_of(cost->total_ns, cost->available_ns);
    overhead->above = overhead->share > overhead->limit ? overhead->above + 1 : 0;
    if (overhead->above >= ABOVE_PERIODS) {
        size_t group = on_trial(overhead, cost, now_ns);
        if (group == NO_GROUP)
            group = first_noticeable(overhead, cost);
        if (group == NO_GROUP)
            group = largest(overhead, cost);
        overhead->is_helpless = group == NO_GROUP;
        if (group != NO_GROUP)
            leave_out(overhead, group, now_ns);
        overhead->above = 0;
    } else if ((uint64_t)overhead->share * CALM_DENOMINATOR <=
               (uint64_t)overhead->limit * CALM_NUMERATOR) {
        bring_back(overhead, now_ns);
    }
    uint32_t out = 0;
    for (size_t i = 0; i < OVERHEAD_GROUPS; i++)
        out |= overhead->groups[i].is_out ? groups[i] & overhead->allowed : 0;
    return out;
}
