#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnoser.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/habits.h"
#include "diagnose/reasons.h"
#include "diagnose/suspects/spin_loop.h"

#define KNOWN_NS 200000000ull /* of a thread's life, to know its normal behaviour */

/* Whether a thread yielded just as much in an equal time before the window, or since it was first
 * seen: then this is its normal behaviour (a daemon that polls every few milliseconds), and no
 * reaction to anything in the window. */
static bool always_yields(const struct view *view, uint32_t thread, struct window window)
{
    uint64_t length = window_ns(window);
    uint64_t start_ns = window.start_ns > length ? window.start_ns - length : 0;
    uint64_t seen_ns = view->vertices[view->threads[thread].first_vertex].start_ns;
    if (seen_ns > start_ns && seen_ns + KNOWN_NS < window.start_ns)
        start_ns = seen_ns;
    struct argus_hang before = {
        .start_ns = start_ns, .end_ns = window.start_ns, .thread = thread, .vertex = ARGUS_NONE};
    hang_measure(view, &before);
    return before.yield_ns >= (before.end_ns - before.start_ns) / 2;
}

struct examined diagnoser_examine_thread(const struct diagnoser *d, uint32_t thread,
                                         struct window window)
{
    struct examined examined = {.figures = {.start_ns = window.start_ns,
                                            .end_ns = window.end_ns,
                                            .thread = thread,
                                            .vertex = ARGUS_NONE}};
    const struct view *view = &d->view;
    if (view->threads[thread].vertex_count == 0)
        return examined;
    hang_measure(view, &examined.figures);
    const struct argus_hang *figures = &examined.figures;
    uint64_t half = window_ns(window) / 2;
    const struct argus_vertex *v = &view->vertices[figures->vertex];
    if (figures->type == ARGUS_TYPE_LONG_WAIT) {
        uint64_t from = v->end_ns > window.start_ns ? v->end_ns : window.start_ns;
        uint64_t to = timeline_wait_end(view, figures->vertex);
        to = to < window.end_ns ? to : window.end_ns;
        examined.abnormal = to > from && to - from >= half && v->wait.kind != ARGUS_WAIT_NONE;
        examined.idle = examined.abnormal && is_home_wait(view, figures->vertex);
        examined.in_pieces = !examined.abnormal && figures->wait_ns >= half;
    } else {
        uint64_t run = figures->run_ns + figures->runnable_ns;
        examined.abnormal =
            (figures->type == ARGUS_TYPE_LONG_RUNNING ? run : figures->yield_ns) >= half;
        examined.idle = examined.abnormal && figures->type == ARGUS_TYPE_REPEATED_YIELD &&
                        always_yields(view, thread, window);
    }
    return examined;
}

static bool is_culprit(const struct diagnoser *d, uint32_t vertex)
{
    for (size_t i = 0; i < d->culprits.length; i++)
        if (d->culprits.data[i].vertex == vertex)
            return true;
    return false;
}

void culprit_deinit(struct argus_culprit *culprit)
{
    culprit_deinit_functions(culprit);
    code_loop_free(&culprit->loop);
    reason_deinit(&culprit->why);
}

struct argus_error *diagnoser_add_culprit(struct diagnoser *d, uint32_t vertex,
                                          enum argus_vertex_type type, struct window part,
                                          uint64_t ns, const struct argus_reason *why)
{
    if (is_culprit(d, vertex))
        return NULL;
    const struct argus_vertex *v = &d->view.vertices[vertex];
    uint64_t hang_ns = d->hang.end_ns - d->hang.start_ns;
    struct argus_error *error = NULL;
    struct argus_culprit culprit = {.vertex = vertex,
                                    .type = (uint8_t)type,
                                    .remote = ARGUS_NONE,
                                    .start_ns = part.start_ns,
                                    .end_ns = part.end_ns,
                                    .share = hang_ns ? (double)ns / (double)hang_ns : 0.0,
                                    .stack = v->wait.user_stack};
    if (!reason_copy(why, &culprit.why))
        return argus_error_memory();
    if (type == ARGUS_TYPE_LONG_RUNNING)
        error = costly_functions_find(d, v->thread, part, &culprit);
    if (!error && vec_push(&d->culprits, culprit))
        return NULL;
    culprit_deinit(&culprit);
    return error ? error : argus_error_memory();
}

