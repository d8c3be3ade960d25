/* diagnose_all TRACE [STEP]: diagnoses every vertex (every STEPth) as if it were a hang, slices
 * from it, and searches for similar vertices. Nothing may fail, and every accounting must add up.
 * Run under the sanitizers. */
#include <stdio.h>
#include <stdlib.h>

#include "argus/report.h"

static bool swallow(void *context, const char *text, size_t bytes)
{
    (void)text;
    *(size_t *)context += bytes;
    return true;
}

static struct argus_error *check_account(const struct argus_diagnosis *diagnosis, uint32_t vertex)
{
    uint64_t at = diagnosis->hang.start_ns;
    for (size_t i = 0; i < diagnosis->accounting.count; i++) {
        const struct argus_stretch *stretch = &diagnosis->accounting.stretches[i];
        if (stretch->start_ns != at || stretch->end_ns <= at)
            break;
        at = stretch->end_ns;
    }
    if (at == diagnosis->hang.end_ns)
        return NULL;
    return argus_error_create(ARGUS_ERROR_FORMAT, "the accounting of v%u does not add up", vertex);
}

/* Memory is the reason only for a time in which there was too little. */
static struct argus_error *check_memory(const struct argus_diagnosis *diagnosis, uint32_t vertex)
{
    for (size_t i = 0; i < diagnosis->culprit_count; i++) {
        const struct argus_culprit *culprit = &diagnosis->culprits[i];
        if ((culprit->why.kind == ARGUS_REASON_MEMORY) != (culprit->memory.stalled_ns > 0))
            return argus_error_create(ARGUS_ERROR_FORMAT, "v%u: a lack of memory for %llu ns",
                                      vertex, (unsigned long long)culprit->memory.stalled_ns);
    }
    return NULL;
}

static struct argus_error *diagnose(const struct argus_report_context *context, uint32_t vertex)
{
    struct argus_hang hang = argus_hang_of_vertex(context->graph, vertex);
    struct argus_diagnosis diagnosis;
    struct argus_error *error = argus_diagnose(context->graph, context->symbols, &hang, NULL,
                                               argus_asker_auto(), &diagnosis);
    if (error)
        return error;
    error = check_account(&diagnosis, vertex);
    if (!error)
        error = check_memory(&diagnosis, vertex);
    if (!error)
        error = argus_report_diagnosis(context, &diagnosis, false);
    if (!error)
        error = argus_report_diagnosis(context, &diagnosis, true);
    argus_diagnosis_deinit(&diagnosis);
    return error;
}

static struct argus_error *slice(const struct argus_report_context *context, uint32_t vertex)
{
    struct argus_slice found;
    struct argus_error *error =
        argus_slice(context->graph, vertex, NULL, argus_asker_auto(), &found);
    if (error)
        return error;
    error = argus_report_slice(context, &found, true);
    argus_slice_deinit(&found);
    return error;
}

static struct argus_error *find_similar(const struct argus_report_context *context, uint32_t vertex)
{
    struct argus_similars found;
    struct argus_error *error = argus_similar_find(context->graph, vertex, 5, &found);
    if (error)
        return error;
    error = argus_report_similars(context, vertex, context, &found, false);
    argus_similars_deinit(&found);
    return error;
}

static struct argus_error *run(const struct argus_trace *trace, unsigned step)
{
    size_t bytes = 0;
    struct argus_sink sink = {.write = swallow, .context = &bytes};
    struct argus_graph *graph;
    struct argus_error *error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (error)
        return error;
    struct argus_report_context context = {.graph = graph, .sink = &sink};
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    for (size_t v = 0; !error && v < count; v += step) {
        error = diagnose(&context, (uint32_t)v);
        if (!error)
            error = slice(&context, (uint32_t)v);
        if (!error)
            error = find_similar(&context, (uint32_t)v);
    }
    if (!error)
        printf("%zu vertices, %zu bytes of reports\n", count, bytes);
    argus_graph_destroy(graph);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_trace *trace = NULL;
    unsigned step = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    struct argus_error *error = argc > 1 ? argus_trace_open(argv[1], &trace) : NULL;
    if (argc < 2)
        return 2;
    if (!error)
        error = run(trace, step ? step : 1);
    if (error)
        fprintf(stderr, "diagnose_all: %s\n", error->message);
    int code = error ? 1 : 0;
    argus_error_destroy(error);
    argus_trace_close(trace);
    return code;
}
