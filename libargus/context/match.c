#include "context/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plain_names.h"

/* The pair of a function's file, or of the program that it stands for; NULL: none. */
static const struct build_pair *pair_of(const struct match *match,
                                        const struct argus_context_function *function, bool there)
{
    bool is_program = !strcmp(function->image, "[program]");
    const char *name = is_program ? function->name : function->image;
    if (!is_program && name[0] != '/')
        return NULL;
    for (size_t i = 0; i < match->pairs.length; i++) {
        const struct build_pair *pair = &match->pairs.data[i];
        const char *other = there ? pair->there : pair->here;
        if (pair->is_program == is_program &&
            (other == name ||
             (there && !strcmp(contexts_base_name(other), contexts_base_name(name)))))
            return pair;
    }
    return NULL;
}

static bool is_nameless(const struct argus_contexts *contexts, uint32_t function)
{
    const struct frame_origin *origin = &contexts->paths.frames.origins.data[function];
    return origin->address && !origin->has_name;
}

bool match_is_nameless(const struct match *match, const struct argus_contexts *contexts,
                       uint32_t function, bool there, uint32_t *ret)
{
    const struct argus_context_function *functions;
    argus_contexts_functions(contexts, &functions);
    const struct build_pair *pair = pair_of(match, &functions[function], there);
    if (!pair || !pair->is_other || !is_nameless(contexts, function))
        return false;
    *ret = (uint32_t)(pair - match->pairs.data);
    return true;
}

/* --- functions --- */

/* What a function has in common with itself in another trace. False: nothing. */
static bool key_of(const struct match *match, const struct argus_contexts *contexts, uint32_t index,
                   bool there, char *buffer, size_t bytes)
{
    const struct argus_context_function *functions;
    argus_contexts_functions(contexts, &functions);
    const struct argus_context_function *function = &functions[index];
    const struct build_pair *pair = pair_of(match, function, there);
    const char *image = pair && !pair->is_program ? pair->there : function->image;
    const char *name = pair && pair->is_program ? pair->there : function->name;
    char plain[4096];
    bool is_other = pair && pair->is_other;
    if (is_other && is_nameless(contexts, index))
        return false;
    if (is_other && !pair->is_program)
        name = plain_function_name(name, plain, sizeof(plain));
    snprintf(buffer, bytes, "%s\n%s", contexts_base_name(image), name);
    return true;
}

/* Fills base_functions, and `by_key`: 1 + function of `base`, by the key's ID. */
static bool note_keys(struct match *match, const struct argus_contexts *base, struct strtab *keys,
                      uint32_t *by_key)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(base, &functions);
    for (uint32_t i = 0; i < count; i++) {
        char key[8192];
        uint32_t id;
        match->base_functions[i] = i;
        if (!key_of(match, base, i, true, key, sizeof(key)))
            continue;
        struct argus_error *error = strtab_intern(keys, key, strlen(key), &id);
        if (error) {
            argus_error_destroy(error);
            return false;
        }
        if (!by_key[id])
            by_key[id] = i + 1;
        match->base_functions[i] = by_key[id] - 1;
    }
    return true;
}

/* Function of `contexts` → the one of `base` with the same name in the same file; ARGUS_NONE. */
static bool match_functions(struct match *match, const struct argus_contexts *contexts,
                            const struct argus_contexts *base)
{
    const struct argus_context_function *functions, *others;
    size_t count = argus_contexts_functions(contexts, &functions);
    size_t other_count = argus_contexts_functions(base, &others);
    struct strtab *keys = strtab_create();
    uint32_t *by_key = calloc(other_count + count + 2, sizeof(*by_key));
    match->functions = malloc((count + 1) * sizeof(*match->functions));
    match->base_functions = malloc((other_count + 1) * sizeof(*match->base_functions));
    bool good = match->functions && match->base_functions && keys && by_key &&
                note_keys(match, base, keys, by_key);
    for (uint32_t i = 0; good && i < count; i++) {
        char key[8192];
        uint32_t id = 0;
        match->functions[i] = ARGUS_NONE;
        if (!key_of(match, contexts, i, false, key, sizeof(key)))
            continue;
        struct argus_error *error = strtab_intern(keys, key, strlen(key), &id);
        good = error == NULL;
        argus_error_destroy(error);
        if (good && by_key[id])
            match->functions[i] = by_key[id] - 1;
    }
    strtab_destroy(keys);
    free(by_key);
    return good;
}

bool match_init(struct match *match, const struct argus_contexts *contexts,
                const struct argus_contexts *base)
{
    *match = (struct match){0};
    return !base ||
           (builds_pair(contexts, base, &match->pairs) && match_functions(match, contexts, base));
}

void match_deinit(struct match *match)
{
    vec_deinit(&match->pairs);
    free(match->functions);
    free(match->base_functions);
    match->functions = match->base_functions = NULL;
}

/* --- nodes --- */

/* Each node of the base is the equivalent of one node at most: plain names may be the same. */
static void match_each(const struct match *match, const struct argus_contexts *contexts,
                       const struct argus_contexts *base, bool *is_taken, struct argus_ranking *ret)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    ret->base_node[0] = 0;
    for (size_t i = 1; i < count; i++) {
        uint32_t parent = ret->base_node[nodes[i].parent];
        uint32_t function = match->functions[nodes[i].function];
        uint32_t found =
            parent == ARGUS_NONE || function == ARGUS_NONE
                ? IDMAP_NONE
                : idmap_get(&base->paths.tree.by_edge, (uint64_t)parent << 32 | function);
        found = found != IDMAP_NONE && is_taken[found] ? IDMAP_NONE : found;
        ret->base_node[i] = found == IDMAP_NONE ? ARGUS_NONE : found;
        if (found != IDMAP_NONE)
            is_taken[found] = true;
        if (nodes[i].depth == 1)
            ret->programs_missing += found == IDMAP_NONE;
        if (nodes[i].path != ARGUS_NONE && found != IDMAP_NONE)
            ret->paths_equal += base->paths.tree.nodes.data[found].path != ARGUS_NONE;
    }
    ret->paths_of_base = (uint32_t)base->paths.tree.paths.length;
}

bool match_nodes(const struct match *match, const struct argus_contexts *contexts,
                 const struct argus_contexts *base, struct argus_ranking *ret)
{
    size_t count = contexts->paths.tree.nodes.length;
    size_t base_count = base ? base->paths.tree.nodes.length : 0;
    bool *is_taken = calloc(base_count + 1, sizeof(*is_taken));
    ret->base_node = malloc((count + 1) * sizeof(*ret->base_node));
    bool good = ret->base_node && is_taken;
    if (good)
        memset(ret->base_node, 0xff, (count + 1) * sizeof(*ret->base_node)); /* ARGUS_NONE */
    if (good && base)
        match_each(match, contexts, base, is_taken, ret);
    free(is_taken);
    return good;
}

bool *match_find_here(const struct argus_ranking *ranking, size_t count, size_t base_count)
{
    bool *is_here = calloc(base_count + 1, sizeof(*is_here));
    for (size_t i = 0; is_here && i < count; i++)
        if (ranking->base_node[i] != ARGUS_NONE)
            is_here[ranking->base_node[i]] = true;
    return is_here;
}
