#include "sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/vec.h"

#define CHUNK_RECORDS 65536u /* about 200 KB on disk, a fraction of a second of a busy cpu */

struct pending {
    struct argus_record *records; /* room for CHUNK_RECORDS; owned */
    size_t count;
    uint64_t lost;       /* directly before records[0] */
    uint64_t total_lost; /* ever */
};

struct sink {
    struct argus_writer *writer;
    struct backend *backend; /* borrowed */
    struct pending *pending; /* for each cpu */
    uint32_t cpu_count;
    struct idmap seen;              /* the stacks that were looked up */
    VEC(uint64_t) kernel_addresses; /* frames of all kernel stacks; not sorted, may repeat */
    struct sink_totals totals;
};

static struct argus_error *write_notes(struct sink *sink)
{
    const char *const *notes;
    size_t count = backend_notes(sink->backend, &notes);
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++)
        error = argus_writer_note(sink->writer, notes[i]);
    return error;
}

static struct argus_error *sink_start(struct sink *sink, int fd, uint64_t ring_bytes)
{
    sink->cpu_count = backend_cpu_count(sink->backend);
    sink->pending = calloc(sink->cpu_count, sizeof(*sink->pending));
    if (!sink->pending)
        return argus_error_memory();
    struct argus_trace_header header = {0};
    struct argus_error *error = backend_header(sink->backend, &header);
    header.ring_bytes = ring_bytes & ~(uint64_t)7;
    if (!error)
        error = argus_writer_create(fd, &header, &sink->writer);
    return error ? error : write_notes(sink);
}

struct argus_error *sink_create(int fd, struct backend *backend, uint64_t ring_bytes,
                                struct sink **ret)
{
    struct sink *sink = calloc(1, sizeof(*sink));
    if (!sink)
        return argus_error_memory();
    sink->backend = backend;
    struct argus_error *error = sink_start(sink, fd, ring_bytes);
    if (error) {
        sink_destroy(sink);
        return error;
    }
    *ret = sink;
    return NULL;
}

void sink_destroy(struct sink *sink)
{
    if (!sink)
        return;
    idmap_deinit(&sink->seen);
    for (uint32_t cpu = 0; sink->pending && cpu < sink->cpu_count; cpu++)
        free(sink->pending[cpu].records);
    free(sink->pending);
    vec_deinit(&sink->kernel_addresses);
    argus_writer_destroy(sink->writer);
    free(sink);
}

/* Looks at the top bit: kernel addresses have it on every 64-bit Linux. */
static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

static struct argus_error *write_stack(struct sink *sink, uint64_t id)
{
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    size_t count = backend_stack(sink->backend, id, frames);
    if (count == 0) {
        sink->totals.stacks_lost++;
        return NULL;
    }
    for (size_t i = 0; i < count && is_kernel_address(frames[0]); i++) {
        if (!vec_push(&sink->kernel_addresses, frames[i]))
            return argus_error_memory();
    }
    return argus_writer_stack(sink->writer, id, frames, count);
}

/* Fetches a stack when its id is seen for the first time: soon, because the kernel's table forgets old ones. */
static struct argus_error *need_stack(struct sink *sink, uint64_t id)
{
    if (id == 0 || idmap_get(&sink->seen, id) != IDMAP_NONE)
        return NULL;
    if (!idmap_put(&sink->seen, id, 0))
        return argus_error_memory();
    return write_stack(sink, id);
}

static struct argus_error *need_stacks(struct sink *sink, const struct argus_record *records,
                                       size_t count)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        uint32_t id = records[i].debugid;
        if (id != ARGUS_ID_STACK && id != ARGUS_ID_SAMPLE)
            continue;
        error = need_stack(sink, records[i].arg[0]);
        if (!error)
            error = need_stack(sink, records[i].arg[1]);
    }
    return error;
}

static struct argus_error *flush_cpu(struct sink *sink, uint32_t cpu)
{
    struct pending *pending = &sink->pending[cpu];
    if (pending->count == 0 && pending->lost == 0)
        return NULL;
    struct argus_error *error =
        argus_writer_records(sink->writer, cpu, pending->records, pending->count, pending->lost);
    if (error)
        return error;
    sink->totals.records += pending->count;
    sink->totals.lost += pending->lost;
    pending->count = 0;
    pending->lost = 0;
    return NULL;
}

static struct argus_error *reserve(struct pending *pending)
{
    if (!pending->records)
        pending->records = malloc(CHUNK_RECORDS * sizeof(*pending->records));
    return pending->records ? NULL : argus_error_memory();
}

struct argus_error *sink_take(struct sink *sink, uint32_t cpu, const struct argus_record *records,
                              size_t count, uint64_t lost)
{
    struct pending *pending = &sink->pending[cpu];
    struct argus_error *error = need_stacks(sink, records, count);
    if (!error && lost)
        error = flush_cpu(sink, cpu);
    pending->lost += lost;
    pending->total_lost += lost;
    while (!error && count > 0) {
        size_t part = CHUNK_RECORDS - pending->count;
        if (part > count)
            part = count;
        error = reserve(pending);
        if (error)
            break;
        memcpy(pending->records + pending->count, records, part * sizeof(*records));
        pending->count += part;
        records += part;
        count -= part;
        if (pending->count == CHUNK_RECORDS)
            error = flush_cpu(sink, cpu);
    }
    return error;
}

static struct argus_error *flush_records(struct sink *sink)
{
    struct argus_error *error = NULL;
    for (uint32_t cpu = 0; cpu < sink->cpu_count && !error; cpu++)
        error = flush_cpu(sink, cpu);
    return error;
}

struct argus_error *sink_flush(struct sink *sink)
{
    struct argus_error *error = flush_records(sink);
    return error ? error : backend_write_images(sink->backend, sink->writer, false);
}

struct argus_error *sink_tables(struct sink *sink)
{
    struct argus_error *error = backend_write_threads(sink->backend, sink->writer);
    return error ? error : backend_write_images(sink->backend, sink->writer, false);
}

static struct argus_error *write_end(struct sink *sink)
{
    struct argus_counter counters[16] = {
        {"records", sink->totals.records},
        {"lost", sink->totals.lost},
        {"stacks_lost", sink->totals.stacks_lost},
    };
    size_t count = 3 + backend_counters(sink->backend, counters + 3, 13);
    return argus_writer_end(sink->writer, counters, count);
}

struct argus_error *sink_finish(struct sink *sink, bool all_images)
{
    struct argus_error *error = flush_records(sink);
    if (!error)
        error = backend_write_threads(sink->backend, sink->writer);
    if (!error)
        error = backend_write_images(sink->backend, sink->writer, all_images);
    if (!error)
        error = backend_write_kernel_symbols(sink->backend, sink->kernel_addresses.data,
                                             sink->kernel_addresses.length, sink->writer);
    return error ? error : write_end(sink);
}

uint64_t sink_lost(const struct sink *sink, uint32_t cpu)
{
    return sink->pending[cpu].total_lost;
}

struct sink_totals sink_totals(const struct sink *sink)
{
    struct sink_totals totals = sink->totals;
    totals.bytes = argus_writer_bytes(sink->writer);
    return totals;
}
