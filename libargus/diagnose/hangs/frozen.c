/* Finds the time in which a machine that is being suspended runs nothing.
 *
 * While the machine sleeps, the trace's clock stands still, and nothing has to be subtracted. But
 * before the sleep, all threads are frozen and devices are switched off, and after it, devices are
 * switched on and threads thawed. That takes seconds of the clock, in which no user thread runs.
 * The suspend is noticed soon after the thaw, so the longest time without any running thread in the
 * 30 s before that notice is taken. On a machine that was idle before, this is too long; it is only
 * used to raise the threshold of hangs that contain it.
 */
#include "diagnose/hangs/finder.h"

#include <stdlib.h>

#define LONGEST_FREEZE_NS 30000000000ull

/* Bounds of the work for traces with absurdly many suspends; the later ones are left out. */
enum { MOST_SUSPENDS = 4096, LEAST_STEPS = 1 << 20, STEPS_OF_A_VERTEX = 16 };

struct run {
    uint64_t start_ns, end_ns;
};

typedef VEC(struct run) run_list;

static bool add_runs(const struct view *view, uint32_t thread, struct run window, run_list *ret)
{
    const struct argus_thread *t = &view->threads[thread];
    if (t->idle || t->vertex_count == 0 || view->processes[t->process].kernel)
        return true;
    uint32_t v = timeline_before(view, thread, window.start_ns);
    bool done = true;
    for (v = v == ARGUS_NONE ? t->first_vertex : v; done && v < t->first_vertex + t->vertex_count &&
                                                    view->vertices[v].start_ns < window.end_ns;
         v++)
        if (view->vertices[v].end_ns > window.start_ns)
            done =
                vec_push(ret, ((struct run){view->vertices[v].start_ns, view->vertices[v].end_ns}));
    return done;
}

static int by_start(const void *left, const void *right)
{
    const struct run *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* The longest part of `window` that no run covers. */
static struct run longest_silence(struct run window, run_list *runs)
{
    struct run longest = {window.start_ns, window.start_ns};
    uint64_t covered_ns = window.start_ns;
    if (runs->length)
        qsort(runs->data, runs->length, sizeof(*runs->data), by_start);
    for (size_t i = 0; i <= runs->length; i++) {
        uint64_t next_ns = i < runs->length ? runs->data[i].start_ns : window.end_ns;
        if (next_ns > covered_ns && next_ns - covered_ns > longest.end_ns - longest.start_ns)
            longest = (struct run){covered_ns, next_ns};
        if (i < runs->length && runs->data[i].end_ns > covered_ns)
            covered_ns = runs->data[i].end_ns;
    }
    return longest;
}

static bool find_one(struct finder *finder, const struct argus_suspension *suspension,
                     uint64_t *steps)
{
    uint64_t until_ns = suspension->noticed_ns;
    struct run window = {until_ns > LONGEST_FREEZE_NS ? until_ns - LONGEST_FREEZE_NS : 0, until_ns};
    run_list runs = {0};
    bool done = true;
    for (uint32_t thread = 0; done && thread < finder->view->thread_count; thread++)
        done = add_runs(finder->view, thread, window, &runs);
    *steps += finder->view->thread_count + runs.length;
    if (done) {
        struct run silence = longest_silence(window, &runs);
        done = vec_push(&finder->frozen,
                        ((struct frozen){silence.start_ns, silence.end_ns, *suspension}));
    }
    vec_deinit(&runs);
    return done;
}

bool frozen_find(struct finder *finder)
{
    const struct argus_suspension *suspensions;
    size_t count = argus_graph_suspensions(finder->view->graph, &suspensions);
    uint64_t steps = 0,
             most = LEAST_STEPS + STEPS_OF_A_VERTEX * (uint64_t)finder->view->vertex_count;
    bool done = true;
    for (size_t i = 0; done && i < count && i < MOST_SUSPENDS && steps < most; i++)
        done = find_one(finder, &suspensions[i], &steps);
    return done;
}
