#include "truth_tree.h"

#include <string.h>

bool truth_tree_init(struct truth_tree *tree, struct argus_symbols *symbols, uint32_t process,
                     const char *program)
{
    *tree = (struct truth_tree){
        .names = strtab_create(), .symbols = symbols, .process = process, .program = program};
    return tree->names &&
           vec_push(&tree->nodes, (struct truth_node){.parent = ARGUS_NONE, .name = ARGUS_NONE});
}

void truth_tree_deinit(struct truth_tree *tree)
{
    vec_deinit(&tree->nodes);
    idmap_deinit(&tree->by_edge);
    idmap_deinit(&tree->by_address);
    strtab_destroy(tree->names);
}

static uint32_t intern(struct truth_tree *tree, const char *name)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(tree->names, name, strlen(name), &id);
    tree->no_memory |= error != NULL;
    argus_error_destroy(error);
    return id;
}

static uint32_t name_of(struct truth_tree *tree, uint64_t time_ns, uint64_t function)
{
    uint32_t name = idmap_get(&tree->by_address, function);
    if (name != IDMAP_NONE)
        return name;
    const char *text =
        argus_symbols_function(tree->symbols, tree->process, time_ns, function, false);
    name = intern(tree, text ? text : "?");
    tree->no_memory |= !idmap_put(&tree->by_address, function, name);
    return name;
}

uint32_t truth_tree_enter(struct truth_tree *tree, uint32_t parent, uint64_t time_ns,
                          uint64_t function)
{
    uint32_t name = name_of(tree, time_ns, function);
    uint64_t edge = (uint64_t)parent << 32 | name;
    uint32_t node = idmap_get(&tree->by_edge, edge);
    if (node != IDMAP_NONE)
        return node;
    node = (uint32_t)tree->nodes.length;
    struct truth_node made = {parent, name, tree->nodes.data[parent].depth + 1};
    tree->no_memory |= !vec_push(&tree->nodes, made) || !idmap_put(&tree->by_edge, edge, node);
    return tree->no_memory ? 0 : node;
}

/* Maps a function of the trace to its hooked name, or IDMAP_NONE. */
static uint32_t *hooked_names(struct truth_tree *tree, const struct argus_contexts *contexts)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions);
    if (!tree->hooked)
        tree->hooked = strtab_count(tree->names);
    uint32_t *result = calloc(count + 1, sizeof(*result));
    for (size_t i = 0; result && i < count; i++) {
        uint32_t id = IDMAP_NONE;
        struct argus_error *error = NULL;
        if (strcmp(functions[i].image, tree->program) == 0)
            error = strtab_intern(tree->names, functions[i].name, strlen(functions[i].name), &id);
        argus_error_destroy(error);
        result[i] = id < tree->hooked ? id : IDMAP_NONE;
    }
    return result;
}

static struct placed place(const struct truth_tree *tree, struct placed at, uint32_t name)
{
    at.is_own = false;
    if (at.is_off || name == IDMAP_NONE)
        return at;
    uint32_t node = idmap_get(&tree->by_edge, (uint64_t)at.node << 32 | name);
    if (node == IDMAP_NONE)
        at.is_off = true;
    else
        at = (struct placed){.node = node, .is_own = true};
    return at;
}

struct placed *truth_tree_place(struct truth_tree *tree, const struct argus_contexts *contexts)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    uint32_t *names = hooked_names(tree, contexts);
    struct placed *result = calloc(count + 1, sizeof(*result));
    for (size_t i = 0; names && result && i < count; i++)
        if (nodes[i].depth >= 2) /* below the root and the program */
            result[i] = place(tree, result[nodes[i].parent], names[nodes[i].function]);
    free(names);
    return result;
}

uint32_t truth_tree_common(const struct truth_tree *tree, uint32_t a, uint32_t b)
{
    const struct truth_node *nodes = tree->nodes.data;
    while (a != b) {
        if (nodes[a].depth >= nodes[b].depth)
            a = nodes[a].parent;
        else
            b = nodes[b].parent;
    }
    return a;
}
