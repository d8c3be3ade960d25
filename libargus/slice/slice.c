/* The backward slice: from a vertex to its causes, one step at a time.
 *
 * A single strong edge is followed without a question. A question is asked if there are several
 * causes, or only a weak one. The walk ends where the causes end: at a device, a thread's first
 * vertex, or a thread that only slept by its own clock.
 */
#include <stdio.h>
#include <stdlib.h>

#include "slice/slicer.h"

#define DEFAULT_MAX_STEPS 1000
/* So many timeouts of a thread's own in a row count as a rhythm. */
#define MAX_PUT_OFF 3

static void end_slice(struct slicer *slicer, enum argus_slice_end end)
{
    slicer->end = end;
    slicer->ended = true;
}

/* Whether `edge` is a timer that its thread armed for itself; `*ret_waiter`: the vertex before that
 * wait. */
static bool is_own_timer(const struct slicer *slicer, const struct argus_edge *edge,
                         uint32_t *ret_waiter)
{
    *ret_waiter = argus_graph_previous(slicer->view.graph, edge->to);
    return edge->kind == ARGUS_EDGE_TIMER && *ret_waiter != ARGUS_NONE &&
           slicer->view.vertices[edge->from].thread == slicer->view.vertices[*ret_waiter].thread;
}

/* Whether the thread is driven only by its own clock: by a sleep, or by a timeout that followed
 * another timeout. A timeout that was set after another thread woke this one is no rhythm: it
 * delays the work (a file has changed: check soon). */
static bool is_rhythm(const struct slicer *slicer, const struct argus_edge *edge)
{
    uint32_t waiter;
    if (!is_own_timer(slicer, edge, &waiter))
        return false;
    if (slicer->view.vertices[waiter].wait.kind == ARGUS_WAIT_SLEEP)
        return true;
    for (unsigned i = 0; i < MAX_PUT_OFF; i++) {
        uint32_t cause = argus_graph_cause(slicer->view.graph, edge->from);
        if (cause == ARGUS_NONE || !is_own_timer(slicer, &slicer->view.edges[cause], &waiter))
            return false;
        edge = &slicer->view.edges[cause];
    }
    return true;
}

/* A sequence edge is a cause only if nothing else began the vertex; a thread's own rhythm is never
 * one. */
static bool is_cause(const struct slicer *slicer, const struct argus_edge *edge)
{
    return edge->kind != ARGUS_EDGE_SEQUENCE && edge->from_ns >= slicer->options.from_ns &&
           !is_rhythm(slicer, edge);
}

/* When the walk left the current vertex, by the edge it followed: what reached it later is no
 * cause. */
static uint64_t left_ns(const struct slicer *slicer)
{
    const struct argus_step *last = &slicer->steps.data[slicer->steps.length - 1];
    return last->edge == ARGUS_NONE ? UINT64_MAX : slicer->view.edges[last->edge].from_ns;
}

static void add_option(struct choice *choice, uint32_t edge)
{
    if (choice->count < MAX_OPTIONS)
        choice->edges[choice->count++] = edge;
    else
        choice->others++;
}

static uint32_t sequence_edge(const struct slicer *slicer, uint32_t vertex)
{
    const struct argus_edge *in;
    size_t count = argus_graph_in_edges(slicer->view.graph, vertex, &in);
    for (size_t i = 0; i < count; i++)
        if (in[i].kind == ARGUS_EDGE_SEQUENCE)
            return (uint32_t)(&in[i] - slicer->view.edges);
    return ARGUS_NONE;
}

struct choice slicer_choice(const struct slicer *slicer, uint32_t vertex, uint64_t left_ns)
{
    struct choice choice = {.count = 0};
    const struct argus_edge *in;
    if (slicer->options.to_input && slicer->view.vertices[vertex].flags & ARGUS_VERTEX_CONTINUES) {
        uint32_t before = sequence_edge(slicer, vertex);
        if (before != ARGUS_NONE)
            add_option(&choice, before);
        return choice;
    }
    size_t count = argus_graph_in_edges(slicer->view.graph, vertex, &in);
    uint32_t cause = argus_graph_cause(slicer->view.graph, vertex);
    if (cause != ARGUS_NONE && is_cause(slicer, &slicer->view.edges[cause]) &&
        slicer->view.edges[cause].to_ns <= left_ns)
        add_option(&choice, cause);
    for (size_t i = count; i > 0; i--) {
        uint32_t edge = (uint32_t)(&in[i - 1] - slicer->view.edges);
        if (edge != cause && is_cause(slicer, &in[i - 1]) && in[i - 1].to_ns <= left_ns)
            add_option(&choice, edge);
    }
    if (!choice.count && slicer->view.vertices[vertex].flags & ARGUS_VERTEX_PIECE) {
        uint32_t before = sequence_edge(slicer, vertex);
        if (before != ARGUS_NONE && slicer->view.edges[before].from_ns >= slicer->options.from_ns)
            add_option(&choice, before);
    }
    return choice;
}

