/* Loading a saved graph.
 *
 * The file is read, not mapped: a mapped file that another process cuts off (or whose server goes
 * away) ends this process by SIGBUS, and this process can be the user's debugger. What was read
 * cannot change after it was checked either.
 *
 * The whole file is checked once: its checksums (is it damaged?) and every element (could
 * argus_graph_save() have written it? graph_valid.c). Both checks go block by block, so that the
 * second finds the block in the cache. Together they take about as long as reading the memory. They
 * make a graph that came with a stranger's trace as harmless as the trace itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "argus/schema.h"
#include "base/hash64.h"
#include "base/parallel.h"
#include "graph/file/graph_arrays.h"
#include "graph/known_code.h"
#include "trace/file.h"

#define FAULT(path, ...) argus_error_context(argus_error_create(__VA_ARGS__), "%s", path)

/* --- the file --- */

static struct argus_error *map_fd(int fd, const char *path, void **ret, size_t *ret_bytes)
{
    struct stat status;
    if (fstat(fd, &status))
        return argus_error_os(errno, "cannot read %s", path);
    if (!S_ISREG(status.st_mode))
        return FAULT(path, ARGUS_ERROR_FORMAT, "it is not a regular file");
    if (status.st_uid != geteuid())
        return FAULT(path, ARGUS_ERROR_PERMISSION, "it belongs to another user");
    if ((uint64_t)status.st_size < sizeof(struct graph_file_header))
        return FAULT(path, ARGUS_ERROR_FORMAT, "it is too short");
    size_t bytes = (size_t)status.st_size;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED)
        return argus_error_memory();
    int failed = file_read(fd, mapped, bytes, 0);
    if (failed) {
        munmap(mapped, bytes);
        return failed == ENODATA ? FAULT(path, ARGUS_ERROR_FORMAT, "it became shorter meanwhile")
                                 : argus_error_os(failed, "cannot read %s", path);
    }
    *ret = mapped;
    *ret_bytes = bytes;
    return NULL;
}

static struct argus_error *map_file(const char *path, void **ret, size_t *ret_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s is not there", path);
    if (fd < 0)
        return argus_error_os(errno, "cannot open %s", path);
    struct argus_error *error = map_fd(fd, path, ret, ret_bytes);
    close(fd);
    return error;
}

/* --- the header --- */

static const char *header_fault(const struct graph_file_header *header, size_t file_bytes)
{
    if (memcmp(header->magic, GRAPH_FILE_MAGIC, sizeof(header->magic)) != 0)
        return "it is not a saved graph";
    if (header->sources != graph_source_hash())
        return "another version of Argus made it";
    if (header->checksum != hash64(0, header, offsetof(struct graph_file_header, checksum)))
        return "the checksum of its header is wrong";
    return header->file_bytes == file_bytes ? NULL : "it is cut off";
}

static const char *arrays_fault(const struct graph_file_header *header, const void *mapped,
                                struct graph_arrays *ret)
{
    for (int i = 0; i < GRAPH_ARRAYS; i++) {
        const struct graph_file_array *array = &header->arrays[i];
        bool inside =
            array->offset_bytes <= header->file_bytes &&
            array->count <= (header->file_bytes - array->offset_bytes) / graph_array_bytes[i];
        if (array->element_bytes != graph_array_bytes[i] ||
            array->offset_bytes % GRAPH_FILE_ALIGN || !inside)
            return "its arrays are at impossible offsets";
        ret->all[i].data = (const char *)mapped + array->offset_bytes;
        ret->all[i].count = array->count;
    }
    return graph_counts_fault(ret);
}

/* --- what is in it --- */

struct block {
    uint32_t array; /* enum graph_array_id */
    uint32_t block;
};

struct checking {
    const struct graph_arrays *arrays;
    VEC(struct block) blocks;
    _Atomic uint64_t sums[GRAPH_ARRAYS];
    _Atomic size_t faults[GRAPH_ARRAYS]; /* index of an invalid element; SIZE_MAX: none */
};

static void check_block(void *context, size_t i)
{
    struct checking *checking = context;
    struct block at = checking->blocks.data[i];
    const struct graph_array *array = &checking->arrays->all[at.array];
    checking->sums[at.array] += graph_block_checksum(array, graph_array_bytes[at.array], at.block);
    size_t from = (size_t)at.block * GRAPH_BLOCK_ELEMENTS, to = from + GRAPH_BLOCK_ELEMENTS;
    if (to > array->count)
        to = array->count;
    size_t fault = graph_array_fault(checking->arrays, at.array, from, to);
    size_t least = checking->faults[at.array];
    while (fault < to && fault < least &&
           !atomic_compare_exchange_weak(&checking->faults[at.array], &least, fault))
        ;
}

