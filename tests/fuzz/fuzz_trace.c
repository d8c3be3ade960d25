/* The trace reader against any bytes.
 *
 * Each input is read twice: unchanged, and with all checksums corrected, because no random change
 * passes a CRC-32 check and the code after it would never be reached.
 */
#include <stdlib.h>
#include <string.h>

#include "argus/trace.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "seal_trace.h"

/* Checks all guarantees of the reader about a record; a violation ends the program, which the
 * fuzzer notices. */
static void check_records(const struct argus_trace *trace, const struct argus_chunk *chunk,
                          const struct argus_record *records)
{
    uint32_t cpus = argus_trace_header(trace)->cpu_count;
    for (uint32_t i = 0; i < chunk->count; i++)
        if (records[i].timestamp < chunk->first_ticks || records[i].timestamp > chunk->last_ticks ||
            records[i].cpu >= cpus)
            abort();
}

static void read_chunks(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++) {
        struct argus_record *records = malloc((chunks[i].count + 1) * sizeof(*records));
        if (!records)
            return;
        struct argus_error *error = argus_trace_read_chunk(trace, &chunks[i], records);
        if (!error)
            check_records(trace, &chunks[i], records);
        argus_error_destroy(error);
        free(records);
    }
}

/* Touches every byte of the tables, so that the sanitizers see it. */
static size_t read_tables(const struct argus_trace *trace)
{
    const struct argus_thread_entry *threads;
    const struct argus_image_entry *images;
    const struct argus_kernel_symbol *symbols;
    const char *const *notes;
    size_t sum = 0;
    for (size_t i = argus_trace_threads(trace, &threads); i-- > 0;)
        sum += strlen(threads[i].name);
    for (size_t i = argus_trace_images(trace, &images); i-- > 0;)
        sum += strlen(images[i].path) + images[i].build_id_bytes;
    for (size_t i = argus_trace_kernel_symbols(trace, &symbols); i-- > 0;)
        sum += strlen(symbols[i].name) + strlen(symbols[i].module);
    for (size_t i = argus_trace_notes(trace, &notes); i-- > 0;)
        sum += strlen(notes[i]);
    for (size_t i = argus_trace_name_count(trace); i-- > 0;) {
        struct argus_name_entry name = argus_trace_name_at(trace, i), again;
        sum += strlen(name.function) + strlen(name.source) + strlen(name.called) + name.lack;
        if (name.lack >= ARGUS_LACKS ||
            (name.file &&
             !argus_trace_inlined_in_file(trace, name.file, name.place, name.level, &again)))
            abort();
    }
    for (size_t i = argus_trace_stack_count(trace); i-- > 0;) {
        uint64_t id;
        const uint64_t *frames;
        for (size_t k = argus_trace_stack_at(trace, i, &id, &frames); k-- > 0;)
            sum += (size_t)frames[k];
        if (argus_trace_stack(trace, id, &frames) == 0)
            abort();
    }
    return sum;
}

/* Reads every byte of every snapshot. */
static size_t read_snapshots(const struct argus_trace *trace)
{
    const struct argus_chunk *chunks;
    size_t sum = 0, count = argus_trace_snapshot_chunks(trace, &chunks);
    for (size_t i = 0; i < count; i++) {
        struct argus_snapshots snapshots;
        argus_error_destroy(argus_trace_read_snapshots(trace, &chunks[i], &snapshots));
        for (size_t k = 0; k < snapshots.count; k++) {
            const struct argus_snapshot *snapshot = &snapshots.entries[k];
            if (!snapshot->id || snapshot->register_count > ARGUS_SNAPSHOT_REGISTERS)
                abort();
            for (uint32_t b = 0; b < snapshot->stack_bytes; b++)
                sum += snapshot->stack[b];
        }
        argus_snapshots_deinit(&snapshots);
    }
    return sum;
}

/* TEST_KEY of tests/trace/decode.py, with which the corpus is encrypted. */
static void give_key(struct argus_trace *trace)
{
    struct argus_snapshot_key key;
    for (int i = 0; i < ARGUS_SNAPSHOT_KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(i + 1);
    argus_trace_give_key(trace, &key);
}

static void read_trace(const uint8_t *data, size_t size)
{
    struct argus_trace *trace = NULL;
    struct argus_error *error = argus_trace_open(fuzz_file(data, size), &trace);
    if (!error) {
        give_key(trace);
        read_chunks(trace);
        read_tables(trace);
        read_snapshots(trace);
    }
    argus_error_destroy(error);
    argus_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_sealed(data, size, read_trace, seal_trace);
    return 0;
}
