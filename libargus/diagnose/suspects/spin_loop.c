/* A busy thread that only waits: `while (!is_ready);`, with or without a pause instruction. Nothing
 * but its CPU samples shows that loop. If nearly all of them are in one loop that does nothing but
 * look at variables (steps/loops/loop_effects.h), then the thread waits for these variables. A loop
 * of sched_yield() is known by its calls, which also have no stack but that of samples.
 */
#include "diagnose/suspects/spin_loop.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/hangs/finder.h"

enum {
    MOST_STACKS = 64, /* different ones; a loop that only looks has few */
    LEAST_SAMPLES = 8,
    LEAST_PERCENT = 90, /* of the samples, in one loop */
};

struct stack_count {
    uint32_t stack, count;
};

/* The user stacks of a thread's samples. */
struct sampled {
    struct stack_count all[MOST_STACKS]; /* the most frequent first */
    uint32_t stacks;
    uint32_t samples; /* also those without a stack, and beyond the limit */
};

static void count_stack(struct sampled *sampled, uint32_t stack)
{
    uint32_t at = 0;
    sampled->samples++;
    while (at < sampled->stacks && sampled->all[at].stack != stack)
        at++;
    if (stack == ARGUS_NONE || at == MOST_STACKS)
        return;
    if (at == sampled->stacks)
        sampled->all[sampled->stacks++] = (struct stack_count){.stack = stack};
    sampled->all[at].count++;
}

static int by_count(const void *left, const void *right)
{
    const struct stack_count *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

static void count_stacks(const struct view *view, uint32_t thread, struct window window,
                         struct sampled *ret)
{
    const struct argus_sample *samples;
    const struct argus_thread *t = &view->threads[thread];
    uint32_t v = timeline_before(view, thread, window.start_ns + 1);
    *ret = (struct sampled){.stacks = 0};
    argus_graph_samples(view->graph, &samples);
    for (v = v == ARGUS_NONE ? t->first_vertex : v;
         v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < window.end_ns; v++)
        for (uint32_t i = 0; i < view->vertices[v].sample_count; i++) {
            const struct argus_sample *sample = &samples[view->vertices[v].first_sample + i];
            if (sample->time_ns >= window.start_ns && sample->time_ns < window.end_ns)
                count_stack(ret, sample->user_stack);
        }
    qsort(ret->all, ret->stacks, sizeof(ret->all[0]), by_count);
}

/* --- sched_yield --- */

bool is_loop_of_yields(const struct view *view, uint32_t vertex)
{
    return !(view->vertices[vertex].flags & ARGUS_VERTEX_YIELDS) && is_yielding(view, vertex);
}

static bool is_in_yield(const struct diagnoser *d, const struct argus_vertex *v, uint32_t index)
{
    struct argus_stack stack = argus_graph_stack(d->view.graph, index);
    const char *name = stack.count
                           ? argus_symbols_function(d->symbols, d->view.threads[v->thread].process,
                                                    v->end_ns, stack.frames[0], false)
                           : NULL;
    return name && strstr(name, "sched_yield");
}

uint32_t find_loop_stack(struct diagnoser *d, uint32_t vertex, struct window part)
{
    struct sampled sampled;
    const struct argus_vertex *v = &d->view.vertices[vertex];
    if (!is_loop_of_yields(&d->view, vertex))
        return v->wait.user_stack;
    count_stacks(&d->view, v->thread, part, &sampled);
    for (uint32_t i = 0; d->symbols && i < sampled.stacks; i++)
        if (is_in_yield(d, v, sampled.all[i].stack))
            return sampled.all[i].stack;
    return ARGUS_NONE;
}

/* --- busy loops --- */

/* Also two loops that begin at the same instruction: `while (!stop && (ponder || infinite));`. */
static bool is_same_loop(const struct loop_flags *a, const struct loop_flags *b)
{
    return a->head == b->head && a->all[0].file == b->all[0].file &&
           a->all[0].address == b->all[0].address;
}

/* The stack that tells the loop in which the samples are; ARGUS_NONE. */
static uint32_t find_loop(struct diagnoser *d, uint32_t vertex, const struct sampled *sampled,
                          struct loop_flags *ret)
{
    uint32_t found = ARGUS_NONE, inside = 0, left = sampled->samples;
    uint32_t wanted = (uint32_t)((sampled->samples * (uint64_t)LEAST_PERCENT + 99) / 100);
    for (uint32_t i = 0; i < sampled->stacks && inside + left >= wanted; i++) {
        struct loop_flags flags;
        bool tells = code_loop_find_spin(d, vertex, sampled->all[i].stack, &flags);
        left -= sampled->all[i].count;
        if (!tells || (found != ARGUS_NONE && !is_same_loop(ret, &flags)))
            continue;
        if (found == ARGUS_NONE || flags.count > ret->count) { /* the loop around */
            found = sampled->all[i].stack;
            *ret = flags;
        }
        inside += sampled->all[i].count;
    }
    return inside >= wanted ? found : ARGUS_NONE;
}

struct argus_error *read_spin_loop(struct diagnoser *d, uint32_t vertex, struct window part,
                                   struct argus_code_loop *ret)
{
    struct sampled sampled;
    struct loop_flags flags;
    *ret = (struct argus_code_loop){0};
    if (!code_loop_is_readable(d))
        return NULL;
    count_stacks(&d->view, d->view.vertices[vertex].thread, part, &sampled);
    if (sampled.samples < LEAST_SAMPLES)
        return NULL;
    uint32_t stack = find_loop(d, vertex, &sampled, &flags);
    return stack == ARGUS_NONE ? NULL : code_loop_tell_spin(d, vertex, stack, &flags, ret);
}
