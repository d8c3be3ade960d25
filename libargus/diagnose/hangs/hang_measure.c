/* What a hang is: its figures, its type, its spinning vertex, and its nature.
 *
 * The thread's own time in the hang is divided into running, being runnable, waiting, and turns of
 * a yield loop. The largest of these decides the type (running and being runnable count together:
 * the thread had work to do). The nature says what kind of running or waiting most of it was.
 */
#include "base/overlap.h"
#include "diagnose/file_locks.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/suspects/slow_loop.h"

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

static void take_part(struct largest *largest, enum argus_vertex_type type, uint32_t vertex,
                      uint64_t ns)
{
    if (ns > largest->ns[type]) {
        largest->ns[type] = ns;
        largest->vertex[type] = vertex;
    }
}

static void measure_wait(const struct argus_wait *wait, uint64_t wait_ns, struct argus_hang *hang)
{
    if (wait_ns == 0)
        return;
    hang->stopped_ns += wait->kind == ARGUS_WAIT_STOPPED ? wait_ns : 0;
    hang->disk_ns += wait->kind == ARGUS_WAIT_DISK ? wait_ns : 0;
    if (wait->kind == ARGUS_WAIT_FAULT) {
        hang->fault_ns += wait_ns;
        hang->fault_count++;
    }
}

static void measure_vertex(const struct view *view, uint32_t vertex, struct argus_hang *hang,
                           struct largest *largest)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    uint64_t own = overlap_ns(v->start_ns, v->end_ns, hang->start_ns, hang->end_ns);
    uint64_t wait =
        overlap_ns(v->end_ns, timeline_wait_end(view, vertex), hang->start_ns, hang->end_ns);
    hang->wait_ns += wait;
    measure_wait(&v->wait, wait, hang);
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
    uint64_t wait = hang->wait_ns > hang->stepped_ns ? hang->wait_ns - hang->stepped_ns : 0;
    if (hang->yield_ns > run && hang->yield_ns > wait)
        return ARGUS_TYPE_REPEATED_YIELD;
    return run > wait ? ARGUS_TYPE_LONG_RUNNING : ARGUS_TYPE_LONG_WAIT;
}

/* The first vertex that is, or whose wait is, in the hang or just before it. */
static uint32_t first_vertex(const struct view *view, const struct argus_hang *hang)
{
    uint32_t v = timeline_before(view, hang->thread, hang->start_ns + 1);
    return v == ARGUS_NONE ? view->threads[hang->thread].first_vertex : v;
}

/* While a polling loop is stepped, each of its turns is a vertex, and each step one that ends in a
 * stop. The pauses are still those of the loop. */
static void measure_stepping(const struct view *view, struct argus_hang *hang,
                             const struct largest *largest)
{
    uint32_t loop = largest->vertex[ARGUS_TYPE_REPEATED_YIELD];
    uint64_t pauses_ns = 0;
    bool steps = false;
    if (!largest->ns[ARGUS_TYPE_REPEATED_YIELD])
        return;
    for (uint32_t v = first_vertex(view, hang);
         v != ARGUS_NONE && view->vertices[v].start_ns < hang->end_ns; v = timeline_next(view, v)) {
        uint64_t wait_ns = overlap_ns(view->vertices[v].end_ns, timeline_wait_end(view, v),
                                      hang->start_ns, hang->end_ns);
        if (stepping_holds(view, v, &steps))
            hang->stepped_ns += wait_ns;
        else if (is_same_pause(view, loop, v))
            pauses_ns += wait_ns;
    }
    if (!hang->stepped_ns)
        return;
    hang->wait_ns -= pauses_ns;
    hang->yield_ns += pauses_ns;
}

/* A thread that tries to get a lock and sleeps in between, again and again, is a loop, however long
 * it sleeps. */
static void measure_tries(const struct view *view, struct argus_hang *hang, struct largest *largest)
{
    struct lock_tries tries;
    uint32_t wait = largest->vertex[ARGUS_TYPE_LONG_WAIT];
    if (type_of(hang) != ARGUS_TYPE_LONG_WAIT || !largest->ns[ARGUS_TYPE_LONG_WAIT] ||
        !lock_tries_detect(view, hang->thread, hang->start_ns, hang->end_ns, &tries))
        return;
    take_part(largest, ARGUS_TYPE_REPEATED_YIELD, wait, largest->ns[ARGUS_TYPE_LONG_WAIT]);
    hang->yield_ns += hang->wait_ns;
    hang->wait_ns = 0;
}

