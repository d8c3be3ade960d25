#include <stdlib.h>
#include <string.h>

#include "context/contexts_data.h"
#include "report/programs_32_bit.h"

static void count_images(struct argus_contexts *contexts)
{
    struct frames *frames = &contexts->paths.frames;
    struct idmap seen = {0};
    for (size_t i = 0; i < frames->functions.length; i++) {
        /* interned strings, so equal addresses mean equal paths */
        const char *image = frames->functions.data[i].image;
        if (image[0] != '/' || idmap_get(&seen, (uintptr_t)image) != IDMAP_NONE)
            continue;
        contexts->moments.counts.images++;
        if (!idmap_put(&seen, (uintptr_t)image, 1))
            break;
    }
    idmap_deinit(&seen);
}

static void count_up(struct argus_contexts *contexts)
{
    const struct tree *tree = &contexts->paths.tree;
    struct argus_context_counts *counts = &contexts->moments.counts;
    uint64_t frames = 0;
    for (size_t i = 0; i < tree->paths.length; i++) {
        uint32_t length = tree->nodes.data[tree->paths.data[i]].depth - (INFERENCE_FIRST_DEPTH - 1);
        frames += length;
        counts->longest = length > counts->longest ? length : counts->longest;
    }
    for (size_t i = 0; i < tree->nodes.length; i++)
        counts->instances += tree->nodes.data[i].count;
    counts->paths = (uint32_t)tree->paths.length;
    counts->mean_frames = counts->paths ? (double)frames / counts->paths : 0;
    counts->functions = (uint32_t)contexts->paths.frames.functions.length;
    count_images(contexts);
}

static struct argus_error *no_stacks(const struct argus_contexts *contexts)
{
    const char *path = argus_trace_name(argus_graph_trace(contexts->graph));
    if (contexts->moments.options.vertex != ARGUS_NONE)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "v%u of %s has no call stack",
                                  contexts->moments.options.vertex, path);
    if (argus_trace_header(argus_graph_trace(contexts->graph))->os == ARGUS_OS_DARWIN)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "%s has no call stacks of what was chosen: kperf takes them "
                                  "(argus record on a Mac, Instruments)",
                                  path);
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND,
        "%s has no call stacks of what was chosen: record with --call-stacks, without "
        "--no-stacks",
        path);
}

struct argus_error *argus_contexts_create(const struct argus_graph *graph,
                                          struct argus_symbols *symbols,
                                          const struct argus_contexts_options *options,
                                          argus_progress progress, void *context,
                                          struct argus_contexts **ret)
{
    struct argus_contexts *contexts = calloc(1, sizeof(*contexts));
    if (!contexts)
        return argus_error_memory();
    contexts->graph = graph;
    contexts->moments.graph = graph;
    struct argus_error *error = paths_init(&contexts->paths, graph, symbols);
    contexts->paths.frames.late_names = options->late_names;
    if (!error)
        error = moments_init(&contexts->moments, graph, &contexts->paths, options);
    if (!error)
        error = moments_read(&contexts->moments, progress, context);
    if (!error && !contexts->paths.tree.paths.length)
        error = no_stacks(contexts);
    if (!error)
        error = waits_finish(&contexts->moments.waits);
    if (error) {
        argus_contexts_destroy(contexts);
        return error;
    }
    inference_sum(&contexts->paths.tree);
    times_settle(&contexts->paths.tree);
    count_up(contexts);
    *ret = contexts;
    return NULL;
}

void argus_contexts_destroy(struct argus_contexts *contexts)
{
    if (!contexts)
        return;
    moments_deinit(&contexts->moments);
    paths_deinit(&contexts->paths);
    free(contexts);
}

size_t argus_contexts_nodes(const struct argus_contexts *contexts,
                            const struct argus_context_node **ret)
{
    *ret = contexts->paths.tree.nodes.data;
    return contexts->paths.tree.nodes.length;
}

size_t argus_contexts_functions(const struct argus_contexts *contexts,
                                const struct argus_context_function **ret)
{
    *ret = contexts->paths.frames.functions.data;
    return contexts->paths.frames.functions.length;
}

size_t argus_contexts_waits(const struct argus_contexts *contexts,
                            const struct argus_context_wait **ret)
{
    *ret = contexts->moments.waits.table.data;
    return contexts->moments.waits.table.length;
}

size_t argus_contexts_wakers(const struct argus_contexts *contexts,
                             const struct argus_context_waker **ret)
{
    *ret = contexts->moments.waits.wakers.data;
    return contexts->moments.waits.wakers.length;
}

size_t argus_contexts_programs(const struct argus_contexts *contexts,
                               const struct argus_context_program **ret)
{
    *ret = contexts->moments.programs.data;
    return contexts->moments.programs.length;
}

const struct argus_context_counts *argus_contexts_counts(const struct argus_contexts *contexts)
{
    return &contexts->moments.counts;
}

const struct argus_graph *argus_contexts_graph(const struct argus_contexts *contexts)
{
    return contexts->graph;
}

void contexts_touch(const struct argus_contexts *contexts, struct programs_32_bit *ret)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(contexts->graph, &processes);
    programs_32_bit_init(ret, contexts->graph);
    for (uint32_t i = 0; i < count; i++)
        if (contexts->moments.chosen[i])
            programs_32_bit_touch(ret, i);
}

const char *contexts_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *argus_layer_name(enum argus_layer layer)
{
    static const char *const names[ARGUS_LAYERS] = {
        [ARGUS_LAYER_MAIN] = "main",       [ARGUS_LAYER_LIBRARY] = "library",
        [ARGUS_LAYER_PLUGIN] = "plug-in",  [ARGUS_LAYER_KERNEL] = "kernel",
        [ARGUS_LAYER_UNKNOWN] = "unknown",
    };
    return names[layer];
}

const char *argus_moment_name(enum argus_moment moment)
{
    static const char *const names[ARGUS_MOMENTS] = {
        [ARGUS_MOMENT_RETURN] = "returns",     [ARGUS_MOMENT_BLOCK] = "waits",
        [ARGUS_MOMENT_WAKE] = "wake-ups",      [ARGUS_MOMENT_FLAG] = "data flags",
        [ARGUS_MOMENT_CALL] = "system calls",  [ARGUS_MOMENT_PREEMPTED] = "preemptions",
        [ARGUS_MOMENT_SAMPLE] = "cpu samples",
    };
    return names[moment];
}
