/* Watched variables that cannot be what a loop waits for, or were not seen to be. */
#include "diagnose/diagnoser.h"
#include "diagnose/suspects/watched_flag.h"

static bool vertex_touches(const struct view *view, uint32_t vertex, uint64_t address)
{
    const struct argus_op *ops;
    const struct argus_vertex *v = &view->vertices[vertex];
    uint32_t low = (uint32_t)(address & 0xffffff); /* as much as an operation has of it */
    argus_graph_ops(view->graph, &ops);
    for (uint32_t i = 0; i < v->op_count; i++) {
        uint32_t code = ops[v->first_op + i].code, kind = code >> 24;
        if ((kind == ARGUS_OP_FLAG_READ || kind == ARGUS_OP_FLAG_WRITE) && (code & 0xffffff) == low)
            return true;
    }
    return false;
}

/* The vertex in which a part of the thread's life begins may have ended before that: it waits then.
 */
static bool thread_writes(const struct view *view, uint32_t thread, struct window part,
                          uint64_t address)
{
    for (uint32_t v = timeline_before(view, thread, part.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v))
        if (view->vertices[v].end_ns >= part.start_ns && vertex_writes_flag(view, v, address))
            return true;
    return false;
}

bool flag_was_set_by_others(const struct view *view, uint32_t vertex, struct window part,
                            uint64_t address)
{
    uint32_t waiter = view->vertices[vertex].thread;
    part.end_ns += part.end_ns < UINT64_MAX; /* also what begins when the part ends */
    for (uint32_t i = 0; i < view->thread_count; i++)
        if (i != waiter && view->threads[i].process == view->threads[waiter].process &&
            thread_writes(view, i, part, address))
            return true;
    return false;
}

static bool was_touched(const struct view *view, uint32_t process, uint64_t address)
{
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct argus_thread *t = &view->threads[i];
        for (uint32_t k = 0; t->process == process && k < t->vertex_count; k++)
            if (vertex_touches(view, t->first_vertex + k, address))
                return true;
    }
    return false;
}

static bool was_touched_in_loop(const struct view *view, uint32_t vertex, struct window part,
                                uint64_t address)
{
    for (uint32_t v = timeline_before(view, view->vertices[vertex].thread, part.start_ns + 1);
         v != ARGUS_NONE && view->vertices[v].start_ns < part.end_ns; v = timeline_next(view, v))
        if (vertex_touches(view, v, address))
            return true;
    return false;
}

bool flag_is_of_other_loop(const struct view *view, uint32_t vertex, struct window part,
                           uint64_t address)
{
    uint32_t process = view->threads[view->vertices[vertex].thread].process;
    return !was_touched_in_loop(view, vertex, part, address) && was_touched(view, process, address);
}

static struct argus_error *note_flag(struct diagnoser *d, uint32_t vertex, struct window part,
                                     const struct argus_flag_entry *flag)
{
    uint32_t process = d->view.threads[d->view.vertices[vertex].thread].process;
    struct argus_reason reason = {.kind = ARGUS_REASON_FLAG_UNTOUCHED, .name = (char *)flag->label};
    if (!was_touched(&d->view, process, flag->address))
        return diagnoser_add_uncertain(d, &reason);
    if (flag->semantics != ARGUS_FLAG_VALUE || /* its reads are not recorded */
        was_touched_in_loop(&d->view, vertex, part, flag->address))
        return NULL;
    reason.kind = ARGUS_REASON_FLAG_UNREAD;
    return diagnoser_add_uncertain(d, &reason);
}

struct argus_error *diagnoser_note_untouched_flags(struct diagnoser *d, uint32_t vertex,
                                                   struct window part)
{
    const struct argus_flag_entry *flags;
    const struct argus_trace *trace = argus_graph_trace(d->view.graph);
    const struct argus_thread *thread = &d->view.threads[d->view.vertices[vertex].thread];
    uint64_t pid = d->view.processes[thread->process].pid;
    struct argus_error *error = NULL;
    size_t count = trace ? argus_trace_flags(trace, &flags) : 0;
    for (size_t i = 0; !error && i < count; i++)
        if (flags[i].pid == pid &&
            argus_trace_ticks_to_ns(trace, flags[i].since_ticks) <= part.start_ns)
            error = note_flag(d, vertex, part, &flags[i]);
    return error;
}