/* The wait that ended with `vertex`, and how long the source of `edge` worked on it before the
 * edge; 0: none. */
static uint64_t wait_before(const struct slicer *slicer, uint32_t vertex, uint32_t edge,
                            uint64_t *ret_explained_ns)
{
    const struct argus_vertex *vertices = slicer->view.vertices;
    const struct argus_edge *e = &slicer->view.edges[edge];
    uint32_t before = argus_graph_previous(slicer->view.graph, vertex);
    uint64_t begin = before == ARGUS_NONE ? UINT64_MAX : vertices[before].end_ns;
    uint64_t end = vertices[vertex].start_ns;
    *ret_explained_ns = 0;
    if (begin >= end || e->kind == ARGUS_EDGE_SEQUENCE)
        return 0;
    uint64_t from = vertices[e->from].start_ns > begin ? vertices[e->from].start_ns : begin;
    uint64_t to = e->from_ns < end ? e->from_ns : end;
    *ret_explained_ns = to > from ? to - from : 0;
    return end - begin;
}

static struct argus_option cause_option(const struct slicer *slicer, uint32_t vertex, uint32_t edge,
                                        const struct argus_boost *boost)
{
    const struct argus_edge *e = &slicer->view.edges[edge];
    struct argus_option option = {
        .kind = ARGUS_OPTION_CAUSE, .vertex = e->from, .cause.edge = edge};
    uint64_t worked_ns, waited_ns = wait_before(slicer, vertex, edge, &worked_ns);
    if (waited_ns && e->to_ns <= slicer->view.vertices[vertex].start_ns) {
        option.cause.waited_ns = waited_ns;
        option.cause.worked_ns = worked_ns;
    }
    if (boost->boost) {
        snprintf(option.cause.function, sizeof(option.cause.function), "%.60s", boost->function);
        option.cause.function_vertices = boost->vertices;
    }
    return option;
}

struct argus_error *slicer_boost(struct slicer *slicer, uint32_t edge, struct argus_boost *ret)
{
    *ret = (struct argus_boost){.boost = 0};
    if (slicer->view.edges[edge].strong)
        return NULL;
    if (!slicer->boosts) {
        struct argus_error *error = argus_boosts_create(slicer->view.graph, &slicer->boosts);
        if (error)
            return error;
    }
    *ret = argus_boost_of(slicer->boosts, edge);
    return NULL;
}

/* What is known about the options of a question. */
struct options {
    struct argus_boost boosts[MAX_OPTIONS];
    uint32_t costs[MAX_OPTIONS];
};

/* For weak edges, what is behind them counts as well. A strong edge is followed whatever is behind
 * it. */
static struct argus_error *weigh(struct slicer *slicer, const struct choice *choice,
                                 struct options *ret)
{
    bool all_weak = true;
    struct argus_error *error = NULL;
    for (size_t i = 0; i < choice->count && !error; i++) {
        const struct argus_edge *edge = &slicer->view.edges[choice->edges[i]];
        error = slicer_boost(slicer, choice->edges[i], &ret->boosts[i]);
        ret->costs[i] = edge->strong ? 0 : ARGUS_COST_WEAK - ret->boosts[i].boost;
        all_weak &= !edge->strong;
    }
    for (size_t i = 0; i < choice->count && !error && all_weak && choice->count > 1; i++) {
        uint32_t behind;
        error = beam_cost(slicer, choice->edges[i], &behind);
        ret->costs[i] += error ? 0 : behind;
    }
    return error;
}

/* The cheapest option except `except`. Among equal ones the first, which is the edge that began the
 * vertex, or the latest one. Returns choice->count if there is none. */
static size_t cheapest(const struct choice *choice, const struct options *options, size_t except)
{
    size_t best = choice->count;
    for (size_t i = 0; i < choice->count; i++)
        if (i != except && (best == choice->count || options->costs[i] < options->costs[best]))
            best = i;
    return best;
}

