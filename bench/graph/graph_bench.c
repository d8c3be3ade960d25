/* Measures the way from a trace file to the graph.
 *
 *     graph_bench generate FILE RECORDS   writes a made-up desktop trace (desktop.h)
 *     graph_bench measure FILE            prints one line of figures, as JSON
 *
 * bench_graph.py runs it and compares.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "argus/graph.h"
#include "desktop.h"
#include "event/merge.h"

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

static struct argus_error *generate(const char *path, uint64_t records)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return argus_error_os(errno, "cannot write %s", path);
    struct argus_error *error = desktop_write(fd, records);
    close(fd);
    return error;
}

/* Unpacks every chunk. */
static struct argus_error *read_all(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < count; i++)
        error = argus_trace_read_chunk(trace, &chunks[i], records);
    free(records);
    return error;
}

/* Unpacks and puts into time order. */
static struct argus_error *order_all(const struct argus_trace *trace)
{
    struct merge *merge;
    const struct argus_record *record;
    struct argus_error *error = merge_create(trace, &merge);
    if (error)
        return error;
    do
        error = merge_next(merge, &record);
    while (!error && record);
    merge_destroy(merge);
    return error;
}

/* Mean time of finding a vertex by time, in ns. */
static double find_ns(const struct argus_graph *graph)
{
    enum { FINDS = 100000 };
    const struct argus_thread *threads;
    size_t count = argus_graph_threads(graph, &threads);
    uint64_t start_ns = argus_graph_start_ns(graph), found = 0;
    uint64_t length_ns = argus_graph_end_ns(graph) - start_ns + 1;
    double start = now_s();
    for (uint64_t i = 0; count && i < FINDS; i++)
        found += argus_graph_vertex_at(graph, (uint32_t)(i * 7919 % count),
                                       start_ns + i * 2654435761u % length_ns) != ARGUS_NONE;
    return found ? (now_s() - start) * 1e9 / FINDS : 0;
}

static struct argus_error *measure(const char *path)
{
    struct argus_trace *trace;
    struct argus_graph *graph;
    double start = now_s();
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (error) {
        argus_trace_close(trace);
        return error;
    }
    double ready_s = now_s() - start;
    uint64_t peak = peak_bytes(); /* before anything else can raise it */
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    uint64_t vertex_count = argus_graph_vertices(graph, &vertices);
    uint64_t edge_count = argus_graph_edges(graph, &edges);
    double find = find_ns(graph);
    argus_graph_destroy(graph);

    start = now_s();
    error = read_all(trace);
    double read_s = now_s() - start;
    start = now_s();
    if (!error)
        error = order_all(trace);
    double order_s = now_s() - start;
    printf("{\"records\": %" PRIu64 ", \"file_bytes\": %" PRIu64
           ", \"read_s\": %.3f, \"read_and_order_s\": %.3f, \"ready_s\": %.3f, \"peak_bytes\": "
           "%" PRIu64 ", \"vertices\": %" PRIu64 ", \"edges\": %" PRIu64 ", \"find_ns\": %.0f}\n",
           argus_trace_record_count(trace), argus_trace_file_bytes(trace), read_s, order_s, ready_s,
           peak, vertex_count, edge_count, find);
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_error *error;
    if (argc == 4 && !strcmp(argv[1], "generate")) {
        error = generate(argv[2], strtoull(argv[3], NULL, 10));
    } else if (argc == 3 && !strcmp(argv[1], "measure")) {
        error = measure(argv[2]);
    } else {
        fprintf(stderr, "usage: graph_bench generate FILE RECORDS | measure FILE\n");
        return 2;
    }
    if (!error)
        return 0;
    fprintf(stderr, "graph_bench: %s\n", error->message);
    argus_error_destroy(error);
    return 1;
}
