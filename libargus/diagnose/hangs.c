#include "diagnose/hangs.h"

#include <string.h>

const char *argus_indicator_name(enum argus_indicator indicator)
{
    static const char *const names[] = {
        [ARGUS_INDICATOR_EVENT_LOOP] = "event loop did not come back",
        [ARGUS_INDICATOR_LONGEST] = "longest stretch",
        [ARGUS_INDICATOR_NAMED] = "named by the user",
    };
    return (size_t)indicator < sizeof(names) / sizeof(names[0]) ? names[indicator] : "unknown";
}

/* --- measuring --- */

static bool wakes_others(const struct view *view, const struct argus_vertex *v)
{
    const struct argus_op *ops;
    size_t count = argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count && v->first_op + i < count; i++)
        if (ops[v->first_op + i].code >> 24 == ARGUS_OP_WAKE)
            return true;
    return false;
}

bool is_yielding(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    if (v->flags & ARGUS_VERTEX_YIELDS)
        return !wakes_others(view, v);
    return v->yield_calls > MANY_YIELDS;
}

/* The vertex with the largest part, for each type. */
struct largest {
    uint64_t ns[ARGUS_TYPE_LONG_WAIT + 1];
    uint32_t vertex[ARGUS_TYPE_LONG_WAIT + 1];
};

static uint64_t overlap(uint64_t start, uint64_t end, const struct argus_hang *hang)
{
    uint64_t from = start > hang->start_ns ? start : hang->start_ns;
    uint64_t to = end < hang->end_ns ? end : hang->end_ns;
    return from < to ? to - from : 0;
}

static void take_part(struct largest *largest, enum argus_vertex_type type, uint32_t vertex,
                      uint64_t ns)
{
    if (ns > largest->ns[type]) {
        largest->ns[type] = ns;
        largest->vertex[type] = vertex;
    }
}

static void measure_vertex(const struct view *view, uint32_t vertex, struct argus_hang *hang,
                           struct largest *largest)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint64_t own = overlap(v->start_ns, v->end_ns, hang);
    uint64_t wait = overlap(v->end_ns, timeline_wait_end(view, vertex), hang);
    hang->wait_ns += wait;
    take_part(largest, ARGUS_TYPE_LONG_WAIT, vertex, wait);
    if (is_yielding(view, vertex)) {
        hang->yield_ns += own;
        take_part(largest, ARGUS_TYPE_REPEATED_YIELD, vertex, own);
    } else if (v->flags & ARGUS_VERTEX_YIELDS) {
        hang->wait_ns += own;
        take_part(largest, ARGUS_TYPE_LONG_WAIT, vertex, own + wait);
    } else if (own > 0) {
        uint64_t runnable =
            (uint64_t)((unsigned __int128)v->runnable_ns * own / (v->end_ns - v->start_ns));
        runnable = runnable < own ? runnable : own;
        hang->runnable_ns += runnable;
        hang->run_ns += own - runnable;
        take_part(largest, ARGUS_TYPE_LONG_RUNNING, vertex, own);
    }
}

static enum argus_vertex_type type_of(const struct argus_hang *hang)
{
    uint64_t run = hang->run_ns + hang->runnable_ns;
    if (hang->yield_ns > run && hang->yield_ns > hang->wait_ns)
        return ARGUS_TYPE_REPEATED_YIELD;
    return run > hang->wait_ns ? ARGUS_TYPE_LONG_RUNNING : ARGUS_TYPE_LONG_WAIT;
}

void hang_measure(const struct view *view, struct argus_hang *hang)
{
    struct largest largest = {.ns = {0}};
    const struct argus_thread *t = &view->threads[hang->thread];
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    if (v == ARGUS_NONE)
        v = t->first_vertex;
    for (; v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < hang->end_ns; v++)
        measure_vertex(view, v, hang, &largest);
    hang->type = (uint8_t)type_of(hang);
    if (hang->vertex == ARGUS_NONE)
        hang->vertex = largest.ns[hang->type] ? largest.vertex[hang->type] : t->first_vertex;
}

