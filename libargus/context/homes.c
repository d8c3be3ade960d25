#include "context/homes.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "context/charges.h"

struct side {
    const struct argus_contexts *contexts;
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    const uint32_t *same;      /* by function: that of the base */
    const uint32_t *base_node; /* of programs; NULL: this is the base */
};

/* The same for a node and its equivalents. 0: it is no system call, or the base lacks some of its
 * functions. */
static uint64_t key_of(const struct side *side, uint32_t node)
{
    uint32_t charged = charged_node(side->contexts, node), program = node, parts[3];
    uint32_t script = charged_script(side->contexts, charged);
    if (side->functions[side->nodes[node].function].layer != ARGUS_LAYER_KERNEL)
        return 0;
    while (side->nodes[program].depth > 1)
        program = side->nodes[program].parent;
    parts[0] = side->base_node ? side->base_node[program] : program;
    parts[1] = script == ARGUS_NONE ? 0 : side->same[side->nodes[script].function];
    uint64_t key = 0;
    for (uint32_t at = node;; at = side->nodes[at].parent) {
        parts[2] = side->same[side->nodes[at].function];
        if (parts[0] == ARGUS_NONE || parts[1] == ARGUS_NONE || parts[2] == ARGUS_NONE)
            return 0;
        key = hash64(key, parts, sizeof(parts));
        if (at == charged)
            return key;
    }
}

static struct side side_of(const struct argus_contexts *contexts, const uint32_t *same,
                           const uint32_t *base_node)
{
    struct side side = {.contexts = contexts, .same = same, .base_node = base_node};
    argus_contexts_nodes(contexts, &side.nodes);
    argus_contexts_functions(contexts, &side.functions);
    return side;
}

static uint64_t waited_ns(const struct argus_context_node *node, enum argus_estimate estimate)
{
    const uint64_t *waited = node->waited_ns[estimate];
    return waited[ARGUS_WAITED_IDLE] + waited[ARGUS_WAITED_SLEPT] + waited[ARGUS_WAITED_OTHERS];
}

/* Fills `by_key`: the node where most time was waited. False: no memory. */
static bool note_base(const struct side *base, size_t count, enum argus_estimate estimate,
                      struct idmap *by_key)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t ns = waited_ns(&base->nodes[i], estimate), key = ns ? key_of(base, i) : 0;
        uint32_t known = key ? idmap_get(by_key, key) : IDMAP_NONE;
        bool is_more = known == IDMAP_NONE || ns > waited_ns(&base->nodes[known], estimate);
        if (key && is_more && !idmap_put(by_key, key, i))
            return false;
    }
    return true;
}

static bool is_on_path(const struct side *side, uint32_t node, uint32_t function)
{
    for (; side->nodes[node].depth >= INFERENCE_FIRST_DEPTH; node = side->nodes[node].parent)
        if (side->same[side->nodes[node].function] == function)
            return true;
    return false;
}

/* Whether each function of the path to `node` is on the other one, too. */
static bool is_part_of(const struct side *side, uint32_t node, const struct side *other,
                       uint32_t other_node)
{
    for (; side->nodes[node].depth >= INFERENCE_FIRST_DEPTH; node = side->nodes[node].parent)
        if (!is_on_path(other, other_node, side->same[side->nodes[node].function]))
            return false;
    return true;
}

static uint32_t home_of(const struct side *now, uint32_t node, const struct side *then,
                        const struct idmap *by_key)
{
    uint64_t key = key_of(now, node);
    uint32_t home = key ? idmap_get(by_key, key) : IDMAP_NONE;
    bool is_same = home != IDMAP_NONE &&
                   (is_part_of(now, node, then, home) || is_part_of(then, home, now, node));
    return is_same ? home : ARGUS_NONE;
}

uint32_t *homes_find(const struct match *match, const struct argus_contexts *contexts,
                     const struct argus_contexts *base, const struct argus_ranking_options *options,
                     const struct argus_ranking *ranking)
{
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(contexts, &nodes);
    struct idmap by_key = {0};
    struct side now = side_of(contexts, match->functions, ranking->base_node);
    struct side then = side_of(base, match->base_functions, NULL);
    uint32_t *homes = malloc((count + 1) * sizeof(*homes));
    bool good =
        homes && note_base(&then, argus_contexts_nodes(base, &nodes), options->estimate, &by_key);
    for (uint32_t i = 0; good && i < count; i++) {
        bool is_new = i && ranking->base_node[i] == ARGUS_NONE;
        bool waits = is_new && waited_ns(&now.nodes[i], options->estimate);
        homes[i] = waits ? home_of(&now, i, &then, &by_key) : ARGUS_NONE;
    }
    idmap_deinit(&by_key);
    if (good)
        return homes;
    free(homes);
    return NULL;
}
