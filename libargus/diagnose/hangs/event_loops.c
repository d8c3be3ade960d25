/* Lists the threads of a trace that are event loops, so that a user who gets no hang can see what
 * was examined. */
#include <stdlib.h>

#include "base/overlap.h"
#include "diagnose/hangs/finder.h"

typedef VEC(struct argus_loop) loop_list;

/* Adds the thread if one of its homes is an event loop's. False without memory. */
static bool add_if_loop(const struct view *view, const struct argus_hang_options *options,
                        uint32_t thread, loop_list *list)
{
    const struct argus_thread *t = &view->threads[thread];
    struct argus_loop loop = {.thread = thread};
    struct habits habits;
    uint64_t from_ns = options->has_time ? options->time_ns : 0;
    uint64_t until_ns = options->has_time ? options->until_ns : UINT64_MAX;
    bool is_loop = false, done = habits_find(view, thread, &habits);
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct habit *habit = habits_of(&habits, &view->vertices[v]);
        uint64_t start_ns = view->vertices[v].end_ns, end_ns = timeline_wait_end(view, v);
        if (!habit || !habit->home || (habit->kind != ARGUS_WAIT_POLL && !habit->loop))
            continue;
        is_loop = true;
        loop.idle_ns += overlap_ns(start_ns, end_ns, from_ns, until_ns);
        if (end_ns - start_ns <= loop.end_ns - loop.start_ns)
            continue;
        loop.start_ns = start_ns;
        loop.end_ns = end_ns;
    }
    habits_deinit(&habits);
    return done && (!is_loop || vec_push(list, loop));
}

static int by_idleness(const void *left, const void *right)
{
    const struct argus_loop *a = left, *b = right;
    uint64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;
    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

struct argus_error *argus_loops_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_loops *ret)
{
    struct view view = view_of(graph);
    loop_list list = {.length = 0};
    bool done = true;
    for (uint32_t thread = 0; done && thread < view.thread_count; thread++)
        if (hang_is_wanted(&view, options, thread))
            done = add_if_loop(&view, options, thread, &list);
    if (!done) {
        vec_deinit(&list);
        return argus_error_memory();
    }
    if (list.length)
        qsort(list.data, list.length, sizeof(*list.data), by_idleness);
    *ret = (struct argus_loops){.items = list.data, .count = list.length};
    return NULL;
}

void argus_loops_deinit(struct argus_loops *loops)
{
    free(loops->items);
    *loops = (struct argus_loops){0};
}
