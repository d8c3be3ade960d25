/* Finds vertices like another one: of a process of the same name, ending in a wait of the same
 * system call.
 *
 * The score adds up what does not vary at run time:
 *   - where the vertex waited (stack) and on what (object);
 *   - what it did before (the order of system calls and wake-ups, without the lengths of
 *     repetitions);
 *   - with which threads it communicated (peers);
 *   - whether it is of the same thread;
 *   - on demand, what the vertices before it were (Argus paper, 5.4).
 * likeness.c compares.
 *
 * Not all pairs are compared: one pass over the vertices begins with a cheap test. What is the same
 * for all vertices of one signature (stack, sequence of operations) is compared once per signature.
 * Peers and the vertices before are compared only for the best of the first pass.
 *
 * The baseline of a vertex that waited is one whose wait ended well and soon; the baseline of a
 * busy vertex is one that was busy for less than half as long.
 */
#include <stdlib.h>
#include <string.h>

#include "argus/diagnose.h"
#include "base/vec.h"
#include "diagnose/baseline/likeness.h"

#define MIN_SCORE 0.4
#define MAX_KEPT  4096 /* after the first pass */

/* The weights add up to 1. */
#define WEIGHT_STACK  0.35
#define WEIGHT_OPS    0.3
#define WEIGHT_PEERS  0.15
#define WEIGHT_OBJECT 0.1
#define WEIGHT_THREAD 0.1
/* The weight of the vertices before in the score, if they are compared. */
#define WEIGHT_CONTEXT 0.3

/* A candidate after the first pass. */
struct match {
    double score;
    uint32_t vertex;
    bool differs;
};

struct search {
    struct likeness likeness;
    uint32_t model;
    uint64_t model_wait_ns, model_busy_ns;
    bool model_busy; /* the model was busy rather than waiting */
    bool *same_name; /* by process of the other graph: whether its name is the model's */
    VEC(struct match) found;
};

static uint64_t wait_of(const struct view *view, uint32_t vertex)
{
    return timeline_wait_end(view, vertex) - view->vertices[vertex].end_ns;
}

static uint64_t busy_of(const struct argus_vertex *v)
{
    return v->run_ns + v->runnable_ns;
}

static bool is_candidate(const struct search *search, uint32_t vertex)
{
    const struct view *view = &search->likeness.other.view;
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_wait *model = &search->likeness.own.view.vertices[search->model].wait;
    bool same_wait = v->wait.kind == model->kind && v->wait.syscall == model->syscall;
    bool any_wait = search->model_busy && model->kind == ARGUS_WAIT_NONE;
    return (same_wait || any_wait) && search->same_name[view->threads[v->thread].process] &&
           !(search->likeness.one_graph && vertex == search->model);
}

static bool differs(const struct search *search, uint32_t vertex)
{
    const struct argus_wait *model = &search->likeness.own.view.vertices[search->model].wait;
    const struct argus_vertex *v = &search->likeness.other.view.vertices[vertex];
    if (search->model_busy)
        return busy_of(v) < search->model_busy_ns / 2;
    bool better = model->outcome != ARGUS_OUTCOME_SATISFIED ||
                  wait_of(&search->likeness.other.view, vertex) < search->model_wait_ns / 2;
    return model->kind != ARGUS_WAIT_NONE && v->wait.outcome == ARGUS_OUTCOME_SATISFIED && better;
}

/* Sorts the better first; among equals the more recent one, which in one thread has the higher
 * ID. */
static int compare_matches(const void *a, const void *b)
{
    const struct match *x = a, *y = b;
    if (x->differs != y->differs)
        return x->differs ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->vertex > y->vertex ? -1 : x->vertex < y->vertex;
}

static void keep_best(struct search *search)
{
    if (search->found.length == 0)
        return;
    qsort(search->found.data, search->found.length, sizeof(*search->found.data), compare_matches);
    if (search->found.length > MAX_KEPT)
        search->found.length = MAX_KEPT;
}

/* The first pass, without peers. */
static bool score_candidate(struct search *search, uint32_t vertex)
{
    struct likeness *likeness = &search->likeness;
    double cheap = WEIGHT_STACK * likeness_of_stacks(likeness, search->model, vertex) +
                   WEIGHT_OBJECT * likeness_of_objects(likeness, search->model, vertex) +
                   WEIGHT_THREAD * likeness_same_thread(likeness, search->model, vertex);
    if (cheap + WEIGHT_OPS + WEIGHT_PEERS < MIN_SCORE)
        return true;
    struct match match = {.vertex = vertex,
                          .score =
                              cheap + WEIGHT_OPS * likeness_of_ops(likeness, search->model, vertex),
                          .differs = differs(search, vertex)};
    if (match.score + WEIGHT_PEERS < MIN_SCORE)
        return true;
    if (search->found.length >= 2 * MAX_KEPT)
        keep_best(search);
    return vec_push(&search->found, match);
}

static bool run_search(struct search *search)
{
    const struct likeness_side *own = &search->likeness.own, *other = &search->likeness.other;
    const struct view *view = &other->view;
    uint32_t process = own->view.threads[own->view.vertices[search->model].thread].process;
    for (size_t i = 0; i < view->process_count; i++)
        search->same_name[i] =
            strcmp(view->processes[i].name, own->view.processes[process].name) == 0;
    for (size_t v = 0; v < view->vertex_count; v++)
        if (is_candidate(search, (uint32_t)v) && !score_candidate(search, (uint32_t)v))
            return false;
    keep_best(search);
    return true;
}

/* --- the second pass --- */

