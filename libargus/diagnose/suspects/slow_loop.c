#include "diagnose/suspects/slow_loop.h"

#include "base/overlap.h"

enum { FEWEST_PAUSES = 3 };

bool is_same_pause(const struct view *view, uint32_t vertex, uint32_t other)
{
    const struct argus_wait *a = &view->vertices[vertex].wait, *b = &view->vertices[other].wait;
    return a->kind == ARGUS_WAIT_SLEEP && b->kind == ARGUS_WAIT_SLEEP && a->syscall == b->syscall &&
           a->user_stack == b->user_stack && a->user_stack != ARGUS_NONE;
}

static bool pauses_again(const struct view *view, uint32_t vertex, struct window part)
{
    uint64_t paused_ns = 0;
    uint32_t pauses = 0, thread = view->vertices[vertex].thread;
    uint32_t first = timeline_before(view, thread, part.start_ns + 1);
    if (first == ARGUS_NONE) /* the thread began later */
        first = view->threads[thread].first_vertex;
    for (uint32_t v = first; v != ARGUS_NONE && view->vertices[v].end_ns < part.end_ns;
         v = timeline_next(view, v)) {
        uint64_t pause_ns = overlap_ns(view->vertices[v].end_ns, timeline_wait_end(view, v),
                                       part.start_ns, part.end_ns);
        bool pauses_here = pause_ns && is_same_pause(view, vertex, v);
        paused_ns += pauses_here ? pause_ns : 0;
        pauses += pauses_here;
    }
    return pauses >= FEWEST_PAUSES && paused_ns >= window_ns(part) / 2;
}

struct argus_error *slow_loop_detect(struct diagnoser *d, uint32_t vertex, struct window part,
                                     bool *ret)
{
    *ret = false;
    if (d->view.vertices[vertex].wait.kind != ARGUS_WAIT_SLEEP ||
        !pauses_again(&d->view, vertex, part))
        return NULL;
    struct argus_code_loop loop;
    struct argus_error *error = read_code_loop(d, vertex, part, &loop);
    if (error)
        return error;
    *ret = loop.variable_count > 0;
    code_loop_free(&loop);
    return NULL;
}
