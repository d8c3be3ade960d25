#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "trace/codec.h"
#include "trace/file.h"
#include "trace/kdebug.h"
#include "trace/late_stacks.h"
#include "trace/layout.h"
#include "trace/pack.h"
#include "trace/reader.h"
#include "trace/reason.h"
#include "trace/varint.h"

/* The checks that need no memory. `stored` is the chunk as stored in the file: header, then
 * payload. */
static const char *check_stored(const struct argus_chunk *chunk, const struct layout_chunk *header,
                                const uint8_t *payload)
{
    if (header->sequence != chunk->sequence || header->unpacked_bytes != chunk->unpacked_bytes)
        return "it changed after the trace was opened";
    if (header->payload_crc != (uint32_t)crc32(0, payload, chunk->stored_bytes))
        return "the checksum of its payload is wrong";
    const char *fault = pack_fault(header->codec);
    if (fault)
        return fault;
    return unpack_check(header->codec, payload, chunk->stored_bytes, chunk->unpacked_bytes);
}

/* The caller owns `ret`, which has VARINT_SLACK zero bytes at its end. */
static const char *unpack_stored(const struct argus_chunk *chunk, const uint8_t *stored,
                                 uint8_t **ret)
{
    struct layout_chunk header;
    memcpy(&header, stored, sizeof(header));
    const uint8_t *payload = stored + sizeof(header);
    const char *reason = check_stored(chunk, &header, payload);
    if (reason)
        return reason;
    uint8_t *unpacked = malloc((size_t)chunk->unpacked_bytes + VARINT_SLACK);
    if (!unpacked)
        return REASON_MEMORY;
    reason = unpack(header.codec, payload, chunk->stored_bytes, unpacked, chunk->unpacked_bytes);
    if (reason) {
        free(unpacked);
        return reason;
    }
    memset(unpacked + chunk->unpacked_bytes, 0, VARINT_SLACK);
    *ret = unpacked;
    return NULL;
}

static struct argus_error *load(const struct argus_trace *trace, const struct argus_chunk *chunk,
                                uint8_t *stored, uint8_t **ret)
{
    size_t bytes = sizeof(struct layout_chunk) + chunk->stored_bytes;
    int failed = file_read(trace->fd, stored, bytes, chunk->offset_bytes);
    if (failed == ENODATA)
        return reason_to_error("the file became shorter while it was read");
    if (failed)
        return argus_error_os(failed, "cannot read %s at offset %" PRIu64, trace->path,
                              chunk->offset_bytes);
    return reason_to_error(unpack_stored(chunk, stored, ret));
}

struct argus_error *chunk_load(const struct argus_trace *trace, const struct argus_chunk *chunk,
                               uint8_t **ret)
{
    uint8_t *stored = malloc(sizeof(struct layout_chunk) + chunk->stored_bytes);
    struct argus_error *error = stored ? load(trace, chunk, stored, ret) : argus_error_memory();
    free(stored);
    return error;
}

static struct argus_error *load_records(const struct argus_trace *trace,
                                        const struct argus_chunk *chunk, struct argus_record *ret)
{
    uint8_t *payload = NULL;
    struct argus_error *error = chunk_load(trace, chunk, &payload);
    if (error)
        return error;
    struct codec_bounds bounds = {
        .first_ticks = chunk->first_ticks,
        .last_ticks = chunk->last_ticks,
        .count = chunk->count,
        .cpu = chunk->cpu,
        .cpu_count = trace->header.cpu_count,
    };
    const char *reason = codec_decode(payload, chunk->unpacked_bytes, &bounds, ret);
    free(payload);
    if (!reason)
        late_stacks_put(&trace->tables, ret, chunk->count);
    return reason_to_error(reason);
}

struct argus_error *argus_trace_read_chunk(const struct argus_trace *trace,
                                           const struct argus_chunk *chunk,
                                           struct argus_record *ret)
{
    if (chunk->count == 0)
        return NULL;
    if (trace->kdebug)
        return kdebug_read_chunk(trace, chunk, ret);
    struct argus_error *error = load_records(trace, chunk, ret);
    if (!error || error->code != ARGUS_ERROR_FORMAT)
        return error;
    return argus_error_context(error, "%s: the chunk at offset %" PRIu64 " is damaged", trace->path,
                               chunk->offset_bytes);
}
