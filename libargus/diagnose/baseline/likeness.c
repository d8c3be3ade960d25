#include "diagnose/baseline/likeness.h"

#include <stdlib.h>
#include <string.h>

#define MAX_OPS    32
#define MAX_FRAMES 16
#define MAX_PEERS  16
#define MAX_EDGES  32
#define NO_HASH    0xcbf29ce484222325ull /* FNV-1a */

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x100000001b3ull;
    return hash ^ hash >> 29;
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = NO_HASH;
    for (; *name; name++)
        hash = hash_word(hash, (unsigned char)*name);
    return hash;
}

static bool side_init(struct likeness_side *side, const struct argus_graph *graph,
                      struct argus_symbols *symbols)
{
    side->view = view_of(graph);
    side->symbols = symbols;
    argus_graph_ops(graph, &side->ops);
    side->names = calloc(side->view.process_count + 1, sizeof(*side->names));
    for (size_t i = 0; side->names && i < side->view.process_count; i++)
        side->names[i] = hash_name(side->view.processes[i].name);
    return side->names != NULL;
}

bool likeness_init(struct likeness *likeness, const struct argus_graph *graph,
                   struct argus_symbols *symbols, const struct argus_graph *other,
                   struct argus_symbols *other_symbols)
{
    *likeness = (struct likeness){.one_graph = graph == other, .known_for = ARGUS_NONE};
    return side_init(&likeness->own, graph, symbols) &&
           side_init(&likeness->other, other, other_symbols);
}

void likeness_deinit(struct likeness *likeness)
{
    free(likeness->own.names);
    free(likeness->other.names);
    idmap_deinit(&likeness->by_ops);
    idmap_deinit(&likeness->by_stack);
    vec_deinit(&likeness->known);
}

static bool same_life(const struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    const struct view *own = &likeness->own.view, *other = &likeness->other.view;
    return likeness->one_graph && own->threads[own->vertices[vertex].thread].process ==
                                      other->threads[other->vertices[candidate].thread].process;
}

bool likeness_same_thread(const struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    const struct view *own = &likeness->own.view, *other = &likeness->other.view;
    uint32_t a = own->vertices[vertex].thread, b = other->vertices[candidate].thread;
    if (same_life(likeness, vertex, candidate))
        return a == b;
    return strcmp(own->threads[a].name, other->threads[b].name) == 0;
}

/* --- what was compared before --- */

/* Forgets the results for another vertex: they are kept for one vertex at a time. */
static void begin_with(struct likeness *likeness, uint32_t vertex)
{
    if (likeness->known_for == vertex)
        return;
    idmap_deinit(&likeness->by_ops);
    idmap_deinit(&likeness->by_stack);
    likeness->by_ops = likeness->by_stack = (struct idmap){0};
    likeness->known.length = 0;
    likeness->known_for = vertex;
}

/* Without memory, the pair is compared again the next time. */
static double remember(struct likeness *likeness, struct idmap *by_key, uint64_t key, double value)
{
    if (vec_push(&likeness->known, (float)value))
        (void)idmap_put(by_key, key, (uint32_t)likeness->known.length - 1);
    return (double)(float)value; /* the same value now and when it is read back */
}

/* --- stacks --- */

struct frame_place {
    const struct likeness_side *side;
    uint32_t process;
    uint64_t time_ns;
};

static bool same_function(struct frame_place a, uint64_t x, struct frame_place b, uint64_t y,
                          bool is_return)
{
    if (!a.side->symbols || !b.side->symbols)
        return (x & 0xfff) == (y & 0xfff);
    struct argus_symbol p = argus_symbols_find(a.side->symbols, a.process, a.time_ns, x, is_return);
    struct argus_symbol q = argus_symbols_find(b.side->symbols, b.process, b.time_ns, y, is_return);
    if (!p.function || !q.function)
        return !p.function && !q.function && (x & 0xfff) == (y & 0xfff);
    return strcmp(p.function, q.function) == 0;
}

static struct frame_place place_of(const struct likeness_side *side, uint32_t vertex)
{
    const struct argus_vertex *v = &side->view.vertices[vertex];
    return (struct frame_place){side, side->view.threads[v->thread].process, v->end_ns};
}

static double compare_stacks(const struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    const struct likeness_side *own = &likeness->own, *other = &likeness->other;
    bool same = same_life(likeness, vertex, candidate);
    struct frame_place a = place_of(own, vertex), b = place_of(other, candidate);
    struct argus_stack x =
        argus_graph_stack(own->view.graph, own->view.vertices[vertex].wait.user_stack);
    struct argus_stack y =
        argus_graph_stack(other->view.graph, other->view.vertices[candidate].wait.user_stack);
    uint32_t longer = x.count > y.count ? x.count : y.count;
    uint32_t shorter = x.count < y.count ? x.count : y.count, alike = 0;
    longer = longer < MAX_FRAMES ? longer : MAX_FRAMES;
    for (uint32_t i = 0; i < shorter && i < MAX_FRAMES; i++)
        alike += same ? x.frames[i] == y.frames[i]
                      : same_function(a, x.frames[i], b, y.frames[i], i > 0);
    return longer ? (double)alike / longer : 0.0;
}