static enum argus_default_reason reason_for(const struct slicer *slicer,
                                            const struct choice *choice, size_t chosen,
                                            const struct argus_boost *boost)
{
    const struct argus_edge *edge = &slicer->view.edges[choice->edges[chosen]];
    bool ended_wait = edge->to_ns == slicer->view.vertices[edge->to].start_ns &&
                      edge->kind != ARGUS_EDGE_SEQUENCE;
    if (boost->boost)
        return ARGUS_DEFAULT_SHARED_FUNCTION;
    if (chosen > 0)
        return edge->strong ? ARGUS_DEFAULT_LATEST_STRONG : ARGUS_DEFAULT_SURER_CAUSES;
    if (ended_wait)
        return ARGUS_DEFAULT_ENDED_WAIT;
    return choice->count > 1 ? ARGUS_DEFAULT_LATEST : ARGUS_DEFAULT_ONLY;
}

/* Asks which edge of `choice` to follow; the last option is to stop. */
static struct argus_error *ask_choice(struct slicer *slicer, uint32_t vertex,
                                      const struct choice *choice, uint32_t *ret)
{
    struct argus_option options[MAX_OPTIONS + 1];
    struct options weighed;
    struct argus_error *error = weigh(slicer, choice, &weighed);
    if (error)
        return error;
    for (size_t i = 0; i < choice->count; i++)
        options[i] = cause_option(slicer, vertex, choice->edges[i], &weighed.boosts[i]);
    options[choice->count] = (struct argus_option){.kind = ARGUS_OPTION_STOP, .vertex = ARGUS_NONE};
    size_t chosen = cheapest(choice, &weighed, choice->count);
    struct argus_question question = {
        .kind = choice->count == 1 ? ARGUS_QUESTION_WEAK : ARGUS_QUESTION_PREDECESSOR,
        .vertex = vertex,
        .options = options,
        .option_count = choice->count + 1,
        .default_option = chosen,
        .default_reason = reason_for(slicer, choice, chosen, &weighed.boosts[chosen]),
        .runner_up = cheapest(choice, &weighed, chosen), /* or to stop */
    };
    int answer;
    error = ask(&slicer->questions, &question, &answer);
    if (error)
        return error;
    bool stop = answer == ARGUS_ANSWER_STOP || (size_t)answer == choice->count;
    *ret = stop ? ARGUS_NONE : choice->edges[answer];
    return NULL;
}

/* How the walk ends at a vertex without a known cause. */
enum argus_slice_end slicer_natural_end(const struct slicer *slicer, uint32_t vertex)
{
    uint32_t waiter = argus_graph_previous(slicer->view.graph, vertex);
    uint32_t cause = argus_graph_cause(slicer->view.graph, vertex);
    if (cause != ARGUS_NONE && slicer->view.edges[cause].from_ns < slicer->options.from_ns)
        return ARGUS_SLICE_WINDOW;
    bool loop = slicer->view.vertices[vertex].flags & ARGUS_VERTEX_LOOP;
    if (loop ||
        (waiter != ARGUS_NONE && slicer->view.vertices[waiter].wait.kind == ARGUS_WAIT_POLL))
        return ARGUS_SLICE_HOME;
    return ARGUS_SLICE_NO_CAUSE;
}

/* The edge to the previous vertex, if `vertex` begins at a split and continues it. The segment of
 * an event loop after a callback does not continue the callback. */
uint32_t slicer_split_edge(const struct slicer *slicer, uint32_t vertex)
{
    uint32_t flags = slicer->view.vertices[vertex].flags;
    bool continues =
        flags & ARGUS_VERTEX_SPLIT && !(flags & (ARGUS_VERTEX_LOOP | ARGUS_VERTEX_PIECE));
    return continues ? sequence_edge(slicer, vertex) : ARGUS_NONE;
}

static struct argus_error *choose(struct slicer *slicer, uint32_t vertex,
                                  const struct choice *choice, uint32_t *ret)
{
    if (choice->count == 0) {
        *ret = slicer_split_edge(slicer, vertex);
        slicer->why = ARGUS_STEP_CONTINUES;
        if (*ret == ARGUS_NONE)
            end_slice(slicer, slicer_natural_end(slicer, vertex));
        return NULL;
    }
    *ret = choice->edges[0];
    slicer->why = ARGUS_STEP_ONLY;
    if (choice->count == 1 && slicer->view.edges[*ret].strong)
        return NULL;
    slicer->why = ARGUS_STEP_ANSWER;
    struct argus_error *error = ask_choice(slicer, vertex, choice, ret);
    if (error)
        end_slice(slicer, ARGUS_SLICE_OPEN);
    else if (*ret == ARGUS_NONE)
        end_slice(slicer, ARGUS_SLICE_STOPPED);
    return error;
}

