#include "api/api.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_MOST = 100 };

struct context_item {
    struct argus_context_info info;
    struct argus_context_frame *frames; /* owned; its texts are those of the contexts */
};

struct argus_context_list {
    struct argus_file *file;         /* a reference */
    struct argus_contexts *contexts; /* owned: the frames' names */
    struct context_item *items;      /* owned */
    size_t count;
};

static struct argus_error *infer(struct argus_file *file, const struct argus_file *other,
                                 const char *process, struct argus_contexts **ret)
{
    struct argus_contexts_options options = ARGUS_CONTEXTS_OPTIONS;
    options.process = process;
    options.of_command = true;
    options.other = other ? other->trace->graph : NULL;
    return argus_contexts_create(file->trace->graph, file->symbols, &options, api_file_progress,
                                 file, ret);
}

/* --- one path --- */

static bool take_frames(const struct argus_contexts *contexts, const struct argus_ranked_path *path,
                        struct context_item *ret)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    size_t at = ret->info.frames = nodes[path->node].depth;
    ret->frames = calloc(at + 1, sizeof(*ret->frames));
    if (!ret->frames)
        return false;
    for (uint32_t node = path->node; at; node = nodes[node].parent) {
        const struct argus_context_function *function = &functions[nodes[node].function];
        at--;
        ret->frames[at].function = function->name;
        ret->frames[at].image = function->image[0] == '/' ? function->image : NULL;
        if (node == path->bottleneck)
            ret->info.culprit = at;
    }
    return true;
}

static bool take_path(const struct argus_contexts *contexts, enum argus_estimate estimate,
                      const struct argus_ranked_path *path, struct context_item *ret)
{
    const struct argus_context_node *nodes;
    argus_contexts_nodes(contexts, &nodes);
    const struct argus_context_node *node = &nodes[path->node];
    ret->info = (struct argus_context_info){
        .cost_ns = path->cost_ns,
        .own_ns = node->own_ns[estimate],
        .total_ns = node->total_ns[estimate],
        .calls = node->count,
        .is_new = path->is_new,
        .by_chance = path->by_chance,
    };
    return take_frames(contexts, path, ret);
}

static bool take_paths(struct argus_context_list *list, enum argus_estimate estimate,
                       const struct argus_ranking *ranking, size_t most)
{
    size_t count = ranking->count < most ? ranking->count : most;
    list->items = calloc(count + 1, sizeof(*list->items));
    for (size_t i = 0; list->items && i < count && ranking->paths[i].cost_ns > 0; i++) {
        list->count++;
        if (!take_path(list->contexts, estimate, &ranking->paths[i], &list->items[i]))
            return false;
    }
    return list->items;
}

/* --- the list --- */

static struct argus_error *rank(struct argus_context_list *list, const struct argus_contexts *base,
                                const struct argus_context_filter *filter)
{
    struct argus_ranking ranking;
    struct argus_ranking_options options = {.estimate = filter->aggressive ? ARGUS_AGGRESSIVE
                                                                           : ARGUS_CONSERVATIVE,
                                            .rank = ARGUS_RANK_BLAME};
    struct argus_error *error = argus_contexts_rank(list->contexts, base, &options, &ranking);
    if (error)
        return error;
    if (!take_paths(list, options.estimate, &ranking, filter->most ? filter->most : USUAL_MOST))
        error = argus_error_memory();
    argus_ranking_deinit(&ranking);
    return error;
}

static struct argus_error *fill(struct argus_context_list *list,
                                const struct argus_context_filter *filter)
{
    struct argus_contexts *base = NULL;
    struct argus_error *error = infer(list->file, filter->base, filter->process, &list->contexts);
    if (!error && filter->base)
        error = infer(filter->base, list->file, filter->process, &base);
    if (!error)
        error = rank(list, base, filter);
    argus_contexts_destroy(base);
    return error;
}

struct argus_error *argus_context_list_create(struct argus_file *file,
                                              const struct argus_context_filter *given,
                                              struct argus_context_list **ret)
{
    struct argus_context_filter filter;
    struct argus_context_list *list = calloc(1, sizeof(*list));
    if (!list)
        return argus_error_memory();
    list->file = api_file_keep(file);
    api_file_begin(file);
    struct argus_error *error = api_take_options(given, &filter, sizeof(filter));
    if (!error && filter.base && filter.base != file)
        api_file_begin(filter.base);
    if (!error)
        error = fill(list, &filter);
    error = api_file_end(file, error);
    if (filter.base && filter.base != file)
        error = api_file_end(filter.base, error);
    if (error) {
        argus_context_list_free(list);
        return error;
    }
    *ret = list;
    return NULL;
}

void argus_context_list_free(struct argus_context_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].frames);
    free(list->items);
    argus_contexts_destroy(list->contexts);
    argus_file_close(list->file);
    free(list);
}

size_t argus_context_list_count(const struct argus_context_list *list)
{
    return list->count;
}

const struct argus_context_info *argus_context_list_get(const struct argus_context_list *list,
                                                        size_t index)
{
    return index < list->count ? &list->items[index].info : NULL;
}

const struct argus_context_frame *argus_context_list_frame(const struct argus_context_list *list,
                                                           size_t index, size_t frame)
{
    bool known = index < list->count && frame < list->items[index].info.frames;
    return known ? &list->items[index].frames[frame] : NULL;
}
