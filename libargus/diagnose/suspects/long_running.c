/* Explains a hung thread that was busy itself (LongRunning). */
#include "diagnose/diagnoser.h"
#include "diagnose/hangs/finder.h"
#include "diagnose/hangs/handed_on.h"

/* Steps of a run's origin: more do not help the user. */
#define MAX_ORIGIN 64

/* A run polls for a reply if the request was sent in the first such part of it. */
#define BEGINNING_PART 10

/* Whether `vertex` is a callback of an event loop. */
static bool begins_callback(const struct diagnoser *d, uint32_t vertex)
{
    const struct argus_edge *edges;
    size_t count = argus_graph_in_edges(d->view.graph, vertex, &edges);
    for (size_t i = 0; i < count; i++)
        if (edges[i].kind == ARGUS_EDGE_DISPATCH)
            return true;
    return false;
}

/* The vertex with which the hang began: the callback that it belongs to, if probes show it; else
 * the vertex in which the thread left its wait for input. A handler that computes for long also
 * waits now and then (for a lock, a reply, a page), and what ended such a wait is not what began
 * the hang. */
static uint32_t first_vertex(const struct diagnoser *d)
{
    uint32_t begin = argus_graph_callback_begin(d->view.graph, d->hang.vertex);
    if (begins_callback(d, begin))
        return begin;
    uint32_t vertex = argus_graph_vertex_at(d->view.graph, d->hang.thread, d->hang.start_ns);
    return vertex == ARGUS_NONE || vertex > d->hang.vertex ? d->hang.vertex : vertex;
}

/* Finds the way back from the beginning of the hang to what set it off: an input, a timer that
 * another thread armed, another process. */
static struct argus_error *find_origin(struct diagnoser *d)
{
    uint32_t vertex = first_vertex(d);
    struct argus_slice_options options = {.max_steps = MAX_ORIGIN, .to_input = true};
    struct argus_slice slice;
    struct argus_error *error =
        argus_slice(d->view.graph, vertex, &options, d->questions.asker, &slice);
    if (error && error->code != ARGUS_ERROR_QUESTION)
        return error;
    bool good = vertex == d->hang.vertex || d->hang.type != ARGUS_TYPE_LONG_RUNNING ||
                diagnoser_add_step(d, vertex, ARGUS_NONE, false);
    for (size_t i = 0; good && i < slice.step_count; i++) {
        good = vec_push(&d->origin, slice.steps[i].vertex);
        if (good && d->hang.type == ARGUS_TYPE_LONG_RUNNING && i > 0)
            good = diagnoser_add_step(d, slice.steps[i].vertex, slice.steps[i].edge, false);
    }
    for (size_t i = 0; good && i < slice.asked_count; i++) {
        good = vec_push(&d->questions.asked, slice.asked[i]);
        if (good)
            slice.asked[i] = (struct argus_asked){.by = ARGUS_BY_AUTO};
    }
    argus_slice_deinit(&slice);
    if (good)
        return error;
    argus_error_destroy(error);
    return argus_error_memory();
}

/* Explains a run that only ended when the answer to the thread's request had come: the thread
 * polled for it. The answer's holder is blamed first. */
static struct argus_error *explain_polling(struct diagnoser *d)
{
    struct answer_hold hold;
    struct walk_position position = {.vertex = d->hang.vertex, .requester = ARGUS_NONE};
    if (!busy_answer_holder(&d->view, &d->hang, &hold))
        return NULL;
    d->guessed = true;
    return diagnoser_explain_hold(d, &position, &hold);
}

/* The same for a run that is not over, if the process to which a server handed the thread's request
 * on has not taken it. The request was sent shortly before the run, or at its beginning. */
static struct argus_error *explain_unanswered(struct diagnoser *d)
{
    struct handed_on handed;
    uint64_t length_ns = d->hang.end_ns - d->hang.start_ns;
    struct window asked = {d->hang.start_ns > length_ns / 2 ? d->hang.start_ns - length_ns / 2 : 0,
                           d->hang.start_ns + length_ns / BEGINNING_PART};
    struct walk_position position = {.vertex = d->hang.vertex,
                                     .window = {d->hang.start_ns, d->hang.end_ns},
                                     .requester = ARGUS_NONE};
    if (!d->hang.ongoing ||
        !handed_on_find(&d->view, d->hang.thread, asked, d->hang.end_ns, &handed))
        return NULL;
    d->guessed = true;
    return diagnoser_explain_missing_message(d, &position, handed.thread, ARGUS_REASON_HANDED_ON);
}

/* Whether another thread explains the run, which only polled a variable. */
static bool is_explained(const struct diagnoser *d)
{
    return d->path.length > 1 && d->path.data[1].expected;
}

struct argus_error *diagnose_long_running(struct diagnoser *d)
{
    struct window whole = {d->hang.start_ns, d->hang.end_ns};
    if (!diagnoser_add_step(d, d->hang.vertex, ARGUS_NONE, false))
        return argus_error_memory();
    struct argus_error *error = explain_polling(d);
    if (!error && d->culprits.length == 0)
        error = explain_unanswered(d);
    bool polled = d->culprits.length > 0;
    if (!error)
        error =
            diagnoser_blame_running(d, d->hang.vertex, whole, d->hang.run_ns, d->hang.runnable_ns);
    if (error || polled)
        return error;
    if (!is_explained(d))
        error = find_origin(d);
    /* In a run of many pieces, the largest piece is not the whole, and a vertex that is like it is
     * not, either. */
    const struct argus_vertex *v = &d->view.vertices[d->hang.vertex];
    bool one_piece = v->run_ns + v->runnable_ns >= window_ns(whole) / 2;
    return error || !one_piece ? error : diagnoser_note_baseline(d);
}
