/* Measures the phases from a trace file to an answer. Each phase runs in its own process, so that
 * its memory use is known.
 *
 *     graph_bench generate FILE RECORDS   writes a synthetic desktop trace (desktop.h)
 *     graph_bench read FILE               unpacks every chunk
 *     graph_bench order FILE              unpacks and sorts by time
 *     graph_bench build FILE              builds the graph, and saves it as FILE.graph
 *     graph_bench load FILE               maps FILE.graph
 *     graph_bench ask FILE                loads, and runs the commands of `questions` below
 *     graph_bench count FILE              counts the records of each tracepoint
 *
 * Each prints one line of figures, as JSON. bench_graph.py runs it and compares.
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

#include "argus/graph_file.h"
#include "desktop.h"
#include "event/merge.h"
#include "event/tracepoints.h"
#include "plugin/command.h"
#include "plugin/session_trace.h"

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

/* --- the phases: each prints its figures --- */

static struct argus_error *read_all(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    double start = now_s();
    for (size_t i = 0; !error && i < count; i++)
        error = argus_trace_read_chunk(trace, &chunks[i], records);
    free(records);
    printf("{\"read\": %.4f", now_s() - start);
    return error;
}

static struct argus_error *order_all(const struct argus_trace *trace)
{
    struct merge *merge;
    const struct argus_record *record;
    double start = now_s();
    struct argus_error *error = merge_create(trace, &merge);
    if (error)
        return error;
    do
        error = merge_next(merge, &record);
    while (!error && record);
    merge_destroy(merge);
    printf("{\"order\": %.4f", now_s() - start);
    return error;
}

static void print_size(const struct argus_graph *graph)
{
    const struct argus_vertex *vertices;
    const struct argus_edge *edges;
    const struct argus_trace *trace = argus_graph_trace(graph);
    printf(", \"records\": %" PRIu64 ", \"file_bytes\": %" PRIu64
           ", \"vertices\": %zu, \"edges\": %zu",
           argus_trace_record_count(trace), argus_trace_file_bytes(trace),
           argus_graph_vertices(graph, &vertices), argus_graph_edges(graph, &edges));
}

static struct argus_error *build(const struct argus_trace *trace)
{
    char path[4096];
    struct argus_graph *graph;
    double start = now_s();
    struct argus_error *error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (error)
        return error;
    printf("{\"build\": %.4f, \"build_bytes\": %" PRIu64, now_s() - start, peak_bytes());
    print_size(graph);
    snprintf(path, sizeof(path), "%s.graph", argus_trace_path(trace));
    start = now_s();
    error = argus_graph_save(graph, path, NULL, NULL);
    printf(", \"save\": %.4f", now_s() - start);
    argus_graph_destroy(graph);
    return error;
}

static struct argus_error *load(const struct argus_trace *trace)
{
    char path[4096];
    struct argus_graph *graph;
    double start = now_s();
    snprintf(path, sizeof(path), "%s.graph", argus_trace_path(trace));
    struct argus_error *error = argus_graph_load(trace, NULL, path, &graph);
    if (error)
        return error;
    printf("{\"map\": %.4f", now_s() - start);
    argus_graph_destroy(graph);
    return NULL;
}

/* --- questions to a loaded graph: whole commands, as they run in LLDB after `argus load` --- */

static const struct question {
    const char *name;
    const char *words[6];
    bool with_vertex;
} questions[] = {
    {"show", {"graph", "show", NULL}, true},
    {"find", {"graph", "find", "--longer-than=1s", NULL}, false},
    {"find all", {"graph", "find", "--longer-than=1us", NULL}, false},
    {"find time", {"graph", "find", "--time=+1s", NULL}, false},
    {"slice step", {"slice", "--auto", "--max-steps=1", NULL}, true},
    {"similar", {"similar", NULL}, true},
    {"hangs", {"hangs", NULL}, false},
    {"diagnose", {"diagnose", "--auto", NULL}, false},
};

enum { REPEATS = 5 };

static bool no(void *data)
{
    (void)data;
    return false;
}

static void no_remark(void *data, const char *level, const char *text)
{
    (void)data, (void)level, (void)text;
}

static void no_progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    (void)data, (void)what, (void)done, (void)total;
}

