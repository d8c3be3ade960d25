#include "coverage.h"

#include <string.h>

enum { SLOW_MS = 120, FAST_MS = 20 };

/* A function that is being executed. */
struct open_call {
    uint64_t start_ns;
    uint32_t node, seen;
};

struct walk {
    struct coverage *coverage;
    VEC(struct open_call) stack;
    uint64_t next_ns[SCHEMES]; /* of schemes that look at a clock */
};

static const uint64_t period_ns[SCHEMES] = {
    [SCHEME_SLOW] = SLOW_MS * 1000000ull, [SCHEME_FAST] = FAST_MS * 1000000ull};

static uint32_t top_node(const struct walk *walk)
{
    return walk->stack.length ? walk->stack.data[walk->stack.length - 1].node : 0;
}

/* Marks the function at `depth` and its callees as seen; its callers inherit the mark when it
 * returns. */
static void mark(struct walk *walk, uint32_t depth, uint32_t bits)
{
    if (depth)
        walk->stack.data[depth - 1].seen |= bits;
}

static void push(struct walk *walk, uint64_t time_ns, uint64_t function)
{
    struct coverage *coverage = walk->coverage;
    uint32_t node = truth_tree_enter(coverage->tree, top_node(walk), time_ns, function);
    struct open_call made = {.start_ns = time_ns, .node = node};
    coverage->calls++;
    while (coverage->contexts.length < coverage->tree->nodes.length)
        if (!vec_push(&coverage->contexts, (struct context_figures){0})) {
            coverage->no_memory = true;
            return;
        }
    coverage->no_memory |= !vec_push(&walk->stack, made);
}

static void pop(struct walk *walk, uint64_t time_ns)
{
    struct coverage *coverage = walk->coverage;
    struct open_call done = walk->stack.data[--walk->stack.length];
    struct context_figures *figures = &coverage->contexts.data[done.node];
    mark(walk, (uint32_t)walk->stack.length, done.seen);
    figures->count++;
    figures->total_ns += time_ns - done.start_ns;
    figures->seen |= done.seen;
    coverage->no_memory |=
        !vec_push(&coverage->instances, (time_ns - done.start_ns) << 8 | done.seen);
}

/* Ends the function that exits, and functions above it that a longjmp has left. */
static void leave(struct walk *walk, uint64_t time_ns, uint64_t function)
{
    struct truth_tree *tree = walk->coverage->tree;
    uint32_t name = idmap_get(&tree->by_address, function);
    size_t at = walk->stack.length;
    while (at && tree->nodes.data[walk->stack.data[at - 1].node].name != name)
        at--;
    if (!at) /* entered before the file begins */
        return;
    walk->coverage->repaired += walk->stack.length - at;
    while (walk->stack.length >= at)
        pop(walk, time_ns);
}

static void on_moment(struct walk *walk, const struct seen_moment *moment)
{
    struct coverage *coverage = walk->coverage;
    const struct truth_tree *tree = coverage->tree;
    struct placed placed = coverage->placed[moment->node];
    uint32_t node = top_node(walk), common = truth_tree_common(tree, node, placed.node);
    uint32_t bits = 0;
    for (int scheme = moment->scheme; scheme <= SCHEME_ALL; scheme++)
        bits |= 1u << scheme;
    mark(walk, tree->nodes.data[common].depth, bits);
    if (moment->scheme == SCHEME_CALLS)
        mark(walk, (uint32_t)walk->stack.length, 1u << SCHEME_SLOW | 1u << SCHEME_FAST);
    if (!node)
        coverage->agreement.outside++;
    else if (common == node && placed.node == node && !placed.is_off)
        coverage->agreement.equal++;
    else if (common == placed.node && !placed.is_off)
        coverage->agreement.outer++;
    else if (common == node && placed.node != node)
        coverage->agreement.in_hook++;
    else
        coverage->agreement.wrong++;
}

static void on_clocks(struct walk *walk, uint64_t now_ns)
{
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        if (period_ns[scheme] && now_ns >= walk->next_ns[scheme]) {
            mark(walk, (uint32_t)walk->stack.length, 1u << scheme);
            uint64_t late_ns = now_ns - walk->next_ns[scheme];
            walk->next_ns[scheme] += (late_ns / period_ns[scheme] + 1) * period_ns[scheme];
        }
}

void coverage_thread(struct coverage *coverage, const struct truth_event *events, size_t count,
                     const struct seen_moment *moments, size_t moment_count)
{
    struct walk walk = {.coverage = coverage};
    uint64_t now_ns = count ? events[0].time_ns_and_exit >> 1 : 0;
    size_t at = 0;
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        walk.next_ns[scheme] = now_ns + period_ns[scheme];
    for (size_t i = 0; i < count && !coverage->no_memory; i++) {
        now_ns = events[i].time_ns_and_exit >> 1;
        while (at < moment_count && moments[at].time_ns < now_ns)
            on_moment(&walk, &moments[at++]);
        on_clocks(&walk, now_ns);
        if (events[i].time_ns_and_exit & 1)
            leave(&walk, now_ns, events[i].function);
        else
            push(&walk, now_ns, events[i].function);
    }
    /* The thread was waiting when the program ended. */
    for (; at < moment_count && walk.stack.length; at++) {
        now_ns = moments[at].time_ns;
        on_moment(&walk, &moments[at]);
    }
    coverage->repaired += walk.stack.length;
    while (walk.stack.length && !coverage->no_memory)
        pop(&walk, now_ns);
    vec_deinit(&walk.stack);
}

void coverage_add(struct coverage *coverage, const struct coverage *more)
{
    while (coverage->contexts.length < more->contexts.length)
        if (!vec_push(&coverage->contexts, (struct context_figures){0})) {
            coverage->no_memory = true;
            return;
        }
    for (size_t i = 0; i < more->contexts.length; i++) {
        coverage->contexts.data[i].count += more->contexts.data[i].count;
        coverage->contexts.data[i].total_ns += more->contexts.data[i].total_ns;
        coverage->contexts.data[i].seen |= more->contexts.data[i].seen;
    }
    if (!vec_reserve(&coverage->instances, more->instances.length)) {
        coverage->no_memory = true;
        return;
    }
    memcpy(coverage->instances.data + coverage->instances.length, more->instances.data,
           more->instances.length * sizeof(uint64_t));
    coverage->instances.length += more->instances.length;
    coverage->agreement.equal += more->agreement.equal;
    coverage->agreement.outer += more->agreement.outer;
    coverage->agreement.in_hook += more->agreement.in_hook;
    coverage->agreement.wrong += more->agreement.wrong;
    coverage->agreement.outside += more->agreement.outside;
    coverage->calls += more->calls;
    coverage->repaired += more->repaired;
}

void coverage_clear(struct coverage *coverage)
{
    coverage->contexts.length = coverage->instances.length = 0;
    coverage->agreement = (struct agreement){0};
    coverage->calls = coverage->repaired = 0;
}

void coverage_deinit(struct coverage *coverage)
{
    vec_deinit(&coverage->contexts);
    vec_deinit(&coverage->instances);
}
