/* What is uncertain in an answer, besides the guesses. */
#include "diagnose/diagnoser.h"

static struct argus_error *note_lost_records(struct diagnoser *d)
{
    const struct argus_trace *trace = argus_graph_trace(d->view.graph);
    uint64_t lost = trace ? argus_trace_lost_count(trace) : 0;
    struct argus_reason reason = {.kind = ARGUS_REASON_LOST_RECORDS, .count = lost};
    return lost == 0 ? NULL : diagnoser_add_uncertain(d, &reason);
}

static struct argus_error *note_unknown_time(struct diagnoser *d)
{
    struct argus_reason reason = {.kind = ARGUS_REASON_UNKNOWN_TIME};
    for (size_t i = 0; i < d->accounting.count; i++) {
        const struct argus_stretch *stretch = &d->accounting.stretches[i];
        if (stretch->state == ARGUS_STRETCH_UNKNOWN)
            reason.ns += stretch->end_ns - stretch->start_ns;
    }
    return reason.ns == 0 ? NULL : diagnoser_add_uncertain(d, &reason);
}

/* Even without lost records, a kernel may hide threads from its tracepoints (sandboxes do): the
 * thread that had the CPU before or after such a thread has a gap. */
static struct argus_error *note_gap(struct diagnoser *d, uint32_t vertex)
{
    const struct argus_vertex *v = &d->view.vertices[vertex];
    uint64_t lasted = v->end_ns - v->start_ns, known = v->run_ns + v->runnable_ns;
    uint64_t gap = lasted > known && !(v->flags & ARGUS_VERTEX_YIELDS) ? lasted - known : 0;
    if (!(v->flags & ARGUS_VERTEX_GAP) || gap * 100 < d->hang.end_ns - d->hang.start_ns)
        return NULL;
    struct argus_reason reason = {.kind = ARGUS_REASON_GAP, .vertex = vertex, .ns = gap};
    return diagnoser_add_uncertain(d, &reason);
}

static struct argus_error *note_weak_steps(struct diagnoser *d)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < d->path.length; i++) {
        const struct argus_path_step *step = &d->path.data[i];
        struct argus_reason weak = {.kind = ARGUS_REASON_WEAK_STEP, .vertex = step->vertex};
        if (step->edge != ARGUS_NONE && !d->view.edges[step->edge].strong)
            error = diagnoser_add_uncertain(d, &weak);
        if (!error)
            error = note_gap(d, step->vertex);
    }
    return error;
}

static struct argus_error *note_missing_samples(struct diagnoser *d)
{
    for (size_t i = 0; i < d->culprits.length; i++) {
        const struct argus_culprit *culprit = &d->culprits.data[i];
        struct argus_reason reason = {.kind = ARGUS_REASON_NO_SAMPLES, .vertex = culprit->vertex};
        if (culprit->type == ARGUS_TYPE_LONG_RUNNING && culprit->function_count == 0)
            return diagnoser_add_uncertain(d, &reason);
    }
    return NULL;
}

struct argus_error *diagnoser_note_uncertain(struct diagnoser *d)
{
    static struct argus_error *(*const all[])(struct diagnoser *) = {
        note_lost_records, note_unknown_time, note_weak_steps, note_missing_samples};
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof(all) / sizeof(all[0]); i++)
        error = all[i](d);
    struct argus_reason no_similar = {.kind = ARGUS_REASON_NO_SIMILAR};
    bool compared = d->baseline != ARGUS_NONE || d->hang.nature == ARGUS_NATURE_IDLE;
    if (!error && d->hang.type == ARGUS_TYPE_LONG_WAIT && !compared)
        error = diagnoser_add_uncertain(d, &no_similar);
    return error;
}