/* The part of `vertex` before `until_ns`, when the walk left it. */
static uint64_t explained(const struct slicer *slicer, uint32_t vertex, uint64_t until_ns)
{
    uint64_t from = slicer->view.vertices[vertex].start_ns;
    if (from < slicer->options.from_ns)
        from = slicer->options.from_ns;
    return until_ns > from ? until_ns - from : 0;
}

static bool add_step(struct slicer *slicer, uint32_t vertex, uint32_t edge)
{
    uint64_t until_ns = edge == ARGUS_NONE ? slicer->view.vertices[vertex].end_ns
                                           : slicer->view.edges[edge].from_ns;
    slicer->visited[vertex / 8] |= (uint8_t)(1u << vertex % 8);
    struct argus_step step = {.vertex = vertex,
                              .edge = edge,
                              .why = edge == ARGUS_NONE ? ARGUS_STEP_FIRST : slicer->why,
                              .explains_ns = explained(slicer, vertex, until_ns)};
    if (edge != ARGUS_NONE)
        step.waited_ns =
            wait_before(slicer, slicer->view.edges[edge].to, edge, &step.explains_wait_ns);
    for (size_t i = 0; i < ARGUS_SLICE_OTHERS; i++)
        step.others[i] = ARGUS_NONE;
    return vec_push(&slicer->steps, step);
}

/* Notes the edges that were not followed. */
static void note_others(struct argus_step *step, const struct choice *choice, uint32_t followed)
{
    size_t kept = 0;
    step->alternatives = (uint32_t)(choice->count - 1) + choice->others;
    for (size_t i = 0; i < choice->count && kept < ARGUS_SLICE_OTHERS; i++)
        if (choice->edges[i] != followed)
            step->others[kept++] = choice->edges[i];
}

bool slicer_is_input(const struct slicer *slicer, uint32_t vertex)
{
    struct argus_callback event;
    return slicer->options.to_input && argus_graph_ui_event(slicer->view.graph, vertex, &event) &&
           event.on_purpose;
}

static struct argus_error *take_step(struct slicer *slicer, uint32_t *vertex)
{
    if (slicer_is_input(slicer, *vertex)) {
        end_slice(slicer, ARGUS_SLICE_INPUT);
        return NULL;
    }
    struct choice choice = slicer_choice(slicer, *vertex, left_ns(slicer));
    uint32_t edge;
    struct argus_error *error = choose(slicer, *vertex, &choice, &edge);
    if (error || slicer->ended)
        return error;
    if (choice.count > 0)
        note_others(&slicer->steps.data[slicer->steps.length - 1], &choice, edge);
    *vertex = slicer->view.edges[edge].from;
    if (slicer->visited[*vertex / 8] & (1u << *vertex % 8))
        end_slice(slicer, ARGUS_SLICE_CYCLE);
    else if (slicer->steps.length >= slicer->options.max_steps)
        end_slice(slicer, ARGUS_SLICE_LIMIT);
    else if (!add_step(slicer, *vertex, edge))
        return argus_error_memory();
    return NULL;
}

static struct argus_error *run_slicer(struct slicer *slicer, uint32_t vertex)
{
    if (!slicer->visited || !add_step(slicer, vertex, ARGUS_NONE))
        return argus_error_memory();
    struct argus_error *error = NULL;
    while (!error && !slicer->ended)
        error = take_step(slicer, &vertex);
    return error;
}

struct argus_error *argus_slice(const struct argus_graph *graph, uint32_t vertex,
                                const struct argus_slice_options *options, struct argus_asker asker,
                                struct argus_slice *ret)
{
    struct slicer slicer = {.view = view_of(graph), .questions = {.asker = asker}};
    if (vertex >= slicer.view.vertex_count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no vertex v%u", vertex);
    if (options)
        slicer.options = *options;
    if (slicer.options.max_steps == 0)
        slicer.options.max_steps = DEFAULT_MAX_STEPS;
    slicer.visited = calloc(slicer.view.vertex_count / 8 + 1, 1);
    struct argus_error *error = run_slicer(&slicer, vertex);
    free(slicer.visited);
    argus_boosts_destroy(slicer.boosts);
    if (error && error->code != ARGUS_ERROR_QUESTION) {
        vec_deinit(&slicer.steps);
        asked_free(slicer.questions.asked.data, slicer.questions.asked.length);
        return error;
    }
    *ret = (struct argus_slice){
        .steps = slicer.steps.data, .step_count = slicer.steps.length, .end = slicer.end};
    ret->asked = ask_list_take(&slicer.questions, &ret->asked_count);
    return error;
}

void argus_slice_deinit(struct argus_slice *slice)
{
    free(slice->steps);
    asked_free(slice->asked, slice->asked_count);
    *slice = (struct argus_slice){0};
}