/* --- natures --- */

/* Fewer page faults that had to wait are not a storm. */
#define STORM_FAULTS 10

static uint64_t length_ns(const struct argus_hang *hang)
{
    return hang->end_ns - hang->start_ns;
}

static bool is_stopped(const struct argus_hang *hang)
{
    return hang->stopped_ns - hang->stepped_ns >= length_ns(hang) / 2;
}

static bool lacks_cpu(const struct argus_hang *hang)
{
    return hang->runnable_ns >= length_ns(hang) / 2;
}

static bool pages_in(const struct argus_hang *hang)
{
    return hang->fault_ns >= length_ns(hang) / 2 && hang->fault_count >= STORM_FAULTS;
}

static bool is_at_disk(const struct argus_hang *hang)
{
    return hang->fault_ns + hang->disk_ns >= length_ns(hang) / 2;
}

/* The first one that applies wins. To add a nature: a row, a value of enum argus_hang_nature, and
 * its name in report/result_names.c. IDLE depends on more than figures; the code that names the
 * hang sets it. */
static bool (*const natures[])(const struct argus_hang *hang) = {
    [ARGUS_NATURE_STOPPED] = is_stopped,
    [ARGUS_NATURE_NO_CPU] = lacks_cpu,
    [ARGUS_NATURE_PAGE_IN] = pages_in,
    [ARGUS_NATURE_DISK] = is_at_disk,
};

static enum argus_hang_nature nature_of(const struct argus_hang *hang)
{
    if (length_ns(hang) == 0)
        return ARGUS_NATURE_PLAIN;
    for (size_t i = 0; i < sizeof(natures) / sizeof(*natures); i++)
        if (natures[i] && natures[i](hang))
            return (enum argus_hang_nature)i;
    return ARGUS_NATURE_PLAIN;
}

/* --- the hang --- */

/* The vertex that shows the type best. Of several waits, that may be one that something unrelated
 * ended (a key); then the vertex whose wait was ended by the answer that all of them were for is
 * taken. */
static uint32_t spinning_vertex(const struct view *view, const struct argus_hang *hang,
                                const struct largest *largest)
{
    uint32_t vertex = largest->ns[hang->type] ? largest->vertex[hang->type]
                                              : view->threads[hang->thread].first_vertex;
    if (hang->type != ARGUS_TYPE_LONG_WAIT ||
        answer_asked_ns(view, vertex, hang->start_ns) != UINT64_MAX)
        return vertex;
    uint32_t answered = late_answer(view, hang);
    return answered != ARGUS_NONE ? answered : vertex;
}

void hang_measure(const struct view *view, struct argus_hang *hang)
{
    struct largest largest = {.ns = {0}};
    const struct argus_thread *t = &view->threads[hang->thread];
    for (uint32_t v = first_vertex(view, hang);
         v < t->first_vertex + t->vertex_count && view->vertices[v].start_ns < hang->end_ns; v++)
        measure_vertex(view, v, hang, &largest);
    measure_stepping(view, hang, &largest);
    measure_tries(view, hang, &largest);
    hang->type = (uint8_t)type_of(hang);
    hang->nature = (uint8_t)nature_of(hang);
    if (hang->vertex == ARGUS_NONE)
        hang->vertex = spinning_vertex(view, hang, &largest);
}

struct argus_hang argus_hang_of_vertex(const struct argus_graph *graph, uint32_t vertex)
{
    struct view view = view_of(graph);
    const struct argus_vertex *v = &view.vertices[vertex];
    struct argus_hang hang = {.start_ns = v->start_ns,
                              .end_ns = timeline_wait_end(&view, vertex),
                              .thread = v->thread,
                              .vertex = vertex,
                              .indicator = ARGUS_INDICATOR_NAMED,
                              .indicators = 1u << ARGUS_INDICATOR_NAMED,
                              .urgency = ARGUS_URGENCY_SET_OFF};
    hang.ongoing = timeline_next(&view, vertex) == ARGUS_NONE && !(v->flags & ARGUS_VERTEX_EXITED);
    hang_measure(&view, &hang);
    return hang;
}
