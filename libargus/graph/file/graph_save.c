#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/hash64.h"
#include "base/parallel.h"
#include "graph/file/graph_arrays.h"

/* --- the header --- */

/* An array whose block checksums are being added up. */
struct summing {
    const struct graph_array *array;
    size_t element_bytes;
    _Atomic uint64_t sum;
};

static void add_block(void *context, size_t block)
{
    struct summing *summing = context;
    summing->sum += graph_block_checksum(summing->array, summing->element_bytes, block);
}

static uint64_t checksum_of(const struct graph_array *array, size_t element_bytes)
{
    struct summing summing = {.array = array, .element_bytes = element_bytes};
    parallel_for(graph_array_blocks(array->count), add_block, &summing);
    return summing.sum;
}

static uint64_t align_up(uint64_t bytes)
{
    return (bytes + GRAPH_FILE_ALIGN - 1) / GRAPH_FILE_ALIGN * GRAPH_FILE_ALIGN;
}

static void fill_header(const struct argus_graph *graph, const struct graph_arrays *arrays,
                        struct graph_file_header *ret)
{
    memset(ret, 0, sizeof(*ret));
    memcpy(ret->magic, GRAPH_FILE_MAGIC, sizeof(ret->magic));
    ret->sources = graph_source_hash();
    ret->trace = argus_trace_identity(graph->trace);
    ret->rule_set = graph->rule_set;
    ret->file_bytes = align_up(sizeof(*ret));
    for (int i = 0; i < GRAPH_ARRAYS; i++) {
        ret->arrays[i] = (struct graph_file_array){
            .offset_bytes = ret->file_bytes,
            .count = arrays->all[i].count,
            .element_bytes = graph_array_bytes[i],
            .checksum = checksum_of(&arrays->all[i], graph_array_bytes[i]),
        };
        ret->file_bytes += align_up(arrays->all[i].count * graph_array_bytes[i]);
    }
    ret->checksum = hash64(0, ret, offsetof(struct graph_file_header, checksum));
}

/* --- writing --- */

/* A file that is being written. */
struct output {
    int fd;
    uint64_t written, total;
    argus_progress progress; /* NULL: none */
    void *context;
};

/* The user can stop the writing after each so many bytes. */
enum { WRITE_BYTES = 16 << 20 };

static int write_piece(int fd, const char *at, uint64_t bytes, uint64_t offset)
{
    while (bytes) {
        ssize_t written = pwrite(fd, at, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written ? errno : EIO;
        at += written;
        bytes -= (uint64_t)written;
        offset += (uint64_t)written;
    }
    return 0;
}

static int write_at(struct output *output, const void *data, uint64_t bytes, uint64_t offset)
{
    const char *at = data;
    for (uint64_t done = 0; done < bytes; done += WRITE_BYTES) {
        uint64_t piece = bytes - done < WRITE_BYTES ? bytes - done : WRITE_BYTES;
        int failed = write_piece(output->fd, at + done, piece, offset + done);
        if (failed)
            return failed;
        output->written += piece;
        double share = (double)output->written / (double)output->total;
        if (output->progress && !output->progress(output->context, "saving the graph", share))
            return ECANCELED;
    }
    return 0;
}

/* Reserves the space, so that a mere cache does not fill up the disk. */
static int reserve(int fd, uint64_t bytes)
{
    struct statvfs status;
    if (fstatvfs(fd, &status))
        return errno;
    if (bytes > (uint64_t)status.f_bavail * status.f_frsize / 2)
        return ENOSPC;
    return ftruncate(fd, (off_t)bytes) ? errno : 0;
}

static int write_all(struct output *output, const struct graph_file_header *header,
                     const struct graph_arrays *arrays)
{
    output->total = header->file_bytes;
    int failed = reserve(output->fd, header->file_bytes);
    if (!failed)
        failed = write_at(output, header, sizeof(*header), 0);
    for (int i = 0; i < GRAPH_ARRAYS && !failed; i++)
        failed = write_at(output, arrays->all[i].data, arrays->all[i].count * graph_array_bytes[i],
                          header->arrays[i].offset_bytes);
    return failed;
}

/* Writes a new file next to `path` and renames it to `path`. mkostemp() creates it with mode 0600
 * and follows no link; rename() replaces a link instead of following it. */
static int replace_file(const char *path, const struct graph_file_header *header,
                        const struct graph_arrays *arrays, struct output *output)
{
    char *name;
    if (asprintf(&name, "%s.XXXXXX", path) < 0)
        return ENOMEM;
    output->fd = mkostemp(name, O_CLOEXEC);
    if (output->fd < 0) {
        int failed = errno;
        free(name);
        return failed;
    }
    int failed = write_all(output, header, arrays);
    if (close(output->fd) && !failed)
        failed = errno;
    if (!failed && rename(name, path))
        failed = errno;
    if (failed)
        unlink(name);
    free(name);
    return failed;
}

static struct argus_error *failure(int failed, const char *path)
{
    if (failed == ENOMEM)
        return argus_error_memory();
    if (failed == ECANCELED)
        return argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
    return argus_error_os(failed, "cannot save the graph as %s", path);
}

/* A recorded trace's graph is up to 4 times as large. One of a file that was made to exhaust the
 * machine can be hundreds of times as large, and is built again each time. */
#define MOST_TIMES_TRACE 16u
#define LEAST_MOST_BYTES (16ull << 20)

static bool is_in_proportion(const struct argus_graph *graph,
                             const struct graph_file_header *header)
{
    uint64_t trace_bytes = argus_trace_file_bytes(graph->trace);
    return header->file_bytes <= LEAST_MOST_BYTES ||
           header->file_bytes / MOST_TIMES_TRACE <= trace_bytes;
}

struct argus_error *argus_graph_save(const struct argus_graph *graph, const char *path,
                                     argus_progress progress, void *context)
{
    const struct argus_chunk *snapshots;
    if (argus_trace_snapshot_chunks(graph->trace, &snapshots))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the graph of %s is not saved: its stacks had to be unwound",
                                  argus_trace_name(graph->trace));
    struct graph_packed packed;
    struct graph_arrays arrays;
    struct graph_file_header header;
    if (!graph_arrays_of(graph, &packed, &arrays))
        return argus_error_memory();
    fill_header(graph, &arrays, &header);
    struct output output = {.progress = progress, .context = context};
    bool fits = is_in_proportion(graph, &header);
    int failed = fits ? replace_file(path, &header, &arrays, &output) : 0;
    graph_packed_deinit(&packed);
    if (!fits)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "the graph of %s is not saved: it would be more than %u times as "
                                  "large as the trace",
                                  argus_trace_name(graph->trace), MOST_TIMES_TRACE);
    return failed ? failure(failed, path) : NULL;
}
