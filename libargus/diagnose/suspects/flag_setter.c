/* The thread that should have set the variable for which a loop waits, by the program's code alone:
 * the only one, besides the waiter, whose recorded stacks have a function that sets it, or a caller
 * of one. Then the walk goes on from that thread as if its write had been watched.
 *
 * That is a guess. Its result is taken only if it tells more than the loop does:
 *   - the setter took a request of the waiter and went back to its home wait;
 *   - the setter was busy;
 *   - another thread is behind the setter's wait.
 * If the setter only waited meanwhile, the loop is blamed, as without the guess.
 */
#include "diagnose/diagnoser.h"
#include "diagnose/suspects/flag_writers.h"
#include "diagnose/suspects/setter_attempt.h"

/* --- the thread --- */

static bool is_set_for_sure(const struct argus_loop_variable *variable)
{
    for (size_t i = 0; i < variable->writer_count; i++)
        if (!variable->writers[i].is_possible)
            return true;
    return false;
}

/* ARGUS_NONE: several, or none, or the code does not tell everything that may end the loop, or
 * everything that may set its variables. */
static uint32_t only_setter(const struct argus_code_loop *loop)
{
    uint32_t found = ARGUS_NONE;
    for (size_t i = 0; i < loop->variable_count; i++) {
        const struct argus_loop_variable *variable = &loop->variables[i];
        for (size_t k = 0; k < variable->thread_count; k++) {
            if (!is_set_for_sure(variable) || variable->has_more_writers ||
                (found != ARGUS_NONE && found != variable->threads[k]))
                return ARGUS_NONE;
            found = variable->threads[k];
        }
    }
    return loop->is_whole ? found : ARGUS_NONE;
}

/* --- the guess --- */

/* The variable that the setter sets. */
static const struct argus_loop_variable *set_variable(const struct argus_code_loop *loop)
{
    size_t at = 0;
    while (loop->variables[at].thread_count == 0)
        at++;
    return &loop->variables[at];
}

static struct argus_error *note_guess(struct diagnoser *d, const struct setter_attempt *attempt)
{
    const struct argus_code_loop *loop = attempt->context;
    struct argus_loop_variable variable = *set_variable(loop);
    struct argus_code_loop only = {
        .place = loop->place, .variables = &variable, .variable_count = 1, .is_whole = true};
    struct argus_reason guess = {.kind = ARGUS_REASON_GUESS_BY_CODE,
                                 .more = variable.watch_bytes ? ARGUS_REASON_RECORDING_TELLS
                                                              : ARGUS_REASON_NONE,
                                 .thread = attempt->setter,
                                 .waiter = d->view.vertices[attempt->vertex].thread,
                                 .loop = &only};
    return diagnoser_add_uncertain(d, &guess);
}

/* A loop without sleep is only a part of its vertex: the longest in which the thread neither woke
 * another one nor sent anything. It begins with the request, if there was one. */
static struct window part_of_loop(const struct view *view, uint32_t vertex, struct window part)
{
    const uint32_t *out;
    const struct argus_vertex *v = &view->vertices[vertex];
    size_t count = argus_graph_out_edges(view->graph, vertex, &out);
    uint64_t since_ns = v->start_ns > part.start_ns ? v->start_ns : part.start_ns;
    uint64_t end_ns = v->end_ns < part.end_ns ? v->end_ns : part.end_ns;
    struct window longest = {since_ns, since_ns};
    if (v->flags & ARGUS_VERTEX_YIELDS)
        return part;
    for (size_t i = 0; i <= count; i++) {
        uint64_t at_ns = i < count ? view->edges[out[i]].from_ns : end_ns;
        at_ns = at_ns < end_ns ? at_ns : end_ns;
        if (at_ns > since_ns && at_ns - since_ns > window_ns(longest))
            longest = (struct window){since_ns, at_ns};
        since_ns = at_ns > since_ns ? at_ns : since_ns;
    }
    return window_ns(longest) ? longest : part;
}

struct argus_error *diagnoser_try_setter(struct diagnoser *d, uint32_t vertex, struct window part,
                                         struct argus_code_loop *loop, bool *ret_taken)
{
    char name[512] = "";
    struct argus_error *error = NULL;
    struct setter_attempt attempt = {.vertex = vertex,
                                     .setter = only_setter(loop),
                                     .part = part_of_loop(&d->view, vertex, part),
                                     .name = name,
                                     .why = ARGUS_REASON_SETS_BY_CODE,
                                     .note = note_guess,
                                     .context = loop};
    if (attempt.setter != ARGUS_NONE && diagnoser_find_step(d, attempt.setter) < 0) {
        loop_variable_name(set_variable(loop), name, sizeof(name));
        error = setter_attempt_run(d, &attempt);
    }
    *ret_taken = !error && attempt.is_taken;
    if (error || !attempt.is_taken)
        return error;
    long step = diagnoser_find_step(d, d->view.vertices[vertex].thread);
    if (step >= 0 && !(d->view.vertices[vertex].flags & ARGUS_VERTEX_YIELDS))
        d->path.data[step].polled = true;
    struct argus_code_loop *place = &d->culprits.data[attempt.mark.culprits].loop;
    if (place->variable_count) /* it is a loop itself */
        code_loop_free(loop);
    else
        *place = *loop;
    *loop = (struct argus_code_loop){.place = NULL};
    return diagnoser_note_untouched_flags(d, vertex, part);
}

struct argus_error *diagnoser_explain_by_code(struct diagnoser *d, uint32_t vertex,
                                              struct window part)
{
    bool taken;
    struct argus_code_loop loop;
    struct argus_error *error = read_code_loop(d, vertex, part, &loop);
    if (error)
        return error;
    error = diagnoser_try_setter(d, vertex, part, &loop, &taken);
    if (error)
        code_loop_free(&loop);
    return error || taken ? error : diagnoser_blame_loop(d, vertex, part, &loop);
}
