#include "page/tree_drawing.h"

#include <stdlib.h>
#include <string.h>

#include "context/rank.h"

#define LEAST_SHARE 0.0005 /* of the trees */

const struct argus_context_function *drawn_function(const struct argus_contexts_report *report,
                                                    const struct drawn_node *drawn)
{
    bool is_here = drawn->node != ARGUS_NONE;
    const struct argus_contexts *of = is_here ? report->contexts : report->base;
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(of, &nodes);
    argus_contexts_functions(of, &functions);
    return &functions[nodes[is_here ? drawn->node : drawn->other].function];
}

/* --- merging both trees --- */

/* Adds the trace's nodes: node i is at index i - 1, because the root is left out. */
static void add_here(const struct argus_contexts_report *report, struct tree_drawing *drawing)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    for (size_t i = 1; i < count; i++) {
        uint32_t other = report->base ? report->ranking->base_node[i] : ARGUS_NONE;
        struct rank_pair pair = rank_pair_of(report, (uint32_t)i);
        drawing->nodes[drawing->count++] = (struct drawn_node){
            .parent = nodes[i].parent ? nodes[i].parent - 1 : ARGUS_NONE,
            .node = (uint32_t)i,
            .other = other,
            .depth = nodes[i].depth - 1,
            .ns = pair.now_ns,
            .base_ns = pair.base_ns,
        };
    }
}

/* Adds the nodes that only the base has. `place`: node of the base → index. */
static void add_base(const struct argus_contexts_report *report, struct tree_drawing *drawing,
                     uint32_t *place)
{
    const struct argus_ranking *ranking = report->ranking;
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->base, &nodes);
    for (size_t i = 0; i < drawing->count; i++)
        if (drawing->nodes[i].other != ARGUS_NONE)
            place[drawing->nodes[i].other] = (uint32_t)i;
    for (size_t i = 1; i < count; i++) {
        if (place[i] != ARGUS_NONE)
            continue;
        place[i] = (uint32_t)drawing->count;
        drawing->nodes[drawing->count++] = (struct drawn_node){
            .parent = nodes[i].parent ? place[nodes[i].parent] : ARGUS_NONE,
            .node = ARGUS_NONE,
            .other = (uint32_t)i,
            .depth = nodes[i].depth - 1,
            /* what is compared by function is in the nodes of the trace */
            .base_ns = ranking->is_moved && ranking->is_moved[i]
                           ? 0
                           : rank_value(&nodes[i], &report->options),
        };
    }
}

/* Callees have higher indices than their callers. */
static void add_callees(struct tree_drawing *drawing)
{
    for (size_t i = drawing->count; i-- > 0;) {
        const struct drawn_node *node = &drawing->nodes[i];
        if (node->parent == ARGUS_NONE)
            continue;
        drawing->nodes[node->parent].ns += node->ns;
        drawing->nodes[node->parent].base_ns += node->base_ns;
    }
}

static bool merge(const struct argus_contexts_report *report, struct tree_drawing *drawing)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes), base_count = 0;
    if (report->base)
        base_count = argus_contexts_nodes(report->base, &nodes);
    drawing->nodes = calloc(count + base_count + 1, sizeof(*drawing->nodes));
    uint32_t *place = malloc((base_count + 1) * sizeof(*place));
    bool good = drawing->nodes && place;
    if (good) {
        memset(place, 0xff, (base_count + 1) * sizeof(*place));
        add_here(report, drawing);
        if (report->base)
            add_base(report, drawing, place);
        add_callees(drawing);
    }
    free(place);
    return good;
}

/* --- selection of the nodes to draw --- */

static double larger(const struct drawn_node *node)
{
    return node->ns > node->base_ns ? node->ns : node->base_ns;
}

static int descending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* The minimum time of a drawn node, chosen so that not too many have it. */
static bool find_least(const struct tree_drawing *drawing, double *ret)
{
    double *all = calloc(drawing->count + 1, sizeof(*all)), most = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < drawing->count; i++) {
        all[i] = larger(&drawing->nodes[i]);
        most += drawing->nodes[i].depth == 0 ? all[i] : 0;
    }
    qsort(all, drawing->count, sizeof(*all), descending);
    *ret = drawing->count > DRAWN_MOST ? all[DRAWN_MOST] : 0;
    if (*ret < most * LEAST_SHARE)
        *ret = most * LEAST_SHARE;
    free(all);
    return true;
}

static void draw_with_callers(struct tree_drawing *drawing, uint32_t at)
{
    for (; at != ARGUS_NONE && !drawing->nodes[at].drawn; at = drawing->nodes[at].parent)
        drawing->nodes[at].drawn = true;
}

static bool choose(const struct argus_contexts_report *report, struct tree_drawing *drawing)
{
    const struct argus_ranking *ranking = report->ranking;
    double least;
    if (!find_least(drawing, &least))
        return false;
    for (size_t i = 0; i < drawing->count; i++)
        if (larger(&drawing->nodes[i]) > least)
            draw_with_callers(drawing, (uint32_t)i);
    for (size_t i = 0; i < ranking->count && i < report->top; i++)
        draw_with_callers(drawing, ranking->paths[i].node - 1);
    for (size_t i = 0; i < drawing->count; i++) {
        const struct drawn_node *node = &drawing->nodes[i];
        drawing->left_out += !node->drawn;
        if (node->drawn && node->depth > drawing->deepest)
            drawing->deepest = node->depth;
    }
    return true;
}

/* --- positions --- */

/* Callees have higher indices than their callers, so a backward pass counts each node's leaves and
 * a forward pass assigns positions. The callees of a node are side by side in the order of their
 * indices. */
static bool place_all(struct tree_drawing *drawing)
{
    struct drawn_node *nodes = drawing->nodes;
    double *width = calloc(drawing->count + 1, sizeof(*width)); /* number of leaves below */
    /* number of leaves already assigned to callees */
    double *used = calloc(drawing->count + 1, sizeof(*used));
    bool good = width && used;
    for (size_t i = drawing->count; good && i-- > 0;) {
        if (!nodes[i].drawn)
            continue;
        width[i] = width[i] > 0 ? width[i] : 1;
        if (nodes[i].parent != ARGUS_NONE)
            width[nodes[i].parent] += width[i];
    }
    for (size_t i = 0; good && i < drawing->count; i++) {
        if (!nodes[i].drawn)
            continue;
        uint32_t parent = nodes[i].parent;
        double *left = parent == ARGUS_NONE ? &drawing->width : &used[parent];
        used[i] = *left; /* where its own callees begin */
        nodes[i].x = *left + width[i] / 2;
        *left += width[i];
    }
    free(width);
    free(used);
    return good;
}

struct argus_error *tree_drawing_create(const struct argus_contexts_report *report,
                                        struct tree_drawing *ret)
{
    *ret = (struct tree_drawing){.count = 0};
    if (merge(report, ret) && choose(report, ret) && place_all(ret))
        return NULL;
    tree_drawing_deinit(ret);
    return argus_error_memory();
}

void tree_drawing_deinit(struct tree_drawing *drawing)
{
    free(drawing->nodes);
    drawing->nodes = NULL;
}
