/* Converts the records of a kdebug file to Argus's records: kd_buf, xnu-11417.121.6
 * bsd/sys/kdebug_private.h:260. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace/file.h"
#include "trace/kdebug.h"
#include "trace/layout.h"

/* A 64-bit record equals struct argus_record byte for byte, except for the last word, which must be
 * 0. */
static_assert(sizeof(struct argus_record) == 64, "kd_buf");

/* A record of a 32-bit kernel has the CPU in the highest byte of the time. */
struct narrow_record {
    uint64_t time_and_cpu;
    uint32_t arg[4];
    uint32_t tid, debugid;
};
static_assert(sizeof(struct narrow_record) == 32, "kd_buf of 32-bit kernels");

#define NARROW_TIME_MASK 0x00ffffffffffffffull
#define NARROW_CPU_SHIFT 56

static void unpack_wide(const uint8_t *raw, struct argus_record *ret)
{
    memcpy(ret, raw, sizeof(*ret));
    ret->unused = 0;
}

static void unpack_narrow(const uint8_t *raw, struct argus_record *ret)
{
    struct narrow_record narrow;
    memcpy(&narrow, raw, sizeof(narrow));
    *ret = (struct argus_record){
        .timestamp = narrow.time_and_cpu & NARROW_TIME_MASK,
        .arg = {narrow.arg[0], narrow.arg[1], narrow.arg[2], narrow.arg[3]},
        .tid = narrow.tid,
        .debugid = narrow.debugid,
        .cpu = (uint32_t)(narrow.time_and_cpu >> NARROW_CPU_SHIFT),
    };
}

size_t kdebug_unpack(const uint8_t *raw, size_t count, bool narrow, struct argus_record *ret,
                     size_t *ret_bad)
{
    size_t kept = 0, bytes = kdebug_record_bytes(narrow);
    *ret_bad = count;
    for (size_t i = 0; i < count; i++) {
        struct argus_record *record = &ret[kept];
        if (narrow)
            unpack_narrow(raw + i * bytes, record);
        else
            unpack_wide(raw + i * bytes, record);
        bool is_empty = !record->timestamp && !record->debugid;
        bool is_bad = record->cpu >= LAYOUT_MOST_CPUS;
        *ret_bad = is_bad && *ret_bad == count ? i : *ret_bad;
        kept += !is_empty && !is_bad;
    }
    return kept;
}

/* Whether the records are the same as when the index was made. */
static bool are_as_indexed(const struct argus_chunk *chunk, const struct argus_record *records,
                           size_t count, uint32_t cpu_count)
{
    if (count != chunk->count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (records[i].timestamp < chunk->first_ticks || records[i].timestamp > chunk->last_ticks ||
            records[i].cpu >= cpu_count)
            return false;
    return true;
}

/* `room` has to suffice for all raw records of the chunk, although some may be left out. */
static struct argus_error *read_raw(const struct argus_trace *trace,
                                    const struct argus_chunk *chunk, uint8_t *raw,
                                    struct argus_record *room, struct argus_record *ret)
{
    size_t bad, count = chunk->stored_bytes / kdebug_record_bytes(trace->kdebug_narrow);
    int failed = file_read(trace->fd, raw, chunk->stored_bytes, chunk->offset_bytes);
    if (failed && failed != ENODATA)
        return argus_error_os(failed, "cannot read %s", trace->path);
    size_t kept = failed ? 0 : kdebug_unpack(raw, count, trace->kdebug_narrow, room, &bad);
    if (!are_as_indexed(chunk, room, kept, trace->header.cpu_count))
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "%s: the records at offset %" PRIu64
                                  " changed after the file was opened",
                                  trace->path, chunk->offset_bytes);
    memcpy(ret, room, kept * sizeof(*ret));
    return NULL;
}

struct argus_error *kdebug_read_chunk(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, struct argus_record *ret)
{
    size_t count = chunk->stored_bytes / kdebug_record_bytes(trace->kdebug_narrow);
    uint8_t *raw = malloc(chunk->stored_bytes);
    struct argus_record *room = malloc(count * sizeof(*room));
    struct argus_error *error =
        raw && room ? read_raw(trace, chunk, raw, room, ret) : argus_error_memory();
    free(raw);
    free(room);
    return error;
}