static bool list_blocks(struct checking *checking)
{
    for (uint32_t i = 0; i < GRAPH_ARRAYS; i++) {
        checking->faults[i] = SIZE_MAX;
        size_t count = graph_array_blocks(checking->arrays->all[i].count);
        for (size_t block = 0; block < count; block++)
            if (!vec_push(&checking->blocks, (struct block){i, (uint32_t)block}))
                return false;
    }
    return true;
}

static struct argus_error *check_contents(const struct graph_file_header *header,
                                          const struct graph_arrays *arrays, const char *path)
{
    struct checking checking = {.arrays = arrays};
    struct argus_error *error = list_blocks(&checking) ? NULL : argus_error_memory();
    if (!error)
        parallel_for(checking.blocks.length, check_block, &checking);
    for (int i = 0; i < GRAPH_ARRAYS && !error; i++) {
        if (checking.sums[i] != header->arrays[i].checksum)
            error = FAULT(path, ARGUS_ERROR_FORMAT, "the checksum of its %s is wrong",
                          graph_array_names[i]);
        else if (checking.faults[i] != SIZE_MAX)
            error = FAULT(path, ARGUS_ERROR_FORMAT, "number %zu of its %s is impossible",
                          checking.faults[i], graph_array_names[i]);
    }
    vec_deinit(&checking.blocks);
    return error;
}

static struct argus_error *check_file(const struct argus_trace *trace,
                                      const struct argus_graph_options *options, const char *path,
                                      const void *mapped, size_t bytes, struct graph_arrays *ret)
{
    const struct graph_file_header *header = mapped;
    const struct argus_user_rule *rules;
    size_t rule_count = RULE_COUNT + argus_rule_set_rules(options ? options->rules : NULL, &rules);
    const char *fault = header_fault(header, bytes);
    if (!fault && header->trace != argus_trace_identity(trace))
        fault = "it is from another trace, or the trace has changed";
    if (!fault && header->rule_set != graph_rule_set_identity(options))
        fault = "it was built with other rules";
    if (!fault)
        fault = arrays_fault(header, mapped, ret);
    if (!fault && ret->rules.count != rule_count)
        fault = "it was built with other rules";
    return fault ? FAULT(path, ARGUS_ERROR_FORMAT, "%s", fault) : check_contents(header, ret, path);
}

/* --- the graph --- */

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static struct argus_graph *make_graph(const struct argus_trace *trace,
                                      const struct argus_graph_options *options, const char *path,
                                      const struct graph_arrays *arrays)
{
    struct argus_graph *graph = calloc(1, sizeof(*graph));
    if (!graph)
        return NULL;
    graph->trace = trace;
    graph->stacks.trace = trace;
    graph->loaded_from = strdup(path);
    if (graph->loaded_from && rules_init(graph, options ? options->rules : NULL) &&
        graph_arrays_take(arrays, graph))
        return graph;
    rules_deinit(graph);
    machine_deinit(&graph->machine);
    stacks_deinit(&graph->stacks);
    free(graph->loaded_from);
    free(graph);
    return NULL;
}

struct argus_error *argus_graph_load(const struct argus_trace *trace,
                                     const struct argus_graph_options *options, const char *path,
                                     struct argus_graph **ret)
{
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    void *mapped = NULL;
    size_t bytes = 0;
    struct graph_arrays arrays;
    struct argus_error *error = map_file(path, &mapped, &bytes);
    if (error || !mapped)
        return error ? error : argus_error_memory();
    error = check_file(trace, options, path, mapped, bytes, &arrays);
    struct argus_graph *graph = error ? NULL : make_graph(trace, options, path, &arrays);
    if (!graph) {
        munmap(mapped, bytes);
        return error ? error : argus_error_memory();
    }
    graph->mapped = mapped;
    graph->mapped_bytes = bytes;
    graph->rule_set = graph_rule_set_identity(options);
    error = graph_keep_code(graph);
    if (error) {
        argus_graph_destroy(graph);
        return error;
    }
    graph->build_seconds = seconds_since(&start);
    *ret = graph;
    return NULL;
}
