/* perf.data that was written to a pipe (`perf record -o -`), and compressed records (`perf record
 * -z`); tools/perf/Documentation/perf.data-file-format.txt of Linux 6.1.
 *
 * A pipe has no table of events and no feature sections: records of their own have the same
 * contents. Compressed records are pieces of one zstd stream, whose contents are records again; one
 * of them may be split between two pieces. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "perf_data.h"

#ifdef WITH_ZSTD
#include <zstd.h>
#endif

/* tools/lib/perf/include/perf/event.h */
enum {
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_AUXTRACE = 71,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83, /* with the length in front, because records are padded */
    FEATURE_TRACING_DATA = 1,
};

/* --- what a pipe has instead of a header --- */

static struct argus_error *take_attr(struct perf_file *perf, const uint8_t *body, size_t bytes,
                                     uint64_t offset)
{
    uint32_t attr_bytes = 0;
    if (bytes >= 8)
        memcpy(&attr_bytes, body + 4, sizeof(attr_bytes));
    if (attr_bytes < PERF_ATTR_SIZE_VER0 || attr_bytes > bytes)
        return perf_error(offset, "the size of an event's attributes is impossible");
    return perf_add_attr(perf, body, attr_bytes, body + attr_bytes, (bytes - attr_bytes) / 8);
}

/* Data of this size follow the record, and are no records. */
static struct argus_error *take_tracing_data(struct perf_file *perf, const uint8_t *body,
                                             size_t bytes, uint64_t after, uint64_t *ret_skip)
{
    uint32_t size;
    if (bytes < sizeof(size))
        return perf_error(after, "the size of the tracepoints' formats is missing");
    memcpy(&size, body, sizeof(size));
    *ret_skip = ((uint64_t)size + 7) & ~7ull;
    perf->has_names = true;
    return perf_read_section(perf, FEATURE_TRACING_DATA, (struct perf_section){after, size});
}

static struct argus_error *take_feature(struct perf_file *perf, const uint8_t *body, size_t bytes,
                                        uint64_t body_at)
{
    uint64_t feature;
    if (bytes < sizeof(feature))
        return perf_error(body_at, "a feature has no number");
    memcpy(&feature, body, sizeof(feature));
    struct perf_section section = {body_at + sizeof(feature), bytes - sizeof(feature)};
    return feature < 256 ? perf_read_section(perf, (unsigned)feature, section) : NULL;
}

struct argus_error *perf_take_stream_record(struct perf_file *perf, const uint8_t *record,
                                            size_t bytes, uint64_t offset, uint64_t *ret_skip)
{
    struct perf_event_header header;
    memcpy(&header, record, sizeof(header));
    const uint8_t *body = record + sizeof(header);
    size_t length = bytes - sizeof(header);
    *ret_skip = 0;
    if (header.type == RECORD_AUXTRACE && length >= 8)
        memcpy(ret_skip, body, sizeof(*ret_skip));
    if (!perf->is_pipe)
        return NULL;
    if (header.type == RECORD_ATTR)
        return take_attr(perf, body, length, offset);
    if (header.type == RECORD_TRACING_DATA)
        return take_tracing_data(perf, body, length, offset + bytes, ret_skip);
    if (header.type == RECORD_FEATURE)
        return take_feature(perf, body, length, offset + sizeof(header));
    return NULL;
}

/* --- compressed records --- */

bool perf_is_compressed(uint32_t type)
{
    return type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

#ifdef WITH_ZSTD

enum { ROOM = 1 << 18, MOST_RATIO = 256, LEAST_LIMIT = 64 << 20 };

struct perf_unpacker {
    ZSTD_DStream *stream;
    uint64_t unpacked_bytes;
    size_t length;      /* of `room` that is in use */
    uint8_t room[ROOM]; /* a record has at most 65,535 bytes */
};

void perf_unpacker_destroy(struct perf_unpacker *unpacker)
{
    if (unpacker)
        ZSTD_freeDStream(unpacker->stream);
    free(unpacker);
}

static struct argus_error *create(struct perf_file *perf)
{
    perf->unpacker = calloc(1, sizeof(*perf->unpacker));
    if (perf->unpacker)
        perf->unpacker->stream = ZSTD_createDStream();
    return perf->unpacker && perf->unpacker->stream ? NULL : argus_error_memory();
}

/* Takes the complete records, and moves the rest to the front. */
static struct argus_error *take_unpacked(struct perf_file *perf, uint64_t offset)
{
    struct perf_unpacker *unpacker = perf->unpacker;
    struct perf_event_header header;
    struct argus_error *error = NULL;
    size_t at = 0;
    while (!error && unpacker->length - at >= sizeof(header)) {
        memcpy(&header, unpacker->room + at, sizeof(header));
        if (header.size < sizeof(header) || perf_is_compressed(header.type))
            return perf_error(offset, "a compressed record has impossible contents");
        if (header.size > unpacker->length - at)
            break;
        error = perf_take_record(perf, unpacker->room + at, header.size, offset);
        at += header.size;
    }
    unpacker->length -= at;
    memmove(unpacker->room, unpacker->room + at, unpacker->length);
    return error;
}

struct argus_error *perf_take_compressed(struct perf_file *perf, uint32_t type, const uint8_t *body,
                                         size_t bytes, uint64_t offset)
{
    uint64_t length = bytes;
    if (type == RECORD_COMPRESSED2 && bytes >= sizeof(length)) {
        memcpy(&length, body, sizeof(length));
        body += sizeof(length);
        bytes -= sizeof(length);
    }
    if (length > bytes)
        return perf_error(offset, "a compressed record is cut off");
    struct argus_error *error = perf->unpacker ? NULL : create(perf);
    ZSTD_inBuffer in = {body, length, 0};
    bool more = true;
    while (!error && more && !sink_failed(perf->sink)) {
        struct perf_unpacker *unpacker = perf->unpacker;
        ZSTD_outBuffer out = {unpacker->room + unpacker->length, ROOM - unpacker->length, 0};
        size_t before = in.pos, left = ZSTD_decompressStream(unpacker->stream, &out, &in);
        if (ZSTD_isError(left) || (in.pos == before && !out.pos && in.pos < in.size))
            return perf_error(offset, "a compressed record is damaged");
        unpacker->length += out.pos;
        unpacker->unpacked_bytes += out.pos;
        if (unpacker->unpacked_bytes > MOST_RATIO * perf->file_bytes + LEAST_LIMIT)
            return perf_error(offset, "its compressed records are larger than any perf writes");
        more = in.pos < in.size || out.pos == out.size;
        error = take_unpacked(perf, offset);
    }
    return error;
}

#else

void perf_unpacker_destroy(struct perf_unpacker *unpacker)
{
    (void)unpacker;
}

struct argus_error *perf_take_compressed(struct perf_file *perf, uint32_t type, const uint8_t *body,
                                         size_t bytes, uint64_t offset)
{
    (void)type, (void)perf, (void)body, (void)bytes;
    return perf_error(offset, "its records are compressed, and this build lacks libzstd; "
                              "decompress it with 'perf inject -i FILE -o NEW'");
}

#endif