struct argus_hang argus_hang_of_vertex(const struct argus_graph *graph, uint32_t vertex)
{
    struct view view = view_of(graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    struct argus_hang hang = {.start_ns = v->start_ns,
                              .end_ns = timeline_wait_end(&view, vertex),
                              .thread = v->thread,
                              .vertex = vertex,
                              .indicator = ARGUS_INDICATOR_NAMED};
    hang.ongoing = timeline_next(&view, vertex) == ARGUS_NONE && !(v->flags & ARGUS_VERTEX_EXITED);
    hang_measure(&view, &hang);
    return hang;
}

/* --- event loops --- */

/* A poll for whatever may come. */
static const struct habit *loop_habit(const struct habits *habits,
                                      const struct argus_vertex *vertex)
{
    const struct habit *habit = habits_of(habits, vertex);
    return habit && habit->kind == ARGUS_WAIT_POLL && !habit->answers ? habit : NULL;
}

/* A thread that polled too seldom in this trace to be known as an event loop may have been too busy for it. */
static bool add_if_long(const struct view *view, struct argus_hang hang, bool sure,
                        uint64_t threshold_ns, hang_list *ret)
{
    if (hang.end_ns < hang.start_ns || hang.end_ns - hang.start_ns < threshold_ns)
        return true;
    hang.vertex = ARGUS_NONE;
    hang_measure(view, &hang);
    return (!sure && hang.type != ARGUS_TYPE_LONG_RUNNING) || vec_push(ret, hang);
}

/* From each home wait to the next; a poll with a short timeout that the yield rule merged is idleness too. */
static bool scan_loop(const struct view *view, uint32_t thread, const struct habits *habits,
                      uint64_t threshold_ns, hang_list *ret)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct habit *left = NULL;
    bool done = true;
    struct argus_hang hang = {.thread = thread, .indicator = ARGUS_INDICATOR_EVENT_LOOP};
    for (uint32_t v = t->first_vertex; done && v < t->first_vertex + t->vertex_count; v++) {
        const struct argus_vertex *vertex = &view->vertices[v];
        const struct habit *habit = loop_habit(habits, vertex);
        if (habit && is_answered_wait(view, v))
            habit = NULL;
        bool is_last = timeline_next(view, v) == ARGUS_NONE;
        /* A poll of its own in the middle of a handler is not the way home, unless nothing else is. */
        if (!is_last && (!habit || (left && left->home && !habit->home)))
            continue;
        hang.end_ns = habit ? vertex->end_ns : timeline_wait_end(view, v);
        if (vertex->flags & ARGUS_VERTEX_YIELDS && habit)
            hang.end_ns = vertex->start_ns;
        hang.ongoing = !habit && !(vertex->flags & ARGUS_VERTEX_EXITED);
        if (left)
            done = add_if_long(view, hang, left->home, threshold_ns, ret);
        left = is_last ? NULL : habit;
        if (left)
            hang.start_ns = view->vertices[v + 1].start_ns;
    }
    return done;
}

bool hangs_of_event_loop(const struct view *view, uint32_t thread, uint64_t threshold_ns,
                         hang_list *ret)
{
    struct habits habits;
    bool done =
        habits_find(view, thread, &habits) && scan_loop(view, thread, &habits, threshold_ns, ret);
    habits_deinit(&habits);
    return done;
}

/* --- the list --- */

bool hang_is_wanted(const struct view *view, const struct argus_hang_options *options,
                    uint32_t thread)
{
    const struct argus_thread *t = &view->threads[thread];
    const struct argus_process *process = &view->processes[t->process];
    if (process->kernel || t->idle || t->vertex_count == 0)
        return false;
    if (options->process_name && strcmp(options->process_name, process->name) != 0)
        return false;
    return (options->pid == 0 || options->pid == process->pid) &&
           (options->tid == 0 || options->tid == t->tid);
}

static int compare_hangs(const void *a, const void *b)
{
    const struct argus_hang *x = a, *y = b;
    uint64_t x_ns = x->end_ns - x->start_ns, y_ns = y->end_ns - y->start_ns;
    if (x_ns != y_ns)
        return x_ns > y_ns ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static struct argus_error *nothing_wanted(const struct argus_hang_options *options)
{
    if (options->process_name)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "the trace has no process named \"%s\" that ran",
                                  options->process_name);
    if (options->pid)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the trace has no process %llu that ran",
                                  (unsigned long long)options->pid);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the trace has no thread %llu that ran",
                              (unsigned long long)options->tid);
}

struct argus_error *argus_hangs_find(const struct argus_graph *graph,
                                     const struct argus_hang_options *options,
                                     struct argus_hangs *ret)
{
    struct view view = view_of(graph);
    hang_list list = {0};
    uint64_t threshold = options->threshold_ns ? options->threshold_ns : ARGUS_HANG_THRESHOLD_NS;
    bool named = options->process_name || options->pid || options->tid, any = false, done = true;
    for (uint32_t thread = 0; done && thread < view.thread_count; thread++) {
        if (!hang_is_wanted(&view, options, thread))
            continue;
        any = true;
        done = hangs_of_event_loop(&view, thread, threshold, &list);
    }
    if (done && named && !any)
        return nothing_wanted(options);
    if (done && named && list.length == 0 && options->at_least_one)
        done = hangs_longest(&view, options, &list);
    if (!done) {
        vec_deinit(&list);
        return argus_error_memory();
    }
    if (list.length > 0)
        qsort(list.data, list.length, sizeof(*list.data), compare_hangs);
    *ret = (struct argus_hangs){.items = list.data, .count = list.length};
    return NULL;
}

void argus_hangs_deinit(struct argus_hangs *hangs)
{
    free(hangs->items);
    *hangs = (struct argus_hangs){0};
}
