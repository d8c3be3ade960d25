#include "trace/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/hash64.h"
#include "trace/cipher.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/kdebug.h"
#include "trace/pack.h"
#include "trace/reason.h"
#include "trace/walk.h"

/* A small file could claim tables that are a thousand times its size when decompressed. Real tables
 * stay below a thirtieth of this limit. */
#define TABLES_MOST_BYTES(file_bytes) ((64u << 20) + 64 * (file_bytes))

typedef VEC(struct argus_chunk) chunk_list;

static struct argus_error *add_damage(struct argus_trace *trace, uint64_t offset_bytes,
                                      uint64_t length_bytes, const char *reason)
{
    uint32_t id;
    struct argus_error *error = strtab_intern(trace->strings, reason, strlen(reason), &id);
    if (error)
        return error;
    struct argus_damage damage = {offset_bytes, length_bytes, strtab_get(trace->strings, id)};
    return vec_push(&trace->damage, damage) ? NULL : argus_error_memory();
}

static int compare_damage(const void *left, const void *right)
{
    const struct argus_damage *a = left, *b = right;
    return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

static void sort_damage(struct argus_trace *trace)
{
    if (trace->damage.length)
        qsort(trace->damage.data, trace->damage.length, sizeof(*trace->damage.data),
              compare_damage);
}

/* --- the index --- */

/* The reason why a record chunk's numbers are invalid. */
static const char *records_fault(const struct layout_chunk *header, uint32_t cpu_count)
{
    if (header->cpu != ARGUS_CPU_MIXED && header->cpu >= cpu_count)
        return "its cpu is not one of the recorded machine";
    if (header->count > ARGUS_CHUNK_MAX_RECORDS)
        return "it claims too many records";
    uint64_t least = CODEC_SIZES_BYTES + 1 + (uint64_t)header->count * CODEC_LEAST_RECORD_BYTES;
    if (header->count && header->unpacked_bytes < least)
        return "its payload is too small for its records";
    return NULL;
}

/* The reason why a chunk is rejected although its header's CRC is right; NULL: it is valid. The
 * checks keep a file from claiming much more memory than its own size (see pack_is_possible()). */
static const char *chunk_fault(const struct layout_chunk *header, uint32_t cpu_count)
{
    const char *fault = pack_fault(header->codec);
    if (fault)
        return fault;
    if (header->stored_bytes > ARGUS_CHUNK_MAX_BYTES ||
        header->unpacked_bytes > ARGUS_CHUNK_MAX_BYTES)
        return "it is larger than a chunk may be";
    if (!pack_is_possible(header->stored_bytes, header->unpacked_bytes))
        return "it claims to unpack to more than is possible";
    if (header->kind == ARGUS_CHUNK_SNAPSHOTS &&
        header->unpacked_bytes > LAYOUT_MOST_SNAPSHOT_BYTES)
        return "it is larger than a chunk of stack snapshots may be";
    if (header->first_ticks > header->last_ticks)
        return "its time range is reversed";
    return header->kind == ARGUS_CHUNK_RECORDS ? records_fault(header, cpu_count) : NULL;
}

static struct argus_chunk chunk_from_disk(const struct walk_step *step)
{
    return (struct argus_chunk){
        .offset_bytes = step->offset_bytes,
        .sequence = step->header.sequence,
        .first_ticks = step->header.first_ticks,
        .last_ticks = step->header.last_ticks,
        .lost = step->header.lost,
        .cpu = step->header.cpu,
        .lane = step->header.cpu,
        .count = step->header.count,
        .stored_bytes = step->header.stored_bytes,
        .unpacked_bytes = step->header.unpacked_bytes,
        .kind = step->header.kind,
    };
}

static struct argus_error *add_chunk(struct argus_trace *trace, const struct walk_step *step,
                                     chunk_list *tables)
{
    if (step->header.kind == ARGUS_CHUNK_PAD)
        return NULL;
    const char *fault = chunk_fault(&step->header, trace->header.cpu_count);
    if (fault)
        return add_damage(trace, step->offset_bytes, step->length_bytes, fault);
    if (step->header.codec != ARGUS_CODEC_NONE)
        trace->codec = step->header.codec;
    struct argus_chunk chunk = chunk_from_disk(step);
    bool records = chunk.kind == ARGUS_CHUNK_RECORDS;
    bool added = records ? vec_push(&trace->chunks, chunk) : vec_push(tables, chunk);
    *(records ? &trace->record_count : &trace->table_entry_count) += chunk.count;
    uint64_t claimed = trace->record_count + (trace->is_shared ? trace->table_entry_count : 0);
    return !added ? argus_error_memory()
                  : file_bound_check_records(&trace->bound, trace->path, trace->file_bytes,
                                             chunk.offset_bytes, claimed);
}

static int compare_chunks(const void *left, const void *right)
{
    const struct argus_chunk *a = left, *b = right;
    if (a->sequence != b->sequence)
        return a->sequence < b->sequence ? -1 : 1;
    return a->offset_bytes < b->offset_bytes ? -1 : a->offset_bytes > b->offset_bytes;
}

static void sort_chunks(struct argus_chunk *chunks, size_t count)
{
    if (count)
        qsort(chunks, count, sizeof(*chunks), compare_chunks);
}

/* --- the identity: a hash of the file's metadata, its header, and the headers of all chunks, which
 * contain the payloads' checksums --- */

static struct argus_error *identify_file(struct argus_trace *trace, const struct stat *status)
{
    uint64_t numbers[] = {
        (uint64_t)status->st_size,         (uint64_t)status->st_mtim.tv_sec,
        (uint64_t)status->st_mtim.tv_nsec, (uint64_t)status->st_ctim.tv_sec,
        (uint64_t)status->st_ctim.tv_nsec,
    };
    struct layout_header header = {0};
    int failed = file_read(trace->fd, &header, sizeof(header), 0);
    if (failed && failed != ENODATA)
        return argus_error_os(failed, "cannot read %s", trace->path);
    trace->identity = hash64(hash64(0, numbers, sizeof(numbers)), &header, sizeof(header));
    return NULL;
}

static void identify_step(struct argus_trace *trace, const struct walk_step *step)
{
    uint64_t place[] = {step->found, step->offset_bytes, step->length_bytes};
    trace->identity = hash64(trace->identity, place, sizeof(place));
    if (step->found == WALK_CHUNK)
        trace->identity = hash64(trace->identity, &step->header, sizeof(step->header));
}

static struct argus_error *read_index(struct argus_trace *trace, chunk_list *tables)
{
    struct walk walk;
    struct walk_step step;
    walk_begin(&walk, trace->fd, trace->path, &trace->header, trace->file_bytes);
    struct argus_error *error;
    while (!(error = walk_next(&walk, &step)) && step.found != WALK_END) {
        identify_step(trace, &step);
        error = step.found == WALK_CHUNK
                    ? add_chunk(trace, &step, tables)
                    : add_damage(trace, step.offset_bytes, step.length_bytes, step.reason);
        if (error)
            return error;
    }
    sort_chunks(trace->chunks.data, trace->chunks.length);
    sort_chunks(tables->data, tables->length);
    return error;
}

/* --- tables --- */

/* A damaged table counts as damage of the file, not as a failure to open it. `ret_loaded`: whether
 * the table was loaded.
 */
static struct argus_error *load_table(struct argus_trace *trace, const struct argus_chunk *chunk,
                                      uint64_t *unpacked_bytes, bool *ret_loaded)
{
    *unpacked_bytes += chunk->unpacked_bytes;
    struct argus_error *error = *unpacked_bytes <= TABLES_MOST_BYTES(trace->file_bytes)
                                    ? tables_load(trace, chunk)
                                    : reason_to_error("the tables are far too large for this file");
    *ret_loaded = !error;
    if (!error || error->code != ARGUS_ERROR_FORMAT)
        return error;
    uint64_t extent = layout_chunk_extent(chunk->stored_bytes);
    uint64_t rest = trace->file_bytes - chunk->offset_bytes;
    struct argus_error *failed =
        add_damage(trace, chunk->offset_bytes, extent < rest ? extent : rest, error->message);
    argus_error_destroy(error);
    return failed;
}

static bool is_behind_records(const struct argus_trace *trace, const struct argus_chunk *chunk)
{
    size_t count = trace->chunks.length;
    return !count || chunk->sequence > trace->chunks.data[count - 1].sequence;
}

static struct argus_error *read_tables(struct argus_trace *trace, const chunk_list *tables)
{
    uint64_t unpacked_bytes = 0;
    for (size_t i = 0; i < tables->length; i++) {
        const struct argus_chunk *chunk = &tables->data[i];
        bool loaded;
        struct argus_error *error = load_table(trace, chunk, &unpacked_bytes, &loaded);
        if (error)
            return error;
        if (is_of_snapshots(chunk->kind) && !vec_push(&trace->snapshot_chunks, *chunk))
            return argus_error_memory();
        if (chunk->kind != ARGUS_CHUNK_BUILD_IDS && chunk->kind != ARGUS_CHUNK_NAMES &&
            chunk->kind != ARGUS_CHUNK_NOTE) /* notes may follow the END chunk */
            trace->complete =
                chunk->kind == ARGUS_CHUNK_END && loaded && is_behind_records(trace, chunk);
    }
    if (!tables_finish(&trace->tables))
        return argus_error_memory();
    sort_damage(trace);
    return NULL;
}

/* --- totals --- */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_to_range(struct argus_trace *trace, const struct argus_chunk *chunk,
                         uint64_t *records)
{
    bool first = *records == 0;
    if (first || chunk->first_ticks < trace->first_ticks)
        trace->first_ticks = chunk->first_ticks;
    if (first || chunk->last_ticks > trace->last_ticks)
        trace->last_ticks = chunk->last_ticks;
    *records += chunk->count;
}

/* `last_ticks` has an element for each CPU, and one more for chunks of several CPUs. */
static bool add_loss(struct argus_trace *trace, const struct argus_chunk *chunk,
                     const uint64_t *last_ticks)
{
    trace->lost_count = add_saturating(trace->lost_count, chunk->lost);
    return vec_push(&trace->losses, (struct argus_loss){
                                        .cpu = chunk->cpu,
                                        .count = chunk->lost,
                                        .from_ticks = *last_ticks,
                                        .to_ticks = chunk->first_ticks,
                                    });
}

static struct argus_error *add_up(struct argus_trace *trace)
{
    uint32_t cpus = trace->header.cpu_count;
    uint64_t *last_ticks = calloc(cpus + 1, sizeof(*last_ticks));
    uint64_t records = 0;
    bool added = last_ticks != NULL;
    for (size_t i = 0; i < trace->chunks.length && added; i++) {
        const struct argus_chunk *chunk = &trace->chunks.data[i];
        uint64_t *last = &last_ticks[chunk->cpu == ARGUS_CPU_MIXED ? cpus : chunk->cpu];
        if (chunk->lost)
            added = add_loss(trace, chunk, last);
        if (chunk->count)
            add_to_range(trace, chunk, &records);
        *last = chunk->last_ticks;
    }
    free(last_ticks);
    return added ? NULL : argus_error_memory();
}

/* --- opening --- */

static struct argus_error *check_file(struct argus_trace *trace)
{
    struct stat status;
    if (fstat(trace->fd, &status) < 0)
        return argus_error_os(errno, "cannot read %s", trace->path);
    if (S_ISDIR(status.st_mode))
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is a directory, not an Argus trace",
                                  trace->path);
    if (!S_ISREG(status.st_mode))
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is not a regular file", trace->path);
    if (status.st_size == 0)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is empty: not an Argus trace",
                                  trace->path);
    trace->file_bytes = (uint64_t)status.st_size;
    file_bound_init(&trace->bound, trace->file_bytes);
    trace->bound.is_shared = trace->is_shared;
    return identify_file(trace, &status);
}

