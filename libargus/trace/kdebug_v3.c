/* V3: chunks. What ktrace(1) and tailspin write (magic 0x55aa0300), and what kernels from xnu-3248
 * to xnu-7195 wrote (0x00001000).
 *
 *     chunk  u32 tag, u16 major, u16 minor, u64 length, then `length` bytes; begins at a multiple of 8
 *     head   the first chunk, its tag the magic: u32 numer, denom; u64 ticks; u64 seconds; u32 microseconds, minutes west,
 *            summer time, flags (1: 64 bits); then chunks that belong to the head and are counted in its length
 *
 * A chunk of records begins with 8 bytes (the time after which more records may follow). Kernels up
 * to xnu-8020, and ktrace.py, include them in the length; later kernels do not
 * (bsd/kern/kdebug.c:2270). The length modulo the record size tells which is the case. A length
 * with all bits set means that the chunk extends to the end of the file. Chunks with unknown tags
 * are skipped, as Apple's header demands. If a length is invalid, the reader searches for the next
 * chunk of threads or records, since those are recognizable by their contents.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/kdebug.h"

struct v3_chunk {
    uint32_t tag;
    uint16_t major, minor;
    uint64_t length;
} __attribute__((packed));

struct v3_head {
    uint32_t numer, denom;
    uint64_t ticks, seconds;
    uint32_t microseconds, minutes_west, summer_time, flags;
} __attribute__((packed));

static_assert(sizeof(struct v3_chunk) == 16 && sizeof(struct v3_head) == 40, "the file's bytes");

#define UNTIL_THE_END UINT64_MAX

enum { FUTURE_BYTES = 8, CPU_ENTRY_BYTES = 16, ALIGN = 8, FLAG_64_BIT = 1, SCAN_BYTES = 1 << 16 };

/* The position of the walk over the chunks. */
struct v3_walk {
    struct kdebug_file *file;
    uint64_t at;   /* of the chunk's data */
    uint64_t next; /* of the next chunk */
    struct v3_chunk chunk;
};

static struct argus_error *take_threads(struct v3_walk *walk)
{
    uint32_t entry_bytes = kdebug_thread_bytes(walk->file->narrow);
    struct argus_error *error =
        kdebug_threads_read(walk->file, walk->at, walk->chunk.length / entry_bytes);
    if (!error && walk->chunk.length % entry_bytes)
        error = kdebug_damage(walk->file, walk->at, walk->chunk.length,
                              "the map of threads does not consist of whole entries");
    return error;
}

static struct argus_error *take_records(struct v3_walk *walk)
{
    uint32_t record_bytes = kdebug_record_bytes(walk->file->narrow);
    uint64_t length = walk->chunk.length;
    if (length % record_bytes == FUTURE_BYTES)
        length -= FUTURE_BYTES;
    uint64_t first = walk->at + FUTURE_BYTES;
    if (length <= walk->file->trace->file_bytes)
        walk->next = first + length;
    return kdebug_add_span(walk->file, first, length);
}

/* The kernel writes only the entries; other writers put a header of 8 bytes before them. An entry
 * has 16 or 40 bytes. */
static struct argus_error *take_cpus(struct v3_walk *walk)
{
    uint64_t cpus = walk->chunk.length / CPU_ENTRY_BYTES;
    if (cpus && cpus <= 4096)
        walk->file->trace->header.cpu_count = (uint32_t)cpus;
    return NULL;
}

static struct argus_error *take_codes(struct v3_walk *walk)
{
    return kdebug_codes_read(walk->file, walk->at, walk->chunk.length);
}

static struct argus_error *keep(struct v3_walk *walk)
{
    struct argus_attachment attachment = {
        .offset_bytes = walk->at, .length_bytes = walk->chunk.length, .tag = walk->chunk.tag};
    return vec_push(&walk->file->trace->attachments, attachment) ? NULL : argus_error_memory();
}

/* libktrace can write compressed chunks, but their format is not published. */
static struct argus_error *miss_compressed(struct v3_walk *walk)
{
    return kdebug_damage(walk->file, walk->at, walk->chunk.length,
                         "compressed records (chunk 0x1f00), which cannot be read");
}

/* The chunks that Argus reads. To add one: a function and a row. */
static const struct v3_tag {
    uint32_t tag;
    struct argus_error *(*take)(struct v3_walk *walk);
} tags[] = {
    {0x1c00, take_cpus},  {0x1d00, take_threads}, {0x1e00, take_records}, {0x1f00, miss_compressed},
    {0x2000, NULL},       /* padding */
    {0x8001, keep},       /* property list: files that dyld loaded */
    {0x8004, keep},       /* … images of processes */
    {0x800f, take_codes}, /* names of tracepoints */
    {0x8c00, keep},       /* property list: the machine */
};

static const struct v3_tag *find_tag(uint32_t tag)
{
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        if (tags[i].tag == tag)
            return &tags[i];
    return NULL;
}

/* --- recovery --- */

