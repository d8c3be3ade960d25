/* Where a segment that serves several applications could be cut.
 *
 * A server's loop waits, and calls a function for each request that it has found. So the stacks in
 * which it waited and those in which it woke its peers are the same up to the loop's function. The
 * function that the loop calls for a peer is where a unit of work begins. Frames are compared by
 * function if symbols are known, because the loop calls from several places; otherwise by address.
 */
#include "graph/inspect/inspector.h"

#include <stdio.h>
#include <string.h>

/* A stack of an interaction with one peer. Application ARGUS_NONE: a stack of a wait. */
struct interaction {
    uint32_t application;
    struct argus_stack stack;
    uint32_t id;
};

enum { MOST_INTERACTIONS = 16 };
struct interactions {
    struct interaction items[MOST_INTERACTIONS];
    uint32_t count;
};

static void add(const struct inspector *inspector, struct interactions *interactions,
                uint32_t application, uint32_t id)
{
    struct argus_stack stack = argus_graph_stack(inspector->graph, id);
    if (!stack.count || interactions->count == MOST_INTERACTIONS)
        return;
    for (uint32_t i = 0; i < interactions->count; i++)
        if (interactions->items[i].application == application &&
            interactions->items[i].stack.frames == stack.frames)
            return;
    interactions->items[interactions->count++] = (struct interaction){application, stack, id};
}

/* Gathers the stacks, those of peers first. Of a wait's stack only the frames up to the loop
 * matter. */
static void gather(const struct inspector *inspector, uint32_t vertex, struct interactions *ret)
{
    const uint32_t *out;
    size_t count = argus_graph_out_edges(inspector->graph, vertex, &out);
    uint32_t own = inspector_application(inspector, vertex);
    for (size_t i = 0; i < count; i++) {
        const struct argus_edge *edge = &inspector->edges[out[i]];
        uint32_t peer = inspector_application(inspector, edge->to);
        if (peer != own && peer != ARGUS_NONE)
            add(inspector, ret, peer, edge->stack);
    }
    uint32_t before = argus_graph_previous(inspector->graph, vertex);
    if (before != ARGUS_NONE)
        add(inspector, ret, ARGUS_NONE, inspector->vertices[before].wait.user_stack);
    add(inspector, ret, ARGUS_NONE, inspector->vertices[vertex].wait.user_stack);
}

/* The frame at `depth` from the outermost one. */
static uint64_t frame_at(const struct argus_stack *stack, uint32_t depth)
{
    return stack->frames[stack->count - 1 - depth];
}

static bool is_same_function(const struct inspector *inspector, uint32_t vertex, uint64_t left,
                             uint64_t right)
{
    struct argus_symbols *symbols = inspector->options->symbols;
    if (left == right)
        return true;
    if (!symbols)
        return false;
    uint32_t process = inspector_process(inspector, vertex);
    uint64_t time_ns = inspector->vertices[vertex].end_ns;
    struct argus_symbol a = argus_symbols_find(symbols, process, time_ns, left, true);
    char name[256];
    if (!a.function || !a.image)
        return false;
    snprintf(name, sizeof(name), "%s", a.function);
    const char *image = a.image;
    struct argus_symbol b = argus_symbols_find(symbols, process, time_ns, right, true);
    return b.function && b.image && strncmp(name, b.function, sizeof(name) - 1) == 0 &&
           strcmp(image, b.image) == 0;
}

/* The number of frames, counted from the outermost one, that all stacks have in common. */
static uint32_t common_depth(const struct inspector *inspector, uint32_t vertex,
                             const struct interactions *interactions)
{
    const struct argus_stack *first = &interactions->items[0].stack;
    uint32_t depth = first->count;
    for (uint32_t i = 1; i < interactions->count; i++) {
        const struct argus_stack *other = &interactions->items[i].stack;
        uint32_t same = 0;
        while (same < depth && same < other->count &&
               is_same_function(inspector, vertex, frame_at(first, same), frame_at(other, same)))
            same++;
        depth = same;
    }
    return depth;
}

/* Finds the functions called at `depth` for two different peers, or for the only peer with a
 * stack. */
static void find_items(const struct interactions *interactions, uint32_t depth,
                       struct argus_split_place *place)
{
    uint32_t found = 0, last = ARGUS_NONE;
    for (uint32_t i = 0; i < interactions->count && found < 2; i++) {
        const struct interaction *interaction = &interactions->items[i];
        if (interaction->application == ARGUS_NONE || interaction->application == last ||
            depth >= interaction->stack.count)
            continue;
        place->item[found++] = frame_at(&interaction->stack, depth);
        last = interaction->application;
    }
}

struct argus_split_place split_place_find(const struct inspector *inspector, uint32_t vertex)
{
    struct interactions interactions = {0};
    struct argus_split_place place = {.vertex = ARGUS_NONE, .stack = ARGUS_NONE};
    gather(inspector, vertex, &interactions);
    if (!interactions.count)
        return place;
    place.vertex = vertex;
    place.stack = interactions.items[0].id;
    uint32_t depth = common_depth(inspector, vertex, &interactions);
    if (!depth)
        return place;
    const struct argus_stack *first = &interactions.items[0].stack;
    place.exact = depth < first->count;
    /* all stacks are the same, so the innermost frame is the call itself */
    if (!place.exact && depth > 1)
        depth--;
    place.inside = frame_at(first, depth - 1);
    if (place.exact)
        find_items(&interactions, depth, &place);
    return place;
}
