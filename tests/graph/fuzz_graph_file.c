/* Loads a saved graph that an attacker has changed, with corrected checksums. A loaded graph must
 * be safe to walk.
 *
 * The input: the number of changes, then 8 bytes for each (place, value, and whether the checksums
 * are corrected), then a trace (step_trace.h) whose graph is saved first. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash64.h"
#include "fuzz.h"
#include "graph/file/graph_arrays.h"
#include "step_trace.h"
#include "walk_graph.h"

enum { CHANGE_BYTES = 8, MOST_CHANGES = 16, MOST_FILE_BYTES = 4 << 20 };

struct file {
    uint8_t bytes[MOST_FILE_BYTES];
    size_t length;
};

static void mend(struct file *file)
{
    struct graph_file_header *header = (struct graph_file_header *)file->bytes;
    for (int i = 0; i < GRAPH_ARRAYS; i++) {
        struct graph_file_array *array = &header->arrays[i];
        size_t bytes = graph_array_bytes[i];
        if (array->offset_bytes > file->length ||
            array->count > (file->length - array->offset_bytes) / bytes)
            continue;
        struct graph_array data = {file->bytes + array->offset_bytes, array->count};
        array->checksum = 0;
        for (size_t block = 0; block < graph_array_blocks(data.count); block++)
            array->checksum += graph_block_checksum(&data, bytes, block);
    }
    header->checksum = hash64(0, header, offsetof(struct graph_file_header, checksum));
}

/* [0] the array, after the last one the header; [1..2] element, [3] byte of it; [4] and [5] value;
 * [6] how many bytes; [7] odd: cut the file off instead. */
static void change(struct file *file, const uint8_t *how)
{
    const struct graph_file_header *header = (const struct graph_file_header *)file->bytes;
    size_t id = how[0] % (GRAPH_ARRAYS + 1), element = how[1] | how[2] << 8, at, bytes;
    if (id == GRAPH_ARRAYS) {
        at = (element * 256 + how[3]) % sizeof(*header);
        bytes = sizeof(*header) - at;
    } else {
        const struct graph_file_array *array = &header->arrays[id];
        if (!array->count || array->offset_bytes >= file->length)
            return;
        at = array->offset_bytes + element % array->count * graph_array_bytes[id] +
             how[3] % graph_array_bytes[id];
        bytes = file->length > at ? file->length - at : 0;
    }
    for (size_t i = 0; i < bytes && i < how[6] % 9u; i++)
        file->bytes[at + i] = i ? how[5] : how[4];
    if (how[7] % 16 == 15)
        file->length = (size_t)how[1] * file->length / 256;
}

static bool read_file(const char *path, struct file *ret)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return false;
    ret->length = fread(ret->bytes, 1, sizeof(ret->bytes), stream);
    fclose(stream);
    return ret->length >= sizeof(struct graph_file_header) && ret->length < sizeof(ret->bytes);
}

static void write_file(const char *path, const struct file *file)
{
    FILE *stream = fopen(path, "wb");
    if (!stream)
        return;
    fwrite(file->bytes, 1, file->length, stream);
    fclose(stream);
}

static void load(const struct argus_trace *trace, const char *path)
{
    struct argus_graph *graph;
    struct argus_error *error = argus_graph_load(trace, NULL, path, &graph);
    if (!error) {
        volatile uint64_t seen = walk_graph(graph);
        (void)seen;
        argus_graph_destroy(graph);
    }
    argus_error_destroy(error);
}

static void change_all(const struct argus_trace *trace, const char *path, const uint8_t *changes,
                       size_t count)
{
    static struct file file;
    bool mended = false;
    if (!read_file(path, &file))
        return;
    for (size_t i = 0; i < count; i++) {
        change(&file, changes + i * CHANGE_BYTES);
        mended |= changes[i * CHANGE_BYTES + 7] % 2 == 0;
    }
    if (mended && file.length >= sizeof(struct graph_file_header))
        mend(&file);
    write_file(path, &file);
    load(trace, path);
}

static void run(const char *trace_path, const uint8_t *changes, size_t count)
{
    char path[64];
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_error *error = argus_trace_open(trace_path, &trace);
    snprintf(path, sizeof(path), "/tmp/argus-fuzz-graph-file-%ld", (long)getpid());
    if (!error) {
        error = argus_graph_build(trace, NULL, NULL, NULL, &graph);
        if (!error) {
            error = argus_graph_save(graph, path, NULL, NULL);
            argus_graph_destroy(graph);
        }
        if (!error)
            change_all(trace, path, changes, count);
        argus_trace_close(trace);
    }
    unlink(path);
    argus_error_destroy(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    size_t count = size ? data[0] % MOST_CHANGES : 0;
    int fd = memfd_create("fuzz_graph_file", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (size < 1 + count * CHANGE_BYTES)
        count = 0;
    const uint8_t *steps = data + 1 + count * CHANGE_BYTES;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (size > 1 + count * CHANGE_BYTES)
        step_trace_write(fd, steps, size - 1 - count * CHANGE_BYTES);
    run(path, data + 1, count);
    close(fd);
    return 0;
}