bool diagnoser_add_step(struct diagnoser *d, uint32_t vertex, uint32_t edge, bool expected)
{
    return vec_push(&d->path,
                    (struct argus_path_step){.vertex = vertex, .edge = edge, .expected = expected});
}

long diagnoser_find_step(const struct diagnoser *d, uint32_t thread)
{
    for (size_t i = 0; i < d->path.length; i++)
        if (d->view.vertices[d->path.data[i].vertex].thread == thread)
            return (long)i;
    return -1;
}

struct argus_error *diagnoser_add_uncertain(struct diagnoser *d, const struct argus_reason *reason)
{
    struct argus_reason copy;
    if (!reason_copy(reason, &copy))
        return argus_error_memory();
    if (vec_push(&d->uncertain, copy))
        return NULL;
    reason_deinit(&copy);
    return argus_error_memory();
}

/* How long the same work takes when it is quick, if that is known. */
static struct argus_error *find_normal(struct diagnoser *d, uint32_t vertex, uint64_t busy_ns,
                                       struct argus_reason_normal *ret)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    const struct argus_graph *graph;
    struct argus_similar similar;
    *ret = (struct argus_reason_normal){.is_known = false};
    if (v->run_ns + v->runnable_ns < busy_ns / 2) /* only a part of the work */
        return NULL;
    struct argus_error *error = diagnoser_find_baseline(d, vertex, &similar, &graph);
    if (!error && graph)
        *ret = (struct argus_reason_normal){.is_known = true,
                                            .is_of_other_trace = graph != d->view.graph,
                                            .vertex = similar.vertex,
                                            .ns = similar.busy_ns};
    return error;
}

/* Takes what `loop` owns. */
static struct argus_error *blame_busy(struct diagnoser *d, struct window part,
                                      struct argus_reason *why, struct argus_code_loop *loop)
{
    size_t count = d->culprits.length;
    bool only_polled = loop->variable_count > 0;
    why->more = only_polled ? ARGUS_REASON_ONLY_POLLED : ARGUS_REASON_NONE;
    why->because = only_polled ? (uint8_t)code_loop_reason(loop) : ARGUS_REASON_NONE;
    struct argus_error *error = diagnoser_add_culprit(d, why->vertex, ARGUS_TYPE_LONG_RUNNING, part,
                                                      why->run_ns + why->wanted_ns, why);
    if (error || d->culprits.length == count) {
        code_loop_free(loop);
        return error;
    }
    d->culprits.data[count].polled = only_polled;
    d->culprits.data[count].loop = *loop;
    return NULL;
}

struct argus_error *diagnoser_blame_running(struct diagnoser *d, uint32_t vertex,
                                            struct window part, uint64_t run_ns,
                                            uint64_t runnable_ns)
{
    struct argus_reason_normal normal;
    bool taken = false;
    struct argus_code_loop loop;
    struct argus_error *error =
        runnable_ns > run_ns
            ? NULL
            : diagnoser_blame_memory(d, vertex, ARGUS_TYPE_LONG_RUNNING, part, &taken);
    if (error || taken)
        return error;
    error = find_normal(d, vertex, run_ns + runnable_ns, &normal);
    if (error)
        return error;
    error = read_spin_loop(d, vertex, part, &loop);
    if (!error && loop.variable_count)
        error = diagnoser_try_setter(d, vertex, part, &loop, &taken);
    if (error)
        code_loop_free(&loop);
    if (error || taken)
        return error;
    /* A thread that only polls, whenever it has a CPU, waits for no CPU. */
    if (runnable_ns > run_ns && !loop.variable_count)
        return diagnoser_blame_no_cpu(d, vertex, part, run_ns, runnable_ns, &normal);
    struct argus_reason why = {.kind = runnable_ns > run_ns / 10 ? ARGUS_REASON_RAN_AND_WANTED
                                                                 : ARGUS_REASON_RAN,
                               .vertex = vertex,
                               .run_ns = run_ns,
                               .wanted_ns = runnable_ns,
                               .whole_ns = d->hang.end_ns - d->hang.start_ns,
                               .normal = normal};
    return blame_busy(d, part, &why, &loop);
}
