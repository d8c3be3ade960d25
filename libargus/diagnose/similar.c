/* Vertices like another one: of a process of the same name, ending in a wait of the same system call.
 *
 * The score adds up what does not vary at run time: where it waited (stack), what on (object), what it did before
 * (order of system calls and wake-ups; how often in a row does not count), and whether it is the same thread.
 * Addresses of another life of the program are compared by their offset in the page: ASLR leaves that alone.
 * One pass over the vertices with a cheap test first: no pairs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "argus/diagnose.h"
#include "base/vec.h"
#include "slice/timeline.h"

#define MIN_SCORE  0.4
#define MAX_OPS    32 /* the last ones of each: what led to the wait */
#define MAX_FRAMES 16

/* The weights add up to 1. */
#define WEIGHT_STACK  0.4
#define WEIGHT_OPS    0.35
#define WEIGHT_OBJECT 0.15
#define WEIGHT_THREAD 0.1

struct search {
    struct view view;
    const struct argus_op *ops;
    const struct argus_vertex *model;
    bool *same_name; /* by process: named as the model's */
    VEC(struct argus_similar) found;
};

static uint32_t thread_process(const struct search *search, const struct argus_vertex *v)
{
    return search->view.threads[v->thread].process;
}

static double stack_likeness(const struct search *search, const struct argus_vertex *v)
{
    uint32_t a = search->model->wait.user_stack, b = v->wait.user_stack;
    if (a == ARGUS_NONE || b == ARGUS_NONE)
        return a == b ? 0.5 : 0.0; /* both without a stack: nothing speaks for or against it */
    if (a == b)
        return 1.0;
    bool same_life = thread_process(search, search->model) == thread_process(search, v);
    uint64_t mask = same_life ? UINT64_MAX : 0xfff;
    struct argus_stack x = argus_graph_stack(search->view.graph, a);
    struct argus_stack y = argus_graph_stack(search->view.graph, b);
    uint32_t longer = x.count > y.count ? x.count : y.count;
    uint32_t shorter = x.count < y.count ? x.count : y.count, same = 0;
    longer = longer < MAX_FRAMES ? longer : MAX_FRAMES;
    for (uint32_t i = 0; i < shorter && i < MAX_FRAMES; i++)
        same += (x.frames[i] & mask) == (y.frames[i] & mask);
    return longer ? (double)same / longer : 0.0;
}

struct op_span {
    const struct argus_op *ops;
    uint32_t count;
};

static struct op_span last_ops(const struct search *search, const struct argus_vertex *v)
{
    uint32_t count = v->op_count < MAX_OPS ? v->op_count : MAX_OPS;
    return (struct op_span){search->ops + v->first_op + (v->op_count - count), count};
}

/* 1 - edit distance / length, over the codes. */
static double op_likeness(struct op_span a, struct op_span b)
{
    uint32_t row[MAX_OPS + 1];
    uint32_t longer = a.count > b.count ? a.count : b.count;
    if (longer == 0)
        return 1.0;
    for (uint32_t j = 0; j <= b.count; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a.count; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.count; j++) {
            uint32_t best = diagonal + (a.ops[i - 1].code != b.ops[j - 1].code);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return 1.0 - (double)row[b.count] / longer;
}

static double object_likeness(const struct search *search, const struct argus_vertex *v)
{
    const struct argus_wait *a = &search->model->wait, *b = &v->wait;
    bool same_life = thread_process(search, search->model) == thread_process(search, v);
    if (a->inode && b->inode && same_life)
        return a->inode == b->inode ? 1.0 : 0.0;
    return a->object == b->object ? 1.0 : same_life ? 0.0 : 0.5;
}

static bool is_candidate(const struct search *search, const struct argus_vertex *v)
{
    return v->wait.kind == search->model->wait.kind &&
           v->wait.syscall == search->model->wait.syscall && v != search->model &&
           search->same_name[thread_process(search, v)];
}

static bool differs(const struct argus_vertex *model, uint64_t model_ns,
                    const struct argus_vertex *v, uint64_t wait_ns)
{
    bool better = model->wait.outcome != ARGUS_OUTCOME_SATISFIED || wait_ns < model_ns / 2;
    return model->wait.kind != ARGUS_WAIT_NONE && v->wait.outcome == ARGUS_OUTCOME_SATISFIED &&
           better;
}

static bool score_candidate(struct search *search, uint32_t vertex, uint64_t model_ns)
{
    const struct argus_vertex *v = &search->view.vertices[vertex];
    double stack = stack_likeness(search, v), object = object_likeness(search, v);
    bool same_thread = v->thread == search->model->thread;
    double cheap = WEIGHT_STACK * stack + WEIGHT_OBJECT * object + WEIGHT_THREAD * same_thread;
    if (cheap + WEIGHT_OPS < MIN_SCORE)
        return true;
    double ops = op_likeness(last_ops(search, search->model), last_ops(search, v));
    struct argus_similar similar = {.vertex = vertex, .score = cheap + WEIGHT_OPS * ops};
    if (similar.score < MIN_SCORE)
        return true;
    similar.wait_ns = timeline_wait_end(&search->view, vertex) - v->end_ns;
    similar.different_outcome = differs(search->model, model_ns, v, similar.wait_ns);
    snprintf(similar.why, sizeof(similar.why),
             "stack %.0f %%, what it did before %.0f %%, object %.0f %% alike; %s thread; wait %s",
             stack * 100, ops * 100, object * 100, same_thread ? "same" : "another",
             argus_outcome_name((enum argus_outcome)v->wait.outcome));
    return vec_push(&search->found, similar);
}

/* The more recent first among equals: in one thread the higher id. */
static int compare_similar(const void *a, const void *b)
{
    const struct argus_similar *x = a, *y = b;
    if (x->different_outcome != y->different_outcome)
        return x->different_outcome ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->vertex > y->vertex ? -1 : x->vertex < y->vertex;
}

static bool run_search(struct search *search)
{
    const struct view *view = &search->view;
    const char *name = view->processes[thread_process(search, search->model)].name;
    for (size_t i = 0; i < view->process_count; i++)
        search->same_name[i] = strcmp(view->processes[i].name, name) == 0;
    uint32_t model = (uint32_t)(search->model - view->vertices);
    uint64_t model_ns = timeline_wait_end(view, model) - search->model->end_ns;
    for (size_t v = 0; v < view->vertex_count; v++)
        if (is_candidate(search, &view->vertices[v]) &&
            !score_candidate(search, (uint32_t)v, model_ns))
            return false;
    return true;
}

struct argus_error *argus_similar_find(const struct argus_graph *graph, uint32_t vertex,
                                       size_t limit, struct argus_similars *ret)
{
    struct search search = {.view = view_of(graph)};
    if (vertex >= search.view.vertex_count)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no vertex v%u", vertex);
    argus_graph_ops(graph, &search.ops);
    search.model = &search.view.vertices[vertex];
    search.same_name = calloc(search.view.process_count, sizeof(*search.same_name));
    bool done = search.same_name && run_search(&search);
    free(search.same_name);
    if (!done) {
        vec_deinit(&search.found);
        return argus_error_memory();
    }
    size_t count = search.found.length;
    if (count > 0)
        qsort(search.found.data, count, sizeof(*search.found.data), compare_similar);
    *ret = (struct argus_similars){.items = search.found.data,
                                   .count = limit && limit < count ? limit : count};
    return NULL;
}

void argus_similars_deinit(struct argus_similars *similars)
{
    free(similars->items);
    *similars = (struct argus_similars){0};
}
