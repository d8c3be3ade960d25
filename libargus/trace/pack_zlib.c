#include <stdlib.h>
#include <zlib.h>

#include "trace/pack.h"
#include "trace/reason.h"

/* Level 1: level 6 takes five times as long and saves a tenth of the bytes that level 1 leaves. */
enum { LEVEL = 1 };

static z_stream *ready_stream(void **state)
{
    z_stream *stream = *state;
    if (stream)
        return deflateReset(stream) == Z_OK ? stream : NULL;
    stream = calloc(1, sizeof(*stream));
    if (stream && deflateInit(stream, LEVEL) != Z_OK) {
        free(stream);
        stream = NULL;
    }
    *state = stream;
    return stream;
}

static size_t pack(void **state, bool fast, const uint8_t *data, size_t length, uint8_t *to,
                   size_t room)
{
    (void)fast; /* there is no faster level */
    z_stream *stream = ready_stream(state);
    if (!stream)
        return PACK_NO_MEMORY;
    stream->next_in = (uint8_t *)data;
    stream->avail_in = (uInt)length;
    stream->next_out = to;
    stream->avail_out = (uInt)room;
    return deflate(stream, Z_FINISH) == Z_STREAM_END ? room - stream->avail_out : 0;
}

static void forget(void *state)
{
    deflateEnd(state);
    free(state);
}

static const char *unpack_stream(const uint8_t *stored, size_t stored_bytes, uint8_t *to,
                                 size_t length)
{
    uLongf unpacked = length;
    uLong used = stored_bytes;
    int result = uncompress2(to, &unpacked, stored, &used);
    if (result == Z_MEM_ERROR)
        return REASON_MEMORY;
    if (result != Z_OK)
        return REASON_PAYLOAD;
    return unpacked == length && used == stored_bytes ? NULL : REASON_PAYLOAD_SIZE;
}

const struct pack_codec pack_zlib = {
    .pack = pack,
    .forget = forget,
    .unpack = unpack_stream,
};
