#include "context/stack_paths.h"

#include <stdio.h>
#include <string.h>

#include "graph/stack_beginnings.h"

#define CUT_NAME "[stack cut]"

struct argus_error *paths_init(struct paths *paths, const struct argus_graph *graph,
                               struct argus_symbols *symbols)
{
    paths->stacks.trace = argus_graph_trace(graph);
    struct argus_error *error = frames_init(&paths->frames, graph, symbols);
    if (!error && tree_child(&paths->tree, ARGUS_NONE, ARGUS_NONE) != 0)
        error = argus_error_memory();
    return error;
}

void paths_deinit(struct paths *paths)
{
    stacks_deinit(&paths->stacks);
    frames_deinit(&paths->frames);
    inlined_deinit(&paths->inlined);
    tree_deinit(&paths->tree);
    vec_deinit(&paths->users);
    idmap_deinit(&paths->by_space);
    idmap_deinit(&paths->by_id);
    idmap_deinit(&paths->by_stack);
    idmap_deinit(&paths->by_kernel);
}

static uint32_t space_key(struct frame_space space)
{
    return space.process << 1 | space.is_later;
}

static void mark_scheduler(struct paths *paths, size_t added)
{
    struct argus_context_node *nodes = paths->tree.nodes.data;
    nodes[added].in_scheduler =
        nodes[nodes[added].parent].in_scheduler ||
        stack_schedules_in(paths->frames.functions.data[nodes[added].function].name);
}

uint32_t paths_below(struct paths *paths, uint32_t node, uint32_t function)
{
    if (node == ARGUS_NONE || function == ARGUS_NONE)
        return ARGUS_NONE;
    size_t before = paths->tree.nodes.length;
    uint32_t child = tree_child(&paths->tree, node, function);
    paths->frames.no_memory |= child == ARGUS_NONE;
    if (paths->tree.nodes.length > before)
        mark_scheduler(paths, before);
    return child;
}

/* Code without names that calls itself or its like stays one frame, and so does a function with a
 * part of it. */
static uint32_t below_frame(struct paths *paths, uint32_t node, struct frame_space space,
                            uint64_t address, bool is_return)
{
    uint32_t function = frames_at(&paths->frames, space, address, is_return);
    bool repeats = function != ARGUS_NONE && node != ARGUS_NONE &&
                   paths->tree.nodes.data[node].function == function &&
                   (frames_is_made(&paths->frames, function) ||
                    frames_is_part(&paths->frames, space, address, is_return));
    return repeats ? node : paths_below(paths, node, function);
}

/* Before its last exec, a process ran another program, whose name is unknown. */
static uint32_t find_program(struct paths *paths, struct frame_space space)
{
    const struct argus_process *processes;
    argus_graph_processes(paths->frames.graph, &processes);
    const char *name = processes[space.process].name;
    char before[64];
    snprintf(before, sizeof(before), "%s, before its exec", name);
    if (!space.is_later)
        name = before;
    return paths_below(
        paths, 0,
        frames_named(&paths->frames, name[0] ? name : "?", "[program]", ARGUS_LAYER_UNKNOWN));
}

static uint32_t program_node(struct paths *paths, struct frame_space space)
{
    uint32_t key = space_key(space), node = idmap_get(&paths->by_space, key);
    if (node != IDMAP_NONE)
        return node;
    node = find_program(paths, space);
    if (node != ARGUS_NONE && !idmap_put(&paths->by_space, key, node))
        paths->frames.no_memory = true;
    return node;
}

uint32_t paths_program(struct paths *paths, uint32_t process, bool is_later)
{
    struct frame_space space = {.process = process, .is_later = is_later}, other = space;
    other.is_later = !is_later;
    uint32_t node = idmap_get(&paths->by_space, space_key(space));
    uint32_t other_node = idmap_get(&paths->by_space, space_key(other));
    if (node != IDMAP_NONE)
        return node;
    if (other_node == IDMAP_NONE)
        return 0;
    node = is_later ? program_node(paths, space) : other_node;
    return node == ARGUS_NONE ? 0 : node; /* without memory */
}

/* Adds the functions that were inlined at an address below the one that covers it. */
static uint32_t walk_inlined(struct paths *paths, uint32_t node, struct frame_space space,
                             uint64_t address, bool is_return)
{
    const uint32_t *functions;
    uint32_t count =
        inlined_at(&paths->inlined, &paths->frames, space, address, is_return, &functions);
    for (uint32_t i = 0; i < count && node != ARGUS_NONE; i++) {
        node = paths_below(paths, node, functions[i]);
        if (node != ARGUS_NONE)
            paths->tree.nodes.data[node].is_inlined = true;
    }
    return node;
}

/* Adds the frames of `stack`, outermost first, below `node`. */
static uint32_t walk_in(struct paths *paths, uint32_t node, struct frame_space space,
                        struct argus_stack stack)
{
    uint32_t count = stack.count;
    for (uint32_t i = count; i-- > 0 && node != ARGUS_NONE;) {
        node = below_frame(paths, node, space, stack.frames[i], i > 0);
        node = walk_inlined(paths, node, space, stack.frames[i], i > 0);
        if (i == 1 && count > 1 && !(stack.frames[0] >> 63)) {
            uint32_t function =
                frames_left_out(&paths->frames, space, stack.frames[0], stack.frames[1]);
            if (function != ARGUS_NONE)
                node = paths_below(paths, node, function);
        }
    }
    return node;
}

