/* Writes a trace as a new .argus file.
 *
 * Records come from the merge: in time order, but with times in ns. An .argus file has ticks, and
 * arguments such as deadlines are in ticks too, so the times are converted back. If a tick is at
 * least 1 ns long, as on every Mac, no two ticks have the same ns value, and the conversion is
 * exact.
 */
#include "event/import.h"

#include <stdlib.h>

#include "base/vec.h"
#include "event/merge.h"

enum { CHUNK_RECORDS = 16384, PROGRESS_EVERY = 1 << 16 };

/* Records of one CPU that are buffered for the next chunk. */
struct import_cpu {
    VEC(struct argus_record) records;
    uint64_t lost;
};

struct importer {
    const struct argus_trace *trace; /* borrowed */
    struct argus_writer *writer;     /* owned */
    struct import_cpu *cpus;         /* owned */
    uint32_t cpu_count;
};

/* The smallest number of ticks that converts to `ns`. */
static uint64_t ticks_of(const struct argus_trace *trace, uint64_t ns)
{
    const struct argus_trace_header *header = argus_trace_header(trace);
    unsigned __int128 parts = (unsigned __int128)ns * header->timebase_denom;
    return (uint64_t)((parts + header->timebase_numer - 1) / header->timebase_numer);
}

static struct argus_error *flush(struct importer *importer, uint32_t cpu)
{
    struct import_cpu *of = &importer->cpus[cpu];
    struct argus_error *error =
        argus_writer_records(importer->writer, cpu, of->records.data, of->records.length, of->lost);
    of->records.length = 0;
    of->lost = 0;
    return error;
}

static struct argus_error *take(struct importer *importer, const struct argus_record *record)
{
    struct import_cpu *cpu = &importer->cpus[record->cpu];
    struct argus_record copy = *record;
    copy.timestamp = ticks_of(importer->trace, record->timestamp);
    if (record->debugid == MERGE_ID_LOST) {
        struct argus_error *error = flush(importer, record->cpu);
        cpu->lost += record->arg[0];
        return error;
    }
    if (!vec_push(&cpu->records, copy))
        return argus_error_memory();
    return cpu->records.length < CHUNK_RECORDS ? NULL : flush(importer, record->cpu);
}

static struct argus_error *write_records(struct importer *importer, argus_progress progress,
                                         void *context)
{
    struct merge *merge;
    const struct argus_record *record;
    uint64_t total = argus_trace_record_count(importer->trace);
    struct argus_error *error = merge_create_raw(importer->trace, &merge);
    if (error)
        return error;
    while (!(error = merge_next(merge, &record)) && record) {
        if (record->cpu < importer->cpu_count)
            error = take(importer, record);
        uint64_t done = merge_position(merge);
        if (!error && done % PROGRESS_EVERY == 0 && progress &&
            !progress(context, "writing records", (double)done / (double)(total + 1)))
            error = argus_error_create(ARGUS_ERROR_INTERRUPTED, "interrupted");
        if (error)
            break;
    }
    merge_destroy(merge);
    for (uint32_t i = 0; i < importer->cpu_count && !error; i++)
        error = flush(importer, i);
    return error;
}

static struct argus_error *write_stacks(struct importer *importer)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < argus_trace_stack_count(importer->trace) && !error; i++) {
        uint64_t id;
        const uint64_t *frames;
        size_t count = argus_trace_stack_at(importer->trace, i, &id, &frames);
        error = argus_writer_stack(importer->writer, id, frames, count);
    }
    return error;
}

static struct argus_error *write_tables(struct importer *importer)
{
    const struct argus_trace *trace = importer->trace;
    const struct argus_thread_entry *threads;
    const struct argus_image_entry *images;
    const struct argus_probe_entry *probes;
    const char *const *notes;
    size_t count = argus_trace_threads(trace, &threads);
    struct argus_error *error = argus_writer_threads(importer->writer, threads, count);
    if (!error && (count = argus_trace_images(trace, &images)))
        error = argus_writer_images(importer->writer, images, count);
    if (!error && (count = argus_trace_probes(trace, &probes)))
        error = argus_writer_probes(importer->writer, probes, count);
    if (!error)
        error = write_stacks(importer);
    count = argus_trace_notes(trace, &notes);
    for (size_t i = 0; i < count && !error; i++)
        error = argus_writer_note(importer->writer, notes[i]);
    return error;
}

static struct argus_trace_header header_of(const struct argus_trace *trace, uint32_t numer,
                                           uint32_t denom)
{
    struct argus_trace_header header = *argus_trace_header(trace);
    header.ring_bytes = 0;
    if (!numer || !denom)
        return header;
    header.timebase_numer = numer;
    header.timebase_denom = denom;
    header.arch = numer == denom ? ARGUS_ARCH_X86_64 : ARGUS_ARCH_AARCH64;
    return header;
}

struct argus_error *import_write(const struct argus_trace *trace, int fd, uint32_t numer,
                                 uint32_t denom, argus_progress progress, void *context)
{
    const struct argus_trace_header header = header_of(trace, numer, denom);
    struct importer importer = {.trace = trace, .cpu_count = header.cpu_count};
    importer.cpus = calloc(header.cpu_count, sizeof(*importer.cpus));
    struct argus_error *error =
        importer.cpus ? argus_writer_create(fd, &header, &importer.writer) : argus_error_memory();
    if (!error)
        error = write_tables(&importer);
    if (!error)
        error = write_records(&importer, progress, context);
    if (!error)
        error = argus_writer_end(importer.writer, NULL, 0);
    argus_writer_destroy(importer.writer);
    for (uint32_t i = 0; importer.cpus && i < importer.cpu_count; i++)
        vec_deinit(&importer.cpus[i].records);
    free(importer.cpus);
    return error;
}
