/* How rare a function is in the stacks of waits.
 *
 * First, all vertices with a function in the stack of their wait are counted once, by address and
 * without names. Many vertices share a stack, so this is cheap. Then only the addresses in the two
 * vertices in question get names. The count of a function is the sum over those of its addresses
 * that occur in these two.
 */
#include "argus/boost.h"

#include <string.h>

#include "argus/symbols.h"
#include "base/idmap.h"
#include "graph/graph_data.h"

/* Limits per vertex: more functions, samples and wake-ups are not examined. */
enum { MOST_FUNCTIONS = 256, MOST_SAMPLES = 32, MOST_EDGES = 16 };

/* A function is rare if at most one in RARE_SHARE vertices has it, or at most RARE_COUNT
 * vertices. */
enum { RARE_SHARE = 20, RARE_COUNT = 4 };

struct argus_boosts {
    const struct argus_graph *graph; /* borrowed */
    struct argus_symbols *symbols;   /* owned */
    struct idmap by_address; /* address → number of vertices with it in the stack of their wait */
    uint64_t rare;           /* a function in at most so many vertices is rare */
};

/* The functions in the stacks of one vertex. */
struct functions {
    struct {
        const char *name;
        uint64_t address;
    } all[MOST_FUNCTIONS];
    size_t count;
};

static bool count_stack(struct argus_boosts *boosts, uint32_t stack, uint32_t vertices)
{
    struct argus_stack frames = argus_graph_stack(boosts->graph, stack);
    for (uint32_t i = 0; i < frames.count; i++) {
        uint32_t before = idmap_get(&boosts->by_address, frames.frames[i]);
        uint64_t sum = (before == IDMAP_NONE ? 0 : (uint64_t)before) + vertices;
        if (sum >= IDMAP_NONE)
            sum = IDMAP_NONE - 1;
        if (!idmap_put(&boosts->by_address, frames.frames[i], (uint32_t)sum))
            return false;
    }
    return true;
}

static bool count_all(struct argus_boosts *boosts)
{
    const struct argus_graph *graph = boosts->graph;
    size_t stacks = graph->stacks.stacks.length;
    uint32_t *vertices = calloc(stacks + 1, sizeof(*vertices));
    uint64_t total = 0;
    bool done = vertices;
    for (size_t i = 0; done && i < graph->vertices.length; i++) {
        uint32_t stack = graph->vertices.data[i].wait.user_stack;
        if (stack >= stacks)
            continue;
        vertices[stack]++;
        total++;
    }
    for (size_t i = 0; done && i < stacks; i++)
        if (vertices[i])
            done = count_stack(boosts, (uint32_t)i, vertices[i]);
    free(vertices);
    boosts->rare = total / RARE_SHARE < RARE_COUNT ? RARE_COUNT : total / RARE_SHARE;
    return done;
}

struct argus_error *argus_boosts_create(const struct argus_graph *graph, struct argus_boosts **ret)
{
    struct argus_boosts *boosts = calloc(1, sizeof(*boosts));
    if (!boosts)
        return argus_error_memory();
    boosts->graph = graph;
    struct argus_error *error = argus_symbols_create(graph, &boosts->symbols);
    if (!error && !count_all(boosts))
        error = argus_error_memory();
    if (error)
        argus_boosts_destroy(boosts);
    else
        *ret = boosts;
    return error;
}

void argus_boosts_destroy(struct argus_boosts *boosts)
{
    if (!boosts)
        return;
    argus_symbols_destroy(boosts->symbols);
    idmap_deinit(&boosts->by_address);
    free(boosts);
}

static void add_stack(struct argus_boosts *boosts, uint32_t vertex, uint32_t stack,
                      struct functions *functions)
{
    const struct argus_vertex *v = &boosts->graph->vertices.data[vertex];
    uint32_t process = boosts->graph->machine.threads.data[v->thread].process;
    struct argus_stack frames = argus_graph_stack(boosts->graph, stack);
    for (uint32_t i = 0; i < frames.count && functions->count < MOST_FUNCTIONS; i++) {
        uint64_t address = frames.frames[i];
        bool known = false;
        for (size_t k = 0; k < functions->count && !known; k++)
            known = functions->all[k].address == address;
        const char *name =
            known ? NULL
                  : argus_symbols_function(boosts->symbols, process, v->end_ns, address, i > 0);
        if (!name)
            continue;
        functions->all[functions->count].name = name;
        functions->all[functions->count++].address = address;
    }
}

static void add_vertex(struct argus_boosts *boosts, uint32_t vertex, struct functions *functions)
{
    const struct argus_graph *graph = boosts->graph;
    const struct argus_vertex *v = &graph->vertices.data[vertex];
    add_stack(boosts, vertex, v->wait.user_stack, functions);
    for (uint32_t i = 0; i < v->sample_count && i < MOST_SAMPLES; i++)
        add_stack(boosts, vertex, graph->samples.data[v->first_sample + i].user_stack, functions);
    const uint32_t *out;
    size_t count = argus_graph_out_edges(graph, vertex, &out);
    for (size_t i = 0; i < count && i < MOST_EDGES; i++)
        add_stack(boosts, vertex, graph->edges.data[out[i]].stack, functions);
}

static const char *find_name(const struct functions *functions, const char *name)
{
    for (size_t i = 0; i < functions->count; i++)
        if (strcmp(functions->all[i].name, name) == 0)
            return functions->all[i].name;
    return NULL;
}

/* How many vertices wait in function `name`, by its known addresses; each address counts once. */
static uint64_t count_of(const struct argus_boosts *boosts, const struct functions *from,
                         const struct functions *to, const char *name)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < from->count + to->count; i++) {
        const struct functions *list = i < from->count ? from : to;
        size_t at = i < from->count ? i : i - from->count;
        bool again = false;
        for (size_t k = 0; list == to && k < from->count && !again; k++)
            again = from->all[k].address == to->all[at].address;
        if (again || strcmp(list->all[at].name, name) != 0)
            continue;
        uint32_t vertices = idmap_get(&boosts->by_address, list->all[at].address);
        sum += vertices == IDMAP_NONE ? 0 : vertices;
    }
    return sum;
}

struct argus_boost argus_boost_of(struct argus_boosts *boosts, uint32_t edge)
{
    const struct argus_edge *e = &boosts->graph->edges.data[edge];
    struct functions from = {.count = 0}, to = {.count = 0};
    struct argus_boost best = {.boost = 0};
    if (e->strong)
        return best;
    add_stack(boosts, e->from, e->stack, &from);
    add_vertex(boosts, e->from, &from);
    add_vertex(boosts, e->to, &to);
    uint32_t before = argus_graph_previous(boosts->graph, e->to);
    if (before != ARGUS_NONE && before != e->from)
        add_stack(boosts, before, boosts->graph->vertices.data[before].wait.user_stack, &to);
    for (size_t i = 0; i < from.count; i++) {
        const char *name = from.all[i].name;
        if (!find_name(&to, name))
            continue;
        uint64_t vertices = count_of(boosts, &from, &to, name);
        uint32_t boost =
            vertices > boosts->rare
                ? 0
                : (uint32_t)(1 + (ARGUS_COST_WEAK - 2) * (boosts->rare - vertices) / boosts->rare);
        bool better =
            boost > best.boost || (boost && boost == best.boost && strcmp(name, best.function) < 0);
        if (better)
            best = (struct argus_boost){
                .boost = boost, .vertices = (uint32_t)vertices, .function = name};
    }
    return best;
}
