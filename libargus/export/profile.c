#include "export/profile.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { MOST_FRAMES = 256, NAME_BYTES = 4096 }; /* C++ has names of some thousand bytes */

/* The frames of one stack, innermost first. */
struct frame_list {
    uint32_t frames[MOST_FRAMES];
    size_t count;
};

static uint32_t text_number(struct profile *profile, const char *text)
{
    uint32_t number = 0;
    struct argus_error *error = strtab_intern(profile->names, text, strlen(text), &number);
    profile->failed |= error != NULL;
    argus_error_destroy(error);
    return number;
}

static uint32_t frame_number(struct profile *profile, const char *function, const char *image)
{
    struct profile_frame frame = {text_number(profile, function), text_number(profile, image)};
    uint64_t id = (uint64_t)frame.name << 32 | frame.image;
    uint32_t number = idmap_get(&profile->frame_numbers, id);
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)profile->frames.length;
    profile->failed |=
        !vec_push(&profile->frames, frame) || !idmap_put(&profile->frame_numbers, id, number);
    return number;
}

static void add_frame(struct profile *profile, struct frame_list *list, const char *function,
                      const char *image)
{
    if (list->count < MOST_FRAMES)
        list->frames[list->count++] = frame_number(profile, function, image);
}

static void add_address(struct profile *profile, struct frame_list *list, uint32_t process,
                        uint64_t time_ns, uint64_t address, bool is_return)
{
    struct argus_functions functions = {.symbols = {{.offset = address}}, .count = 1};
    char text[NAME_BYTES];
    if (address < ARGUS_FRAME_ENDS)
        return;
    if (profile->context->symbols)
        argus_symbols_named(profile->context->symbols, process, time_ns, address, is_return,
                            &functions);
    for (uint32_t i = 0; i < functions.count; i++) {
        const struct argus_symbol *symbol = &functions.symbols[i];
        argus_symbol_text(symbol, address, text, sizeof(text));
        utf8_repair_name(text, strlen(text));
        add_frame(profile, list, text, symbol->image ? symbol->image : "");
    }
}

static void add_stack(struct profile *profile, struct frame_list *list, uint32_t process,
                      uint64_t time_ns, uint32_t index)
{
    if (index == ARGUS_NONE)
        return;
    struct argus_stack stack = argus_graph_stack(profile->context->graph, index);
    for (uint32_t i = 0; i < stack.count; i++)
        add_address(profile, list, process, time_ns, stack.frames[i], i > 0);
}

/* The node of the stack, whose frames are put below each other. */
static uint32_t node_of(struct profile *profile, const struct frame_list *list)
{
    uint32_t node = ARGUS_NONE;
    if (list->count > profile->longest)
        profile->longest = (uint32_t)list->count;
    for (size_t i = list->count; i-- > 0 && !profile->failed;) {
        uint64_t id = (uint64_t)node << 32 | list->frames[i];
        uint32_t number = idmap_get(&profile->node_numbers, id);
        if (number == IDMAP_NONE) {
            number = (uint32_t)profile->nodes.length;
            profile->failed |=
                !vec_push(&profile->nodes, (struct profile_node){node, list->frames[i]}) ||
                !idmap_put(&profile->node_numbers, id, number);
        }
        node = number;
    }
    return node;
}

/* A stack that was looked up before has the same names, also at another time of the process. */
static uint64_t stack_id(uint32_t process, uint32_t user, uint32_t kernel, uint64_t extra)
{
    return ((uint64_t)user << 32 | kernel) ^ (uint64_t)process * 0x9e3779b97f4a7c15u ^
           extra * 0xc2b2ae3d27d4eb4fu;
}

/* The node of a kernel stack above a user stack; `leaf`: a frame that stands for what has no code,
 * or NULL. */