/* Whether these bytes can be the beginning of a chunk of threads or records. */
static bool may_begin(const uint8_t *raw, uint64_t left, bool narrow)
{
    struct v3_chunk chunk;
    memcpy(&chunk, raw, sizeof(chunk));
    if (chunk.major > 1 || !chunk.length || chunk.length > left - sizeof(chunk))
        return false;
    uint64_t rest = chunk.length % kdebug_record_bytes(narrow);
    return (chunk.tag == 0x1d00 && chunk.length % kdebug_thread_bytes(narrow) == 0) ||
           (chunk.tag == 0x1e00 && (rest == 0 || rest == FUTURE_BYTES));
}

/* The first offset from `from` on where one can begin; the end of the file if there is none. */
static struct argus_error *scan(const struct kdebug_file *file, uint64_t from, uint64_t *ret)
{
    uint8_t *buffer = malloc(SCAN_BYTES + sizeof(struct v3_chunk));
    uint64_t end = file->trace->file_bytes;
    struct argus_error *error = buffer ? NULL : argus_error_memory();
    *ret = end;
    for (uint64_t base = from; !error && *ret == end && base + sizeof(struct v3_chunk) <= end;
         base += SCAN_BYTES) {
        uint64_t left = end - base;
        size_t length = left < SCAN_BYTES ? (size_t)left : SCAN_BYTES + sizeof(struct v3_chunk);
        length = length < left ? length : (size_t)left;
        error = kdebug_get(file, buffer, length, base);
        for (size_t i = 0; !error && i + sizeof(struct v3_chunk) <= length; i += ALIGN)
            if (may_begin(buffer + i, left - i, file->narrow)) {
                *ret = base + i;
                break;
            }
    }
    free(buffer);
    return error;
}

static struct argus_error *find_way(struct v3_walk *walk, uint64_t lost_at, const char *reason)
{
    struct argus_error *error = scan(walk->file, lost_at + ALIGN, &walk->next);
    walk->file->trace->complete = false;
    return error ? error : kdebug_damage(walk->file, lost_at, walk->next - lost_at, reason);
}

/* --- the walk --- */

static struct argus_error *take_chunk(struct v3_walk *walk, uint64_t offset_bytes)
{
    const struct v3_tag *tag = find_tag(walk->chunk.tag);
    uint64_t left = walk->file->trace->file_bytes - walk->at;
    if (walk->chunk.length == UNTIL_THE_END) /* the file was written as a stream */
        walk->chunk.length = left;
    bool is_records = tag && tag->take == take_records;
    if (walk->chunk.length > left && !is_records)
        return find_way(walk, offset_bytes, "a chunk is longer than the rest of the file");
    if (!walk->chunk.tag && !walk->chunk.length)
        return find_way(walk, offset_bytes, "no chunk begins here");
    walk->next =
        walk->chunk.length > left ? walk->file->trace->file_bytes : walk->at + walk->chunk.length;
    if (!tag)
        walk->file->skipped++;
    return tag && tag->take ? tag->take(walk) : NULL;
}

static struct argus_error *walk_chunks(struct kdebug_file *file, uint64_t from, uint64_t to)
{
    struct v3_walk walk = {.file = file};
    struct argus_error *error = NULL;
    for (uint64_t at = from; !error && at < to && to - at >= sizeof(walk.chunk);
         at = (walk.next + ALIGN - 1) / ALIGN * ALIGN) {
        error = kdebug_get(file, &walk.chunk, sizeof(walk.chunk), at);
        walk.at = at + sizeof(walk.chunk);
        if (!error)
            error = take_chunk(&walk, at);
    }
    return error;
}

static struct argus_error *take_head(struct kdebug_file *file, const struct v3_head *head)
{
    struct argus_trace_header *header = &file->trace->header;
    if (!kdebug_set_timebase(file, head->numer, head->denom))
        return kdebug_bad(file, sizeof(struct v3_chunk), "the timebase is %u/%u", head->numer,
                          head->denom);
    file->narrow = !(head->flags & FLAG_64_BIT);
    file->has_wall = head->ticks && head->seconds && head->seconds < 1ull << 33;
    if (file->has_wall) {
        header->anchor_ticks = head->ticks;
        header->anchor_wall_ns = head->seconds * 1000000000 + head->microseconds * 1000ull;
    }
    return NULL;
}

struct argus_error *kdebug_v3_read(struct kdebug_file *file)
{
    struct v3_chunk chunk;
    struct v3_head head;
    uint64_t file_bytes = file->trace->file_bytes, begin = sizeof(chunk) + sizeof(head);
    if (file_bytes < begin)
        return kdebug_bad(file, 0, "the file is cut off inside its head of %" PRIu64 " bytes",
                          begin);
    struct argus_error *error = kdebug_get(file, &chunk, sizeof(chunk), 0);
    if (!error)
        error = kdebug_get(file, &head, sizeof(head), sizeof(chunk));
    if (!error)
        error = take_head(file, &head);
    if (!error && (chunk.length < sizeof(head) || chunk.length > file_bytes - sizeof(chunk)))
        error = kdebug_bad(file, 8, "the head claims %" PRIu64 " bytes, and the file has %" PRIu64,
                           chunk.length, file_bytes);
    if (error)
        return error;
    uint64_t end = sizeof(chunk) + chunk.length;
    error = walk_chunks(file, begin, end);
    if (!error)
        error = walk_chunks(file, (end + ALIGN - 1) / ALIGN * ALIGN, file_bytes);
    return error;
}
