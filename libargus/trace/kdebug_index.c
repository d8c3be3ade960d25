/* Reads all records of a kdebug file once and builds an index.
 *
 * Records of a file are only roughly in time order: some programs drain one CPU after the other,
 * and coprocessors report late. So the records are cut into chunks, and each chunk is assigned to a
 * *lane*: in a lane, no chunk begins before the previous chunk has ended. Sorting inside each chunk
 * and merging the lanes then restores the time order, however far a record is out of place. A
 * sorted file has one lane; a file that has one CPU after the other has as many lanes as CPUs.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/kdebug.h"
#include "trace/layout.h"

enum {
    CHUNK_RECORDS = 16384,
    /* a trace with more disorder is implausible; the merge repairs what is left */
    MOST_LANES = 1024,
};

#define ID_LOST_EVENTS 0x07020008u

/* Kernel address ranges: x86_64 above 0xffffff7f80000000 (osfmk/mach/i386/vm_param.h), arm64 above
 * 0xfffffe0000000000 or 0xfffffff000000000 (osfmk/mach/arm/vm_param.h). */
struct kernel_votes {
    uint32_t intel, apple;
};

struct indexer {
    struct kdebug_file *file;
    struct kdebug_tables *tables;
    uint8_t *raw;
    struct argus_record *records;
    struct kernel_votes votes;
    uint64_t first_record_ticks; /* of the file's first record, which need not be the earliest */
    uint32_t most_cpu;
    bool any;
};

static void vote(struct kernel_votes *votes, const struct argus_record *record)
{
    if (record->debugid != (ARGUS_ID_INTERRUPT | ARGUS_FUNC_START))
        return;
    uint64_t top = record->arg[1] >> 32;
    votes->intel += top >= 0xffffff7f && top <= 0xffffff8f;
    votes->apple += (top >= 0xfffffe00 && top < 0xffffff7f) || top >= 0xfffffff0;
}

static bool note_loss(struct argus_trace *trace, const struct argus_record *record)
{
    if (ARGUS_DEBUGID_EVENT(record->debugid) != ID_LOST_EVENTS)
        return true;
    trace->lost_count++; /* at least one: the kernel does not tell how many */
    return vec_push(
        &trace->losses,
        (struct argus_loss){.cpu = record->cpu, .count = 1, .to_ticks = record->timestamp});
}

static bool look_at(struct indexer *indexer, const struct argus_record *record,
                    struct argus_chunk *chunk)
{
    uint64_t ticks = record->timestamp;
    if (!chunk->count || ticks < chunk->first_ticks)
        chunk->first_ticks = ticks;
    if (!chunk->count || ticks > chunk->last_ticks)
        chunk->last_ticks = ticks;
    chunk->count++;
    if (!indexer->any)
        indexer->first_record_ticks = ticks;
    indexer->any = true;
    if (record->cpu > indexer->most_cpu)
        indexer->most_cpu = record->cpu;
    vote(&indexer->votes, record);
    return note_loss(indexer->file->trace, record) && kdebug_tables_feed(indexer->tables, record);
}

static void add_to_range(struct argus_trace *trace, const struct argus_chunk *chunk)
{
    bool first = !trace->record_count;
    if (first || chunk->first_ticks < trace->first_ticks)
        trace->first_ticks = chunk->first_ticks;
    if (first || chunk->last_ticks > trace->last_ticks)
        trace->last_ticks = chunk->last_ticks;
    trace->record_count += chunk->count;
}

static struct argus_error *index_chunk(struct indexer *indexer, uint64_t offset_bytes,
                                       uint32_t length_bytes)
{
    struct kdebug_file *file = indexer->file;
    struct argus_trace *trace = file->trace;
    struct argus_chunk chunk = {
        .offset_bytes = offset_bytes,
        .sequence = trace->chunks.length,
        .cpu = ARGUS_CPU_MIXED,
        .stored_bytes = length_bytes,
        .unpacked_bytes = length_bytes,
        .kind = ARGUS_CHUNK_RECORDS,
    };
    struct argus_error *error = kdebug_get(file, indexer->raw, length_bytes, offset_bytes);
    if (error)
        return error;
    uint32_t record_bytes = kdebug_record_bytes(file->narrow);
    size_t bad, raw_count = length_bytes / record_bytes;
    size_t count = kdebug_unpack(indexer->raw, raw_count, file->narrow, indexer->records, &bad);
    for (size_t i = 0; i < count; i++)
        if (!look_at(indexer, &indexer->records[i], &chunk))
            return argus_error_memory();
    if (bad < raw_count)
        error = kdebug_damage(file, offset_bytes + bad * record_bytes, record_bytes,
                              "this record, and maybe later ones, name an impossible cpu");
    if (error || !chunk.count)
        return error;
    add_to_range(trace, &chunk);
    return vec_push(&trace->chunks, chunk) ? NULL : argus_error_memory();
}