/* The longest of several runs, each about another vertex. A command that finds nothing counts,
 * too. */
static double ask_one(struct session *session, const struct question *question, size_t vertices)
{
    double longest = 0;
    for (size_t i = 0; i < REPEATS; i++) {
        const char *words[8];
        char vertex[32];
        int count = 0;
        for (; question->words[count]; count++)
            words[count] = question->words[count];
        snprintf(vertex, sizeof(vertex), "v%zu", vertices / REPEATS * i + vertices / 7);
        if (question->with_vertex)
            words[count++] = vertex;
        struct argus_error *error = NULL;
        double start = now_s();
        command_line_run(session, count, words, &error);
        double took = now_s() - start;
        if (took > longest)
            longest = took;
        argus_error_destroy(error);
    }
    return longest;
}

static struct argus_error *ask(const char *path)
{
    struct session_host host = {
        .interrupted = no, .remark = no_remark, .progress = no_progress, .can_ask = no};
    struct session session;
    const struct argus_vertex *vertices;
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return argus_error_os(errno, "cannot open /dev/null");
    session_init(&session, &host, nowhere);
    session.in_lldb = true;
    struct argus_error *error = NULL;
    const char *load_words[] = {"load", path};
    command_line_run(&session, 2, load_words, &error);
    printf("{\"loaded\": %s",
           !error && argus_graph_loaded_from(session.trace->graph) ? "true" : "false");
    size_t count = error ? 0 : argus_graph_vertices(session.trace->graph, &vertices);
    for (size_t i = 0; !error && i < sizeof(questions) / sizeof(*questions); i++)
        printf(", \"%s\": %.5f", questions[i].name, ask_one(&session, &questions[i], count));
    session_deinit(&session);
    fclose(nowhere);
    return error;
}

/* --- what a trace is made of --- */

static struct argus_error *count_records(const struct argus_trace *trace)
{
    uint64_t counts[TRACEPOINT_COUNT] = {0}, others = 0;
    struct merge *merge;
    const struct argus_record *record;
    struct argus_error *error = merge_create(trace, &merge);
    if (error)
        return error;
    while (!(error = merge_next(merge, &record)) && record) {
        const struct tracepoint *row = tracepoint_find(record->debugid);
        if (row)
            counts[row - tracepoints]++;
        else
            others++;
    }
    merge_destroy(merge);
    printf("{\"other\": %" PRIu64, others);
    for (size_t i = 0; i < TRACEPOINT_COUNT; i++)
        printf(", \"%s\": %" PRIu64, tracepoints[i].name, counts[i]);
    return error;
}

static const struct phase {
    const char *name;
    struct argus_error *(*run)(const struct argus_trace *trace);
} phases[] = {
    {"read", read_all}, {"order", order_all},     {"build", build},
    {"load", load},     {"count", count_records},
};

static struct argus_error *run_phase(const struct phase *phase, const char *path)
{
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    error = phase->run(trace);
    argus_trace_close(trace);
    return error;
}

static struct argus_error *run(int argc, char **argv, bool *ret_known)
{
    *ret_known = true;
    if (argc == 4 && !strcmp(argv[1], "generate"))
        return generate(argv[2], strtoull(argv[3], NULL, 10));
    struct argus_error *error = NULL;
    if (argc == 3 && !strcmp(argv[1], "ask")) {
        error = ask(argv[2]);
        printf(", \"peak_bytes\": %" PRIu64 "}\n", peak_bytes());
        return error;
    }
    for (size_t i = 0; argc == 3 && i < sizeof(phases) / sizeof(*phases); i++) {
        if (strcmp(argv[1], phases[i].name) != 0)
            continue;
        error = run_phase(&phases[i], argv[2]);
        printf(", \"peak_bytes\": %" PRIu64 "}\n", peak_bytes());
        return error;
    }
    *ret_known = false;
    return NULL;
}

int main(int argc, char **argv)
{
    bool known;
    struct argus_error *error = run(argc, argv, &known);
    if (!known)
        fprintf(
            stderr,
            "usage: graph_bench generate FILE RECORDS | read|order|build|load|ask|count FILE\n");
    if (!error)
        return known ? 0 : 2;
    fprintf(stderr, "graph_bench: %s\n", error->message);
    argus_error_destroy(error);
    return 1;
}
