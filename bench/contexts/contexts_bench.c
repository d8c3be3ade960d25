/* Makes a trace with many stacks and infers latencies from it:
 *
 *     contexts_bench make FILE STACKS DISTINCT      each stack at a system call: three records
 *     contexts_bench run FILE                       one JSON line: seconds of the graph and the contexts, peak memory of both
 *
 * The stacks are random paths through a program in which each function calls up to eight others:
 * consecutive stacks of a thread share most of their callers, as in real programs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "argus/contexts.h"

enum {
    CPUS = 2,
    THREADS = 16,
    BATCH = 1 << 14,
    LEAST_FRAMES = 12,
    MOST_FRAMES = 40,
    FIRST_TID = 100
};

struct maker {
    struct argus_writer *writer;
    struct argus_record batch[CPUS][BATCH];
    size_t count[CPUS];
    uint64_t now_ns, random;
    uint64_t stack[THREADS]; /* the last stack of each thread */
};

static uint64_t pick(struct maker *maker, uint64_t below)
{
    maker->random ^= maker->random << 13;
    maker->random ^= maker->random >> 7;
    maker->random ^= maker->random << 17;
    return (maker->random >> 11) % below;
}

static struct argus_error *emit(struct maker *maker, uint32_t thread, uint32_t debugid,
                                uint64_t arg1, uint64_t arg3)
{
    uint32_t cpu = thread % CPUS;
    maker->now_ns += 300;
    maker->batch[cpu][maker->count[cpu]++] = (struct argus_record){.timestamp = maker->now_ns,
                                                                   .tid = FIRST_TID + thread,
                                                                   .debugid = debugid,
                                                                   .cpu = cpu,
                                                                   .arg = {arg1, 0, arg3}};
    if (maker->count[cpu] < BATCH)
        return NULL;
    maker->count[cpu] = 0;
    return argus_writer_records(maker->writer, cpu, maker->batch[cpu], BATCH, 0);
}

/* Stack `id` differs from the previous one in its innermost frames, rarely in all. */
static struct argus_error *write_stacks(struct maker *maker, uint64_t distinct)
{
    uint64_t callers[MOST_FRAMES] = {0}, frames[MOST_FRAMES];
    for (uint64_t id = 1; id <= distinct; id++) {
        uint64_t length = LEAST_FRAMES + pick(maker, MOST_FRAMES - LEAST_FRAMES);
        uint64_t kept = pick(maker, 20) ? length - 1 - pick(maker, 4) : 1;
        for (uint64_t depth = 0; depth < length; depth++) {
            if (depth >= kept || !callers[depth])
                callers[depth] = 0x7f0000000000u + depth * 65536 + pick(maker, 8) * 64;
            frames[length - 1 - depth] = callers[depth];
        }
        struct argus_error *error = argus_writer_stack(maker->writer, id, frames, length);
        if (error)
            return error;
    }
    return NULL;
}

static struct argus_error *write_calls(struct maker *maker, uint64_t stacks, uint64_t distinct)
{
    struct argus_error *error = NULL;
    for (uint64_t i = 0; !error && i < stacks; i++) {
        uint32_t thread = (uint32_t)(i % THREADS);
        uint64_t *last = &maker->stack[thread];
        *last =
            pick(maker, 10) ? 1 + (*last + pick(maker, 3)) % distinct : 1 + pick(maker, distinct);
        error = emit(maker, thread, ARGUS_ID_SYSCALL(1) | ARGUS_FUNC_START, 3, 0);
        if (!error)
            error = emit(maker, thread, ARGUS_ID_STACK, *last, ARGUS_STACK_CALL);
        if (!error)
            error = emit(maker, thread, ARGUS_ID_SYSCALL(1) | ARGUS_FUNC_END, 0, 0);
    }
    for (uint32_t cpu = 0; !error && cpu < CPUS; cpu++)
        error = argus_writer_records(maker->writer, cpu, maker->batch[cpu], maker->count[cpu], 0);
    return error;
}

static struct argus_error *write_all(struct maker *maker, uint64_t stacks, uint64_t distinct)
{
    struct argus_error *error = NULL;
    for (uint32_t i = 0; !error && i < THREADS; i++) {
        struct argus_thread_entry entry = {
            .tid = FIRST_TID + i, .pid = FIRST_TID, .seen_ticks = 1, .name = "deep"};
        error = argus_writer_threads(maker->writer, &entry, 1);
    }
    if (!error)
        error = write_stacks(maker, distinct);
    if (!error)
        error = write_calls(maker, stacks, distinct);
    return error ? error : argus_writer_end(maker->writer, NULL, 0);
}

static struct argus_error *make(const char *path, uint64_t stacks, uint64_t distinct)
{
    struct argus_trace_header header = {.os = ARGUS_OS_LINUX,
                                        .arch = ARGUS_ARCH_X86_64,
                                        .timebase_numer = 1,
                                        .timebase_denom = 1,
                                        .page_bytes = 4096,
                                        .cpu_count = CPUS,
                                        .host = "made up by bench/contexts"};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct maker *maker = calloc(1, sizeof(*maker));
    if (fd < 0 || !maker) {
        free(maker);
        return argus_error_os(2, "cannot make %s", path);
    }
    maker->random = 88172645463325252u;
    struct argus_error *error = argus_writer_create(fd, &header, &maker->writer);
    if (!error)
        error = write_all(maker, stacks, distinct);
    argus_writer_destroy(maker->writer);
    free(maker);
    close(fd);
    return error;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static struct argus_error *measure(const struct argus_graph *graph, double graph_seconds)
{
    struct argus_symbols *symbols;
    struct argus_contexts *contexts;
    struct argus_contexts_options options = ARGUS_CONTEXTS_OPTIONS;
    struct argus_error *error = argus_symbols_create(graph, &symbols);
    long before_kib = peak_kib();
    double begin = seconds_now();
    if (!error)
        error = argus_contexts_create(graph, symbols, &options, NULL, NULL, &contexts);
    if (error)
        return error;
    double seconds = seconds_now() - begin;
    const struct argus_context_counts *counts = argus_contexts_counts(contexts);
    const struct argus_context_node *nodes;
    printf("{\"stacks\": %llu, \"paths\": %u, \"nodes\": %zu, \"instances\": %llu, "
           "\"graph_seconds\": %.3f, \"seconds\": %.3f, \"graph_kib\": %ld, \"more_kib\": %ld}\n",
           (unsigned long long)counts->moments[ARGUS_MOMENT_CALL], counts->paths,
           argus_contexts_nodes(contexts, &nodes), (unsigned long long)counts->instances,
           graph_seconds, seconds, before_kib, peak_kib() - before_kib);
    argus_contexts_destroy(contexts);
    argus_symbols_destroy(symbols);
    return NULL;
}

static struct argus_error *run(const char *path)
{
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_error *error = argus_trace_open(path, &trace);
    if (error)
        return error;
    double begin = seconds_now();
    error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
    if (!error) {
        error = measure(graph, seconds_now() - begin);
        argus_graph_destroy(graph);
    }
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_error *error = NULL;
    if (argc == 5 && strcmp(argv[1], "make") == 0)
        error = make(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "run") == 0)
        error = run(argv[2]);
    else
        error = argus_error_create(ARGUS_ERROR_USAGE, "make FILE STACKS DISTINCT, or run FILE");
    if (error)
        fprintf(stderr, "contexts_bench: %s\n", error->message);
    return error != NULL;
}
