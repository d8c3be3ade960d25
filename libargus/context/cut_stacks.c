#include "context/cut_stacks.h"

#include "context/inference.h"

#define SEVERAL (UINT32_MAX - 1) /* not a valid node number */

void cut_stacks_init(struct cut_stacks *cuts, struct paths *paths)
{
    const struct argus_trace *trace = paths->stacks.trace;
    size_t count = argus_trace_stack_count(trace);
    for (size_t i = 0; i < count && !cuts->paths; i++) {
        const uint64_t *frames;
        uint64_t id;
        size_t length = argus_trace_stack_at(trace, i, &id, &frames);
        if (length && frames[length - 1] < ARGUS_FRAME_ENDS)
            cuts->paths = paths;
    }
}

void cut_stacks_deinit(struct cut_stacks *cuts)
{
    idmap_deinit(&cuts->calls);
    idmap_deinit(&cuts->places);
    idmap_deinit(&cuts->decided);
    vec_deinit(&cuts->functions);
}

static const struct argus_context_node *node_at(const struct cut_stacks *cuts, uint32_t node)
{
    return &cuts->paths->tree.nodes.data[node];
}

/* The number of a pair of caller and callee; IDMAP_NONE: it is new and `make` is false, or there is
 * no memory. */
static uint32_t call_number(struct cut_stacks *cuts, uint32_t caller, uint32_t callee, bool make)
{
    uint64_t key = (uint64_t)caller << 32 | callee;
    uint32_t number = idmap_get(&cuts->calls, key);
    if (number != IDMAP_NONE || !make)
        return number;
    number = (uint32_t)cuts->calls.count;
    if (idmap_put(&cuts->calls, key, number))
        return number;
    cuts->no_memory = true;
    return IDMAP_NONE;
}

/* Notes for each function of a complete path where it was called. */
static void learn(struct cut_stacks *cuts, uint32_t thread, uint32_t node)
{
    for (uint32_t at = node; node_at(cuts, at)->depth > INFERENCE_FIRST_DEPTH;) {
        uint32_t caller = node_at(cuts, at)->parent;
        uint32_t call =
            call_number(cuts, node_at(cuts, caller)->function, node_at(cuts, at)->function, true);
        if (call == IDMAP_NONE)
            return;
        uint64_t key = (uint64_t)thread << 32 | call;
        uint32_t place = idmap_get(&cuts->places, key);
        uint32_t wanted = place == IDMAP_NONE || place == caller ? caller : SEVERAL;
        if (place != wanted && !idmap_put(&cuts->places, key, wanted))
            cuts->no_memory = true;
        at = caller;
    }
}

/* Collects the functions of a path that was cut off, up to the node that marks the cut. */
static bool collect(struct cut_stacks *cuts, uint32_t node)
{
    cuts->functions.length = 0;
    for (; node_at(cuts, node)->depth > INFERENCE_FIRST_DEPTH; node = node_at(cuts, node)->parent)
        if (!vec_push(&cuts->functions, node_at(cuts, node)->function)) {
            cuts->no_memory = true;
            return false;
        }
    return cuts->functions.length >= 2;
}

/* The only place of the outermost two functions; IDMAP_NONE: none, SEVERAL: more than one. */
static uint32_t find_place(struct cut_stacks *cuts, uint32_t thread)
{
    const uint32_t *functions = cuts->functions.data;
    size_t count = cuts->functions.length;
    uint32_t call = call_number(cuts, functions[count - 1], functions[count - 2], false);
    return call == IDMAP_NONE ? IDMAP_NONE
                              : idmap_get(&cuts->places, (uint64_t)thread << 32 | call);
}

static uint32_t graft(struct cut_stacks *cuts, uint32_t thread, uint32_t user)
{
    struct user_path made = cuts->paths->users.data[user];
    if (!collect(cuts, made.node))
        return user;
    uint32_t node = find_place(cuts, thread);
    if (node == IDMAP_NONE || node == SEVERAL)
        return user;
    for (size_t i = cuts->functions.length - 1; i-- > 0 && node != ARGUS_NONE;)
        node = paths_below(cuts->paths, node, cuts->functions.data[i]);
    made.node = node;
    made.call = ARGUS_NONE;
    made.is_grafted = true;
    if (node == ARGUS_NONE || !vec_push(&cuts->paths->users, made)) {
        cuts->no_memory = true;
        return user;
    }
    return (uint32_t)cuts->paths->users.length - 1;
}

static bool is_cut(const struct user_path *path)
{
    return path->lack != PATH_WHOLE && path->lack != PATH_ROOTLESS;
}

uint32_t cut_stacks_apply(struct cut_stacks *cuts, uint32_t thread, uint32_t user)
{
    if (!cuts->paths)
        return user;
    uint64_t key = (uint64_t)thread << 32 | user;
    uint32_t decided = idmap_get(&cuts->decided, key);
    if (decided != IDMAP_NONE)
        return decided;
    decided = is_cut(&cuts->paths->users.data[user]) ? graft(cuts, thread, user) : user;
    const struct user_path *path = &cuts->paths->users.data[decided];
    if (is_cut(path) && !path->is_grafted)
        return decided; /* not final: a stack without a place may get one later */
    learn(cuts, thread, path->node);
    if (!idmap_put(&cuts->decided, key, decided))
        cuts->no_memory = true;
    return decided;
}
