/* Which true calls and contexts of an instrumented run (truth_hooks.c) the stacks of a trace of the
 * same run have seen, and how far the inferred latencies are from the true ones:
 *
 *     coverage_bench TRACE FOLDER PROGRAM PID      one JSON object
 *
 * Both use CLOCK_MONOTONIC, so a moment of the trace can be placed among the calls.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lower_bound.h"
#include "latency_errors.h"

static const char *const scheme_names[SCHEMES] = {
    [SCHEME_CALLS] = "calls",       [SCHEME_SWITCHES] = "switches", [SCHEME_ALL] = "samples",
    [SCHEME_SLOW] = "paper_120_ms", [SCHEME_FAST] = "paper_20_ms",
};

struct bench {
    struct argus_graph *graph;
    struct argus_symbols *symbols;
    const char *folder, *pid;
    VEC(struct seen_moment) moments;
    enum scheme widest; /* the last scheme used: moments of later ones are left out */
    uint64_t syscalls;
    struct truth_tree tree;
    struct coverage one, all; /* of a thread; of the process */
    unsigned threads, full;
    bool no_memory;
};

static bool on_moment(void *context, const struct argus_context_moment *moment)
{
    struct bench *bench = context;
    struct seen_moment seen = {.time_ns = moment->time_ns,
                               .tid = moment->tid,
                               .node = moment->node,
                               .scheme = (uint8_t)scheme_of(moment)};
    if (seen.scheme > bench->widest)
        return false;
    bench->syscalls += moment->kind == ARGUS_MOMENT_CALL;
    bench->no_memory |= !vec_push(&bench->moments, seen);
    return true;
}

static struct argus_error *infer(struct bench *bench, enum scheme widest,
                                 struct argus_contexts **ret)
{
    struct argus_contexts_options options = ARGUS_CONTEXTS_OPTIONS;
    options.process = bench->pid;
    options.observe = on_moment;
    options.observe_context = bench;
    bench->widest = widest;
    bench->moments.length = bench->syscalls = 0;
    return argus_contexts_create(bench->graph, bench->symbols, &options, NULL, NULL, ret);
}

/* Sorts by thread; the events of one thread are in time order already. */
static int by_thread(const void *left, const void *right)
{
    const struct seen_moment *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

/* --- the files of the run --- */

static size_t event_count(const struct truth_event *events, size_t most)
{
    size_t first; /* index of the first zero entry */
    LOWER_BOUND(first, most, events[first].time_ns_and_exit);
    return first;
}

static struct argus_error *map_file(const char *path, const struct truth_event **ret,
                                    size_t *ret_most)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0)
        return argus_error_os(2, "cannot read %s", path);
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return argus_error_os(2, "cannot map %s", path);
    *ret = map;
    *ret_most = (size_t)status.st_size / sizeof(struct truth_event);
    return NULL;
}

/* The data of one thread. Events are read twice, because all contexts must be known before stacks
 * are matched with them. */
static struct argus_error *each_thread(struct bench *bench,
                                       void (*use)(struct bench *, const struct truth_event *,
                                                   size_t, uint64_t tid))
{
    struct dirent **entries;
    struct argus_error *error = NULL;
    int count = scandir(bench->folder, &entries, NULL, alphasort);
    if (count < 0)
        return argus_error_os(2, "cannot read %s", bench->folder);
    for (int i = 0; i < count; i++) {
        char path[4096], pid[32];
        uint64_t tid;
        const struct truth_event *events = NULL;
        size_t most = 0;
        if (!error && sscanf(entries[i]->d_name, "%31[0-9]-%" SCNu64 ".truth", pid, &tid) == 2 &&
            strcmp(pid, bench->pid) == 0) {
            snprintf(path, sizeof(path), "%s/%s", bench->folder, entries[i]->d_name);
            error = map_file(path, &events, &most);
            if (!error) {
                size_t length = event_count(events, most);
                bench->full += length == most;
                use(bench, events, length, tid);
                munmap((void *)(uintptr_t)events, most * sizeof(*events));
            }
        }
        free(entries[i]);
    }
    free(entries);
    return error;
}

/* --- what is printed --- */

static void print_by_scheme(const char *name, const double shares[SCHEMES])
{
    printf("\"%s\": {", name);
    for (int scheme = 0; scheme < SCHEMES; scheme++)
        printf("%s\"%s\": %.5f", scheme ? ", " : "", scheme_names[scheme], shares[scheme]);
    printf("}, ");
}

static void print_shares(struct bench *bench, const struct coverage *coverage)
{
    struct shares shares;
    bench->no_memory |= !coverage_shares(coverage, &shares);
    printf("\"contexts\": %" PRIu64 ", \"instances\": %" PRIu64 ", \"top_ns\": %" PRIu64 ", ",
           shares.contexts, shares.instances, shares.top_ns);
    print_by_scheme("contexts_all", shares.contexts_all);
    print_by_scheme("contexts_top", shares.contexts_top);
    print_by_scheme("instances_all", shares.instances_all);
    print_by_scheme("instances_top", shares.instances_top);
    const struct agreement *stacks = &coverage->agreement;
    printf("\"repaired\": %" PRIu64 ", \"stacks\": {\"equal\": %" PRIu64 ", \"outer\": %" PRIu64
           ", \"in_hook\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"outside\": %" PRIu64 "}",
           coverage->repaired, stacks->equal, stacks->outer, stacks->in_hook, stacks->wrong,
           stacks->outside);
}

