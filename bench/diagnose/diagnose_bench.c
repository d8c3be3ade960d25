/* Measures a diagnosis and what it is compared with, on one trace:
 *
 *     diagnose_bench TRACE walk VERTEX     steps of the automatic walk that always takes the most recent edge
 *     diagnose_bench TRACE similar         seconds for argus_similar_search(), of the vertex with the most candidates
 *     diagnose_bench TRACE time VERTEX     seconds for argus_diagnose() with every question's default
 *
 * The walk is the paper's baseline (Table 2): from the vertex that began when the wait ended,
 * backward along the latest incoming edge, until there is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "argus/diagnose.h"

static int fail(struct argus_error *error)
{
    fprintf(stderr, "diagnose_bench: %s\n", error->message);
    argus_error_destroy(error);
    return 1;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The latest edge into `vertex` that came before `left_ns`, to another thread if there is one; NULL: none. */
static const struct argus_edge *latest_edge(const struct argus_graph *graph, uint32_t vertex,
                                            uint64_t left_ns)
{
    const struct argus_edge *in, *latest = NULL;
    size_t count = argus_graph_in_edges(graph, vertex, &in);
    for (size_t i = 0; i < count; i++) {
        bool better = !latest || in[i].kind != ARGUS_EDGE_SEQUENCE;
        if (better && in[i].to_ns <= left_ns && in[i].from_ns <= left_ns)
            latest = &in[i];
    }
    return latest;
}

static int walk(const struct argus_graph *graph, uint32_t vertex)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices), steps = 0;
    bool waited = vertex + 1 < count && vertices[vertex].wait.kind != ARGUS_WAIT_NONE &&
                  vertices[vertex + 1].thread == vertices[vertex].thread;
    const struct argus_edge *edge;
    uint64_t left_ns = UINT64_MAX;
    for (vertex += waited; (edge = latest_edge(graph, vertex, left_ns)) && steps < count; steps++) {
        vertex = edge->from;
        left_ns = edge->from_ns;
    }
    printf("%zu\n", steps);
    return 0;
}

/* A vertex of the process with the most vertices: the search compares all of them. */
static uint32_t busiest(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    const struct argus_thread *threads;
    const struct argus_process *processes;
    argus_graph_vertices(graph, &vertices);
    size_t thread_count = argus_graph_threads(graph, &threads);
    size_t process_count = argus_graph_processes(graph, &processes);
    uint64_t *sizes = calloc(process_count + 1, sizeof(*sizes));
    uint32_t best = 0;
    for (size_t i = 0; sizes && i < thread_count; i++)
        sizes[threads[i].process] += threads[i].vertex_count;
    for (size_t i = 0; sizes && i < thread_count; i++)
        if (threads[i].vertex_count > 2 &&
            sizes[threads[i].process] > sizes[threads[vertices[best].thread].process])
            best = threads[i].first_vertex + threads[i].vertex_count / 2;
    free(sizes);
    return best;
}

static int similar(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    struct argus_similar_options options = {.limit = 10};
    struct argus_similars similars;
    uint32_t vertex = count ? busiest(graph) : 0;
    double began = now_s();
    struct argus_error *error = argus_similar_search(graph, vertex, &options, &similars);
    if (error)
        return fail(error);
    printf("%.3f s, %zu vertices, v%u\n", now_s() - began, count, vertex);
    argus_similars_deinit(&similars);
    return 0;
}

static int diagnose(const struct argus_graph *graph, uint32_t vertex)
{
    struct argus_hang hang = argus_hang_of_vertex(graph, vertex);
    struct argus_diagnosis diagnosis;
    double began = now_s();
    struct argus_error *error =
        argus_diagnose(graph, NULL, &hang, NULL, argus_asker_auto(), &diagnosis);
    if (error)
        return fail(error);
    printf("%.4f\n", now_s() - began);
    argus_diagnosis_deinit(&diagnosis);
    return 0;
}

static int run(const struct argus_graph *graph, const char *what, const char *number)
{
    const struct argus_vertex *vertices;
    size_t count = argus_graph_vertices(graph, &vertices);
    unsigned long vertex = number ? strtoul(number, NULL, 10) : 0;
    if (strcmp(what, "similar") == 0)
        return similar(graph);
    if (number && vertex < count && strcmp(what, "walk") == 0)
        return walk(graph, (uint32_t)vertex);
    if (number && vertex < count && strcmp(what, "time") == 0)
        return diagnose(graph, (uint32_t)vertex);
    fprintf(stderr, "diagnose_bench: wrong usage\n");
    return 2;
}

int main(int argc, char **argv)
{
    struct argus_trace *trace;
    struct argus_graph *graph;
    if (argc < 3) {
        fprintf(stderr, "usage: diagnose_bench TRACE walk|similar|time [VERTEX]\n");
        return 2;
    }
    struct argus_error *error = argus_trace_open(argv[1], &trace);
    if (error)
        return fail(error);
    error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    int code = error ? fail(error) : run(graph, argv[2], argc > 3 ? argv[3] : NULL);
    if (!error)
        argus_graph_destroy(graph);
    argus_trace_close(trace);
    return code;
}