double likeness_of_stacks(struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    uint32_t a = likeness->own.view.vertices[vertex].wait.user_stack;
    uint32_t b = likeness->other.view.vertices[candidate].wait.user_stack;
    if (a == ARGUS_NONE || b == ARGUS_NONE)
        return a == b ? 0.5 : 0.0; /* neither has a stack: no evidence */
    if (a == b && likeness->one_graph)
        return 1.0;
    begin_with(likeness, vertex);
    uint64_t key = (uint64_t)b << 1 | same_life(likeness, vertex, candidate);
    uint32_t known = idmap_get(&likeness->by_stack, key);
    return known != IDMAP_NONE ? (double)likeness->known.data[known]
                               : remember(likeness, &likeness->by_stack, key,
                                          compare_stacks(likeness, vertex, candidate));
}

/* --- what they did --- */

struct op_span {
    const struct argus_op *ops;
    uint32_t count;
};

static struct op_span last_ops(const struct likeness_side *side, uint32_t vertex)
{
    const struct argus_vertex *v = &side->view.vertices[vertex];
    uint32_t count = v->op_count < MAX_OPS ? v->op_count : MAX_OPS;
    return (struct op_span){side->ops + v->first_op + (v->op_count - count), count};
}

/* 1 - edit distance / length, over the codes. */
static double compare_ops(struct op_span a, struct op_span b)
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

double likeness_of_ops(struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    struct op_span b = last_ops(&likeness->other, candidate);
    uint64_t key = hash_word(NO_HASH, b.count);
    for (uint32_t i = 0; i < b.count; i++)
        key = hash_word(key, b.ops[i].code);
    begin_with(likeness, vertex);
    uint32_t known = idmap_get(&likeness->by_ops, key);
    return known != IDMAP_NONE ? (double)likeness->known.data[known]
                               : remember(likeness, &likeness->by_ops, key,
                                          compare_ops(last_ops(&likeness->own, vertex), b));
}

/* --- what they waited on --- */

double likeness_of_objects(const struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    const struct argus_wait *a = &likeness->own.view.vertices[vertex].wait;
    const struct argus_wait *b = &likeness->other.view.vertices[candidate].wait;
    bool same = same_life(likeness, vertex, candidate);
    if (a->inode && b->inode && same)
        return a->inode == b->inode ? 1.0 : 0.0;
    return a->object == b->object ? 1.0 : same ? 0.0 : 0.5;
}

/* --- their peers --- */

struct peers {
    uint64_t names[MAX_PEERS];
    size_t count;
};

static void add_peer(struct peers *peers, uint64_t name)
{
    for (size_t i = 0; i < peers->count; i++)
        if (peers->names[i] == name)
            return;
    if (peers->count < MAX_PEERS)
        peers->names[peers->count++] = name;
}

static bool is_dealing(const struct argus_edge *edge)
{
    return edge->kind == ARGUS_EDGE_WAKE || edge->kind == ARGUS_EDGE_MESSAGE ||
           edge->kind == ARGUS_EDGE_DISPATCH || edge->kind == ARGUS_EDGE_SIGNAL;
}

static uint64_t name_at(const struct likeness_side *side, uint32_t vertex)
{
    return side->names[side->view.threads[side->view.vertices[vertex].thread].process];
}

static struct peers peers_of(const struct likeness_side *side, uint32_t vertex)
{
    struct peers peers = {.count = 0};
    const struct argus_edge *in;
    const uint32_t *out;
    size_t in_count = argus_graph_in_edges(side->view.graph, vertex, &in);
    size_t out_count = argus_graph_out_edges(side->view.graph, vertex, &out);
    for (size_t i = 0; i < in_count && i < MAX_EDGES; i++)
        if (is_dealing(&in[i]))
            add_peer(&peers, name_at(side, in[i].from) << 1);
    for (size_t i = 0; i < out_count && i < MAX_EDGES; i++)
        if (is_dealing(&side->view.edges[out[i]]))
            add_peer(&peers, name_at(side, side->view.edges[out[i]].to) << 1 | 1);
    return peers;
}

double likeness_of_peers(const struct likeness *likeness, uint32_t vertex, uint32_t candidate)
{
    struct peers a = peers_of(&likeness->own, vertex);
    struct peers b = peers_of(&likeness->other, candidate);
    size_t common = 0;
    for (size_t i = 0; i < a.count; i++)
        for (size_t j = 0; j < b.count; j++)
            common += a.names[i] == b.names[j];
    size_t all = a.count + b.count - common;
    return all ? (double)common / (double)all : 1.0;
}