static void print_errors_of(const char *name, const struct error_figures figures[ARGUS_ESTIMATES])
{
    static const char *const modes[] = {"conservative", "aggressive"};
    printf("\"%s\": {", name);
    for (int k = 0; k < ARGUS_ESTIMATES; k++)
        printf("%s\"%s\": {\"contexts\": %" PRIu64 ", \"median\": %.4f, \"p90\": %.4f}",
               k ? ", " : "", modes[k], figures[k].contexts, figures[k].median, figures[k].p90);
    printf("}");
}

static struct argus_error *print_errors(struct bench *bench, enum scheme scheme)
{
    struct argus_contexts *contexts;
    struct argus_error *error = infer(bench, scheme, &contexts);
    if (error)
        return error;
    printf("%s\"%s\": {", scheme ? ", " : "", scheme_names[scheme]);
    for (int top = 0; top < 2; top++) {
        struct latency_errors errors;
        bench->no_memory |= !latency_errors_get(&bench->all, contexts, top, &errors);
        printf("%s\"%s\": {\"inferred\": %" PRIu64 ", \"never_called\": %" PRIu64 ", ",
               top ? ", " : "", top ? "top" : "all", errors.inferred, errors.never_called);
        print_errors_of("total", errors.total);
        printf(", ");
        print_errors_of("mean", errors.mean);
        printf("}");
    }
    printf("}");
    argus_contexts_destroy(contexts);
    return NULL;
}

/* --- the two walks over the calls --- */

static void learn_contexts(struct bench *bench, const struct truth_event *events, size_t count,
                           uint64_t tid)
{
    (void)tid;
    static const struct placed nowhere;
    bench->one.placed = &nowhere;
    coverage_thread(&bench->one, events, count, NULL, 0);
    coverage_clear(&bench->one);
}

static void cover_thread(struct bench *bench, const struct truth_event *events, size_t count,
                         uint64_t tid)
{
    size_t first = 0, end;
    while (first < bench->moments.length && bench->moments.data[first].tid != tid)
        first++;
    for (end = first; end < bench->moments.length && bench->moments.data[end].tid == tid; end++) {
    }
    coverage_thread(&bench->one, events, count, bench->moments.data + first, end - first);
    printf("%s{\"tid\": %" PRIu64 ", \"moments\": %zu, ", bench->threads++ ? ", " : "", tid,
           end - first);
    print_shares(bench, &bench->one);
    printf("}");
    coverage_add(&bench->all, &bench->one);
    coverage_clear(&bench->one);
}

static struct argus_error *cover(struct bench *bench, const struct argus_contexts *contexts)
{
    struct argus_error *error = each_thread(bench, learn_contexts);
    struct placed *placed = truth_tree_place(&bench->tree, contexts);
    if (error || !placed) {
        free(placed);
        return error ? error : argus_error_memory();
    }
    qsort(bench->moments.data, bench->moments.length, sizeof(*bench->moments.data), by_thread);
    bench->one.placed = placed;
    bench->full = 0;
    printf("{\"by_thread\": [");
    error = each_thread(bench, cover_thread);
    printf("], \"threads\": %u, \"full\": %u, \"moments\": %zu, \"syscalls\": %" PRIu64 ", ",
           bench->threads, bench->full, bench->moments.length, bench->syscalls);
    print_shares(bench, &bench->all);
    free(placed);
    return error;
}

static struct argus_error *find_process(struct bench *bench, const char *program)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(bench->graph, &processes);
    uint64_t pid = strtoull(bench->pid, NULL, 10);
    for (uint32_t i = (uint32_t)count; i-- > 0;)
        if (processes[i].pid == pid)
            return truth_tree_init(&bench->tree, bench->symbols, i, program) ? NULL
                                                                             : argus_error_memory();
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no process %s in the trace", bench->pid);
}

static struct argus_error *measure(struct bench *bench, const char *program)
{
    struct argus_contexts *contexts = NULL;
    struct argus_error *error = argus_symbols_create(bench->graph, &bench->symbols);
    if (!error)
        error = find_process(bench, program);
    if (!error)
        error = infer(bench, SCHEME_ALL, &contexts);
    bench->one.tree = bench->all.tree = &bench->tree;
    if (!error)
        error = cover(bench, contexts);
    argus_contexts_destroy(contexts);
    if (!error)
        printf(", \"errors\": {");
    for (int scheme = 0; !error && scheme <= SCHEME_ALL; scheme++)
        error = print_errors(bench, (enum scheme)scheme);
    if (!error)
        printf("}}\n");
    bool lacks_memory = bench->no_memory || bench->tree.no_memory || bench->all.no_memory;
    return !error && lacks_memory ? argus_error_memory() : error;
}

static struct argus_error *run(char **words)
{
    struct bench bench = {.folder = words[1], .pid = words[3]};
    struct argus_trace *trace;
    struct argus_error *error = argus_trace_open(words[0], &trace);
    if (error)
        return error;
    error = argus_graph_build(trace, NULL, NULL, NULL, &bench.graph);
    if (!error) {
        error = measure(&bench, words[2]);
        coverage_deinit(&bench.one);
        coverage_deinit(&bench.all);
        vec_deinit(&bench.moments);
        if (bench.tree.names)
            truth_tree_deinit(&bench.tree);
        argus_symbols_destroy(bench.symbols);
        argus_graph_destroy(bench.graph);
    }
    argus_trace_close(trace);
    return error;
}

int main(int argc, char **argv)
{
    struct argus_error *error =
        argc == 5 ? run(argv + 1)
                  : argus_error_create(ARGUS_ERROR_USAGE, "TRACE FOLDER PROGRAM PID");
    if (error)
        fprintf(stderr, "coverage_bench: %s\n", error->message);
    return error != NULL;
}