/* The likeness of up to `depth` vertices before; a vertex that only one of the two has counts as
 * 0. */
static double likeness_of_context(struct likeness *likeness, uint32_t a, uint32_t b, uint32_t depth)
{
    double sum = 0.0;
    uint32_t compared = 0;
    while (compared < depth) {
        a = a == ARGUS_NONE ? a : argus_graph_previous(likeness->own.view.graph, a);
        b = b == ARGUS_NONE ? b : argus_graph_previous(likeness->other.view.graph, b);
        if (a == ARGUS_NONE && b == ARGUS_NONE)
            break;
        compared++;
        if (a == ARGUS_NONE || b == ARGUS_NONE)
            continue;
        const struct argus_wait *x = &likeness->own.view.vertices[a].wait;
        const struct argus_wait *y = &likeness->other.view.vertices[b].wait;
        if (x->kind == y->kind && x->syscall == y->syscall)
            sum += 0.5 * likeness_of_stacks(likeness, a, b) + 0.5 * likeness_of_ops(likeness, a, b);
    }
    return compared ? sum / compared : 1.0;
}

static struct argus_similar score_fully(struct search *search, const struct match *match,
                                        uint32_t depth)
{
    struct likeness *likeness = &search->likeness;
    const struct view *view = &likeness->other.view;
    const struct argus_vertex *v = &view->vertices[match->vertex];
    struct argus_similar similar = {
        .vertex = match->vertex,
        .wait_ns = wait_of(view, match->vertex),
        .busy_ns = busy_of(v),
        .different_outcome = match->differs,
        .likeness = {.stack = likeness_of_stacks(likeness, search->model, match->vertex),
                     .before = likeness_of_ops(likeness, search->model, match->vertex),
                     .peers = likeness_of_peers(likeness, search->model, match->vertex),
                     .object = likeness_of_objects(likeness, search->model, match->vertex),
                     .depth = depth,
                     .one_graph = likeness->one_graph,
                     .same_thread = likeness_same_thread(likeness, search->model, match->vertex),
                     .outcome = (enum argus_outcome)v->wait.outcome}};
    similar.score = match->score + WEIGHT_PEERS * similar.likeness.peers;
    if (depth) {
        double context = likeness_of_context(likeness, search->model, match->vertex, depth);
        similar.likeness.context = context;
        similar.score = (1.0 - WEIGHT_CONTEXT) * similar.score + WEIGHT_CONTEXT * context;
    }
    return similar;
}

static int compare_similar(const void *a, const void *b)
{
    const struct argus_similar *x = a, *y = b;
    struct match p = {x->score, x->vertex, x->different_outcome};
    struct match q = {y->score, y->vertex, y->different_outcome};
    return compare_matches(&p, &q);
}

static bool finish(struct search *search, const struct argus_similar_options *options,
                   struct argus_similars *ret)
{
    struct argus_similar *items = calloc(search->found.length + 1, sizeof(*items));
    size_t count = 0;
    for (size_t i = 0; items && i < search->found.length; i++) {
        items[count] = score_fully(search, &search->found.data[i], options->context);
        count += items[count].score >= MIN_SCORE;
    }
    if (items && count > 0)
        qsort(items, count, sizeof(*items), compare_similar);
    bool cut = options->limit && options->limit < count;
    *ret = (struct argus_similars){.items = items, .count = cut ? options->limit : count};
    return items != NULL;
}

/* --- */

static struct argus_error *check_machines(const struct argus_graph *graph,
                                          const struct argus_graph *other)
{
    const struct argus_trace *a = argus_graph_trace(graph), *b = argus_graph_trace(other);
    if (!a || !b || a == b)
        return NULL;
    const struct argus_trace_header *x = argus_trace_header(a), *y = argus_trace_header(b);
    if (x->os == y->os && x->arch == y->arch)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_USAGE,
        "%s is of another operating system or processor than %s: their system "
        "calls cannot be compared",
        argus_trace_name(b), argus_trace_name(a));
}

struct argus_error *argus_similar_search(const struct argus_graph *graph, uint32_t vertex,
                                         const struct argus_similar_options *options,
                                         struct argus_similars *ret)
{
    const struct argus_graph *other = options->other ? options->other : graph;
    struct search search = {.model = vertex};
    const struct argus_vertex *vertices;
    if (vertex >= argus_graph_vertices(graph, &vertices))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no vertex v%u", vertex);
    struct argus_error *error = check_machines(graph, other);
    if (error)
        return error;
    bool done = likeness_init(&search.likeness, graph, options->symbols, other,
                              options->other ? options->other_symbols : options->symbols);
    if (done) {
        search.model_wait_ns = wait_of(&search.likeness.own.view, vertex);
        search.model_busy_ns = busy_of(&vertices[vertex]);
        search.model_busy = search.model_busy_ns > search.model_wait_ns;
        search.same_name =
            calloc(search.likeness.other.view.process_count + 1, sizeof(*search.same_name));
        done = search.same_name && run_search(&search) && finish(&search, options, ret);
    }
    free(search.same_name);
    vec_deinit(&search.found);
    likeness_deinit(&search.likeness);
    return done ? NULL : argus_error_memory();
}

struct argus_error *argus_similar_find(const struct argus_graph *graph, uint32_t vertex,
                                       size_t limit, struct argus_similars *ret)
{
    struct argus_similar_options options = {.limit = limit};
    return argus_similar_search(graph, vertex, &options, ret);
}

void argus_similars_deinit(struct argus_similars *similars)
{
    free(similars->items);
    *similars = (struct argus_similars){0};
}