static struct argus_error *index_span(struct indexer *indexer, const struct kdebug_span *span)
{
    uint64_t most = (uint64_t)CHUNK_RECORDS * kdebug_record_bytes(indexer->file->narrow);
    struct argus_error *error = NULL;
    for (uint64_t done = 0; done < span->length_bytes && !error; done += most) {
        uint64_t left = span->length_bytes - done;
        error =
            index_chunk(indexer, span->offset_bytes + done, (uint32_t)(left < most ? left : most));
    }
    return error;
}

/* --- lanes --- */

/* The first lane that ends before the chunk begins; a new lane if there is none; if there are too
 * many lanes, the one that ends first. */
static uint32_t find_lane(uint64_t *end_ticks, uint32_t *lanes, const struct argus_chunk *chunk)
{
    uint32_t earliest = 0;
    for (uint32_t i = 0; i < *lanes; i++) {
        if (end_ticks[i] <= chunk->first_ticks)
            return i;
        if (end_ticks[i] < end_ticks[earliest])
            earliest = i;
    }
    return *lanes < MOST_LANES ? (*lanes)++ : earliest;
}

static bool deal_lanes(struct argus_trace *trace)
{
    uint64_t *end_ticks = calloc(MOST_LANES, sizeof(*end_ticks));
    uint32_t lanes = 0;
    for (size_t i = 0; end_ticks && i < trace->chunks.length; i++) {
        struct argus_chunk *chunk = &trace->chunks.data[i];
        chunk->lane = find_lane(end_ticks, &lanes, chunk);
        if (chunk->last_ticks > end_ticks[chunk->lane])
            end_ticks[chunk->lane] = chunk->last_ticks;
    }
    free(end_ticks);
    return end_ticks != NULL;
}

/* --- header fields that only the records tell --- */

static void finish_head(struct indexer *indexer)
{
    struct kdebug_file *file = indexer->file;
    struct argus_trace *trace = file->trace;
    if (indexer->any && indexer->most_cpu >= trace->header.cpu_count)
        trace->header.cpu_count = indexer->most_cpu + 1;
    if (!file->has_timebase && indexer->votes.apple > indexer->votes.intel) {
        kdebug_set_timebase(file, 125, 3);
        file->has_timebase = false;
    }
    if (file->wall_ns) { /* V1 gives the wall time of the beginning of tracing */
        trace->header.anchor_ticks = indexer->first_record_ticks;
        trace->header.anchor_wall_ns = file->wall_ns;
    } else if (!file->has_wall) {
        trace->header.anchor_ticks = trace->first_ticks;
    }
    for (size_t i = 0; i < trace->tables.threads.length; i++)
        trace->tables.threads.data[i].seen_ticks = trace->first_ticks;
}

struct argus_error *kdebug_index(struct kdebug_file *file)
{
    struct indexer indexer = {
        .file = file,
        .tables = kdebug_tables_create(file->trace),
        .raw = malloc((size_t)CHUNK_RECORDS * kdebug_record_bytes(false)),
        .records = malloc((size_t)CHUNK_RECORDS * sizeof(struct argus_record)),
    };
    bool ready = indexer.tables && indexer.raw && indexer.records;
    struct argus_error *error = ready ? NULL : argus_error_memory();
    for (size_t i = 0; i < file->spans.length && !error; i++)
        error = index_span(&indexer, &file->spans.data[i]);
    if (!error && (!deal_lanes(file->trace) || !kdebug_tables_finish(indexer.tables)))
        error = argus_error_memory();
    if (!error)
        finish_head(&indexer);
    kdebug_tables_destroy(indexer.tables);
    free(indexer.raw);
    free(indexer.records);
    return error;
}
