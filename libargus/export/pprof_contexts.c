/* The contexts for pprof (pprof_writer.h): the same times as those of `--format=folded`. A sample
 * is a path, its value the cost of its last function. With a base, there are three values: the cost
 * (the difference, which may be negative), and the times of the trace and of the base; what only
 * the base has is negative. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "argus/export.h"
#include "context/rank.h"
#include "export/pprof_writer.h"

struct path_profile {
    const struct argus_contexts_report *report;
    struct pprof_writer writer;
    size_t functions; /* of the trace; those of the base are the frames after them */
};

static void put_sample(struct path_profile *paths, const struct argus_contexts *contexts,
                       uint32_t node, uint32_t first_frame, struct rank_pair pair)
{
    const struct argus_context_node *nodes;
    const struct argus_context_function *functions;
    uint32_t at = node;
    argus_contexts_nodes(contexts, &nodes);
    argus_contexts_functions(contexts, &functions);
    for (; nodes[at].depth > 1; at = nodes[at].parent)
        pprof_add_frame_of_sample(&paths->writer, first_frame + nodes[at].function);
    pprof_add_frame_of_sample(&paths->writer, first_frame + nodes[at].function);
    pprof_add_value(&paths->writer, llround(pair.now_ns - pair.base_ns));
    if (paths->report->base) {
        pprof_add_value(&paths->writer, llround(pair.now_ns));
        pprof_add_value(&paths->writer, llround(pair.base_ns));
    }
    pprof_add_label(&paths->writer, "process", functions[nodes[at].function].name, 0);
    pprof_end_sample(&paths->writer);
}

static struct argus_error *put_samples(struct path_profile *paths)
{
    const struct argus_contexts_report *report = paths->report;
    const struct argus_context_node *nodes;
    size_t count = argus_contexts_nodes(report->contexts, &nodes);
    for (uint32_t i = 1; i < count; i++) {
        struct rank_pair pair = rank_pair_of(report, i);
        if (pair.now_ns >= 1 || pair.base_ns >= 1)
            put_sample(paths, report->contexts, i, 0, pair);
    }
    if (!report->base)
        return NULL;
    bool *is_gone = rank_find_gone(report);
    if (!is_gone)
        return argus_error_memory();
    count = argus_contexts_nodes(report->base, &nodes);
    for (uint32_t i = 1; i < count; i++) {
        struct rank_pair pair = {0, is_gone[i] ? rank_value(&nodes[i], &report->options) : 0};
        if (pair.base_ns >= 1)
            put_sample(paths, report->base, i, (uint32_t)paths->functions, pair);
    }
    free(is_gone);
    return NULL;
}

static void put_frames(struct path_profile *paths, const struct argus_contexts *contexts,
                       uint32_t first_frame)
{
    const struct argus_context_function *functions;
    size_t count = argus_contexts_functions(contexts, &functions);
    for (uint32_t i = 0; i < count; i++) {
        bool is_program = strcmp(functions[i].image, "[program]") == 0; /* no file */
        pprof_add_frame(&paths->writer, first_frame + i,
                        pprof_text(&paths->writer, functions[i].name),
                        pprof_text(&paths->writer, is_program ? "" : functions[i].image));
    }
}

static void put_head(struct path_profile *paths)
{
    const struct argus_graph *graph = argus_contexts_graph(paths->report->contexts);
    uint64_t start_ns = argus_graph_start_ns(graph);
    pprof_add_type(&paths->writer, "cost", "nanoseconds");
    if (paths->report->base) {
        pprof_add_type(&paths->writer, "time", "nanoseconds");
        pprof_add_type(&paths->writer, "base", "nanoseconds");
    }
    pprof_choose_type(&paths->writer, "cost");
    pprof_add_time(&paths->writer, argus_trace_ns_to_wall_ns(argus_graph_trace(graph), start_ns),
                   argus_graph_end_ns(graph) - start_ns);
}

struct argus_error *argus_export_contexts_pprof(const struct argus_sink *sink,
                                                const struct argus_contexts_report *report)
{
    const struct argus_context_function *functions;
    struct path_profile paths = {.report = report};
    paths.functions = argus_contexts_functions(report->contexts, &functions);
    struct strtab *texts = strtab_create();
    struct argus_error *error =
        texts ? pprof_init(&paths.writer, sink, texts) : argus_error_memory();
    if (!error) {
        put_head(&paths);
        error = put_samples(&paths);
        put_frames(&paths, report->contexts, 0);
        if (report->base)
            put_frames(&paths, report->base, (uint32_t)paths.functions);
        struct argus_error *later = pprof_end(&paths.writer);
        if (error)
            argus_error_destroy(later);
        else
            error = later;
    }
    strtab_destroy(texts);
    return error;
}
