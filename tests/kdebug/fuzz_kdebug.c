/* The readers of kdebug files against any bytes, and the later stages for their records: names, and
 * the translation. */
#include <stdlib.h>
#include <string.h>

#include "argus/property_lists.h"
#include "event/darwin/darwin_text.h"
#include "event/merge.h"
#include "fuzz.h"
#include "fuzz_file.h"

/* The guarantees of a reader about a record. */
static void check_chunk(const struct argus_trace *trace, const struct argus_chunk *chunk)
{
    struct argus_record *records = malloc((chunk->count + 1) * sizeof(*records));
    uint32_t cpus = argus_trace_header(trace)->cpu_count;
    struct argus_error *error =
        records ? argus_trace_read_chunk(trace, chunk, records) : argus_error_memory();
    for (uint32_t i = 0; !error && i < chunk->count; i++)
        if (records[i].timestamp < chunk->first_ticks || records[i].timestamp > chunk->last_ticks ||
            records[i].cpu >= cpus)
            abort();
    argus_error_destroy(error);
    free(records);
}

/* Translated records never go back in time, and every text ends. */
static void translate(const struct argus_trace *trace)
{
    struct merge *merge = NULL;
    const struct argus_record *record;
    char name[64], text[256];
    uint64_t last_ns = 0;
    struct argus_error *error = merge_create(trace, &merge);
    while (!error && !(error = merge_next(merge, &record)) && record) {
        if (record->timestamp < last_ns)
            abort();
        last_ns = record->timestamp;
        darwin_record_name(trace, record->debugid, name, sizeof(name));
        darwin_record_arguments(record, text, sizeof(text));
        if (!memchr(text, 0, sizeof(text)))
            abort();
    }
    argus_error_destroy(error);
    merge_destroy(merge);
}

static size_t read_tables(const struct argus_trace *trace)
{
    const struct argus_thread_entry *threads;
    const struct argus_image_entry *images;
    size_t sum = 0;
    for (size_t i = argus_trace_threads(trace, &threads); i-- > 0;)
        sum += strlen(threads[i].name);
    for (size_t i = argus_trace_images(trace, &images); i-- > 0;)
        sum += strlen(images[i].path) + (images[i].end < images[i].start);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct argus_trace *trace = NULL;
    const struct argus_chunk *chunks;
    struct argus_error *error = argus_trace_open(fuzz_file(data, size), &trace);
    if (!error)
        error = argus_property_lists_read(trace);
    if (!error) {
        size_t count = argus_trace_chunks(trace, &chunks);
        for (size_t i = 0; i < count; i++)
            check_chunk(trace, &chunks[i]);
        translate(trace);
        read_tables(trace);
    }
    argus_error_destroy(error);
    argus_trace_close(trace);
    return 0;
}