/* The outermost function of the path of `node`; NULL: it has none. */
static const struct argus_context_function *outermost(const struct paths *paths, uint32_t node)
{
    const struct argus_context_node *nodes = paths->tree.nodes.data;
    while (nodes[node].depth > 2)
        node = nodes[node].parent;
    return nodes[node].depth == 2 ? &paths->frames.functions.data[nodes[node].function] : NULL;
}

/* Only if functions have names at all. */
static bool is_rootless(const struct argus_context_function *function)
{
    if (!function || function->image[0] != '/')
        return function && function->layer == ARGUS_LAYER_UNKNOWN;
    if (stack_begins_in(function->name))
        return false;
    return strchr(function->name, '+') == NULL; /* in a stripped program, _start has no name */
}

static uint32_t make_user_path(struct paths *paths, struct frame_space space, uint32_t index)
{
    struct argus_stack stack = stacks_get(&paths->stacks, index);
    uint32_t node = program_node(paths, space);
    uint64_t last = stack.count ? stack.frames[stack.count - 1] : ARGUS_FRAME_ENDS;
    uint32_t cut = last < ARGUS_FRAME_ENDS ? (uint32_t)last : 0;
    uint32_t known =
        argus_symbols_known(paths->frames.symbols, space.process, space.time_ns, stack);
    if (known < stack.count) { /* frame pointers of code that has none led to the other frames */
        cut = ARGUS_FRAME_ASTRAY;
        stack.count = known + 1;
    }
    stack.count -= cut != 0;
    if (cut && stack_is_whole(paths->frames.symbols, space.process, space.time_ns, stack))
        cut = 0;
    if (cut)
        node = paths_below(paths, node,
                           frames_named(&paths->frames, CUT_NAME, "", ARGUS_LAYER_UNKNOWN));
    node = walk_in(paths, node, space, stack);
    if (node == ARGUS_NONE)
        return ARGUS_NONE;
    struct user_path made = {
        .node = node, .call = ARGUS_NONE, .space = space_key(space), .lack = PATH_WHOLE};
    if (cut)
        made.lack = (uint8_t)(PATH_CUT + cut);
    else if (space.is_later && is_rootless(outermost(paths, node)))
        made.lack = PATH_ROOTLESS;
    paths->frames.no_memory |= !vec_push(&paths->users, made);
    return paths->frames.no_memory ? ARGUS_NONE : (uint32_t)paths->users.length - 1;
}

/* By frames: several stacks may have the same ones. */
static uint32_t find_user_path(struct paths *paths, struct frame_space space, uint64_t id)
{
    uint32_t index = stacks_use(&paths->stacks, id);
    if (index == ARGUS_NONE)
        return ARGUS_NONE;
    uint64_t key = (uint64_t)space_key(space) << 32 | index;
    uint32_t user = idmap_get(&paths->by_stack, key);
    if (user != IDMAP_NONE)
        return user;
    user = make_user_path(paths, space, index);
    if (user != ARGUS_NONE && !idmap_put(&paths->by_stack, key, user))
        paths->frames.no_memory = true;
    return user;
}

/* An ID always means the same frames, so the last result for an ID is used if it was for the same
 * process. */
uint32_t paths_of_user(struct paths *paths, struct frame_space space, uint64_t id)
{
    const struct argus_process *processes;
    argus_graph_processes(paths->frames.graph, &processes);
    space.is_later = space.time_ns >= processes[space.process].exec_ns;
    uint32_t user = idmap_get(&paths->by_id, id);
    if (user != IDMAP_NONE && paths->users.data[user].space == space_key(space))
        return user;
    bool is_known = user != IDMAP_NONE;
    user = find_user_path(paths, space, id);
    if (user != ARGUS_NONE && !is_known && !idmap_put(&paths->by_id, id, user))
        paths->frames.no_memory = true;
    return user;
}

uint32_t paths_of_syscall(struct paths *paths, uint32_t user, uint32_t number)
{
    struct user_path *path = &paths->users.data[user];
    if (path->call == number)
        return path->call_node;
    path->call_node = paths_below(paths, path->node, frames_of_syscall(&paths->frames, number));
    path->call = path->call_node == ARGUS_NONE ? ARGUS_NONE : number;
    return path->call_node;
}

uint32_t paths_of_pause(struct paths *paths, uint32_t node, const char *name)
{
    return paths_below(paths, node,
                       frames_named(&paths->frames, name, "[kernel]", ARGUS_LAYER_KERNEL));
}

uint32_t paths_of_kernel(struct paths *paths, uint32_t node, uint64_t id)
{
    uint32_t index = stacks_use(&paths->stacks, id);
    if (index == ARGUS_NONE || node == ARGUS_NONE)
        return node;
    uint64_t key = (uint64_t)node << 32 | index;
    uint32_t inner = idmap_get(&paths->by_kernel, key);
    if (inner != IDMAP_NONE)
        return inner;
    inner = walk_in(paths, node, (struct frame_space){0}, stacks_get(&paths->stacks, index));
    if (inner != ARGUS_NONE && !idmap_put(&paths->by_kernel, key, inner))
        paths->frames.no_memory = true;
    return inner;
}

bool paths_no_memory(const struct paths *paths)
{
    return paths->frames.no_memory || paths->frames.layers.no_memory || paths->stacks.no_memory;
}