static struct argus_error *read_trace(struct argus_trace *trace)
{
    chunk_list tables = {0};
    uint32_t magic = 0;
    struct argus_error *error = check_file(trace);
    if (!error && file_read(trace->fd, &magic, sizeof(magic), 0) == 0 && kdebug_find(magic))
        return kdebug_open(trace, kdebug_find(magic));
    if (!error)
        error = walk_read_header(trace->fd, trace->path, &trace->header);
    if (!error)
        error = read_index(trace, &tables);
    if (!error)
        error = read_tables(trace, &tables);
    if (!error)
        error = add_up(trace);
    if (!error)
        error = clock_steps_load(trace);
    vec_deinit(&tables);
    return error;
}

static struct argus_error *open_trace(const char *path, bool is_shared, struct argus_trace **ret)
{
    struct argus_trace *trace = calloc(1, sizeof(*trace));
    if (!trace)
        return argus_error_memory();
    trace->fd = -1;
    trace->is_shared = is_shared;
    trace->path = strdup(path);
    trace->strings = strtab_create();
    struct argus_error *error = NULL;
    if (!trace->path || !trace->strings)
        error = argus_error_memory();
    /* O_NONBLOCK: opening a FIFO would otherwise block until a writer opens it. */
    else if ((trace->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
        error = argus_error_os(errno, "cannot open %s", path);
    else
        error = read_trace(trace);
    if (error)
        argus_trace_close(trace);
    else
        *ret = trace;
    return error;
}

struct argus_error *argus_trace_open(const char *path, struct argus_trace **ret)
{
    return open_trace(path, false, ret);
}

struct argus_error *argus_trace_open_shared(const char *path, struct argus_trace **ret)
{
    return open_trace(path, true, ret);
}

void argus_trace_close(struct argus_trace *trace)
{
    if (!trace)
        return;
    if (trace->fd >= 0)
        close(trace->fd);
    tables_deinit(&trace->tables);
    vec_deinit(&trace->chunks);
    vec_deinit(&trace->snapshot_chunks);
    vec_deinit(&trace->damage);
    vec_deinit(&trace->losses);
    vec_deinit(&trace->clock_steps);
    vec_deinit(&trace->codes);
    vec_deinit(&trace->attachments);
    vec_deinit(&trace->named_images);
    strtab_destroy(trace->strings);
    free(trace->path);
    free(trace->name);
    cipher_wipe(&trace->given, sizeof(trace->given));
    cipher_wipe(&trace->found, sizeof(trace->found));
    free(trace);
}