static uint32_t node_of_stacks(struct profile *profile, uint32_t process, uint64_t time_ns,
                               uint32_t kernel, uint32_t user, uint64_t pc, const char *leaf)
{
    struct frame_list list = {.count = 0};
    bool is_code = kernel != ARGUS_NONE || user != ARGUS_NONE || pc;
    uint64_t extra = leaf ? text_number(profile, leaf) : is_code && user == kernel ? pc : 0;
    uint64_t id = stack_id(process, user, kernel, extra << 1 | (leaf != NULL));
    uint32_t node = idmap_get(&profile->stack_nodes, id);
    if (node != IDMAP_NONE)
        return node;
    if (leaf)
        add_frame(profile, &list, leaf, "");
    add_stack(profile, &list, process, time_ns, kernel);
    add_stack(profile, &list, process, time_ns, user);
    if (!list.count)
        add_address(profile, &list, process, time_ns, pc, false);
    if (!list.count)
        add_frame(profile, &list, "[unknown]", "");
    node = node_of(profile, &list);
    profile->failed |= !idmap_put(&profile->stack_nodes, id, node);
    return node;
}

static void add_samples(struct profile *profile, uint32_t vertex,
                        const struct argus_sample *samples)
{
    const struct argus_vertex *v = &profile->view.vertices[vertex];
    uint32_t process = profile->view.threads[v->thread].process;
    for (uint32_t i = 0; i < v->sample_count && !profile->failed; i++) {
        const struct argus_sample *sample = &samples[v->first_sample + i];
        uint64_t rest = i == 0 ? v->run_ns % v->sample_count : 0; /* the sum is exact */
        struct profile_item item = {.time_ns = sample->time_ns,
                                    .cpu_ns = v->run_ns / v->sample_count + rest,
                                    .thread = v->thread,
                                    .vertex = vertex,
                                    .is_sample = true};
        item.node = node_of_stacks(profile, process, sample->time_ns, sample->kernel_stack,
                                   sample->user_stack, sample->pc, NULL);
        profile->failed |= !vec_push(&profile->items, item);
    }
    if (v->sample_count || !v->run_ns)
        return;
    struct profile_item item = {
        .time_ns = v->start_ns, .cpu_ns = v->run_ns, .thread = v->thread, .vertex = vertex};
    item.node = node_of_stacks(profile, process, v->start_ns, ARGUS_NONE, ARGUS_NONE, 0,
                               "[on a CPU, not sampled]");
    profile->failed |= !vec_push(&profile->items, item);
}

static void add_wait(struct profile *profile, uint32_t vertex)
{
    const struct argus_vertex *v = &profile->view.vertices[vertex];
    uint64_t end_ns = timeline_wait_end(&profile->view, vertex);
    char leaf[64];
    if (v->wait.kind == ARGUS_WAIT_NONE || end_ns <= v->end_ns)
        return;
    struct profile_item item = {
        .time_ns = v->end_ns, .wait_ns = end_ns - v->end_ns, .thread = v->thread, .vertex = vertex};
    snprintf(leaf, sizeof(leaf), "[waits: %s]",
             argus_wait_kind_name((enum argus_wait_kind)v->wait.kind));
    item.node = node_of_stacks(profile, profile->view.threads[v->thread].process, v->end_ns,
                               v->wait.kernel_stack, v->wait.user_stack, 0, leaf);
    profile->failed |= !vec_push(&profile->items, item);
}

struct argus_error *profile_collect(const struct argus_report_context *context,
                                    const struct argus_export *part, struct profile *ret)
{
    const struct argus_sample *samples;
    *ret = (struct profile){.context = context,
                            .part = part,
                            .view = view_of(context->graph),
                            .names = strtab_create()};
    if (!ret->names)
        return argus_error_memory();
    argus_graph_samples(context->graph, &samples);
    for (size_t i = 0; i < part->count && !ret->failed; i++) {
        if (ret->view.threads[ret->view.vertices[part->vertices[i]].thread].idle)
            continue;
        add_samples(ret, part->vertices[i], samples);
        add_wait(ret, part->vertices[i]);
    }
    return ret->failed ? argus_error_memory() : NULL;
}

void profile_deinit(struct profile *profile)
{
    strtab_destroy(profile->names);
    vec_deinit(&profile->frames);
    vec_deinit(&profile->nodes);
    vec_deinit(&profile->items);
    idmap_deinit(&profile->frame_numbers);
    idmap_deinit(&profile->node_numbers);
    idmap_deinit(&profile->stack_nodes);
}
