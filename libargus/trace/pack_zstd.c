#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "trace/pack.h"
#include "trace/reason.h"

/* Level 1: level 2 saves 2 % of the bytes and takes 15 to 20 % more time; level -1 takes 25 % less
 * time and 15 to 20 % more bytes. Level -5 takes 40 to 45 % less time and 25 to 30 % more bytes;
 * level -10 another 15 % less time, and 10 % more bytes. */
enum { LEVEL = 1, FAST_LEVEL = -5 };

/* NULL without memory. */
static ZSTD_CCtx *ready_context(void **state, bool fast)
{
    ZSTD_CCtx *context = *state ? *state : ZSTD_createCCtx();
    *state = context;
    if (context && ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                                                       fast ? FAST_LEVEL : LEVEL)))
        return NULL;
    return context;
}

static size_t pack(void **state, bool fast, const uint8_t *data, size_t length, uint8_t *to,
                   size_t room)
{
    ZSTD_CCtx *context = ready_context(state, fast);
    size_t packed = context ? ZSTD_compress2(context, to, room, data, length) : PACK_NO_MEMORY;
    if (!context || !ZSTD_isError(packed))
        return packed;
    return ZSTD_getErrorCode(packed) == ZSTD_error_memory_allocation ? PACK_NO_MEMORY : 0;
}

static void forget(void *state)
{
    ZSTD_freeCCtx(state);
}

/* Frames of zstd before version 0.8 have other magic numbers. Some libraries read them, but the
 * trace format does not allow them. */
static const char *check(const uint8_t *stored, size_t stored_bytes, size_t length)
{
    static const uint8_t magic[4] = {0x28, 0xb5, 0x2f, 0xfd};
    if (stored_bytes < sizeof(magic) || memcmp(stored, magic, sizeof(magic)) != 0)
        return REASON_PAYLOAD;
    if (ZSTD_getFrameContentSize(stored, stored_bytes) != length ||
        ZSTD_findFrameCompressedSize(stored, stored_bytes) != stored_bytes)
        return REASON_PAYLOAD_SIZE;
    return NULL;
}

/* In one call, so that no window is allocated besides `to`. */
static const char *unpack_frame(const uint8_t *stored, size_t stored_bytes, uint8_t *to,
                                size_t length)
{
    size_t unpacked = ZSTD_decompress(to, length, stored, stored_bytes);
    if (ZSTD_isError(unpacked))
        return ZSTD_getErrorCode(unpacked) == ZSTD_error_memory_allocation ? REASON_MEMORY
                                                                           : REASON_PAYLOAD;
    return unpacked == length ? NULL : REASON_PAYLOAD_SIZE;
}

const struct pack_codec pack_zstd = {
    .pack = pack,
    .forget = forget,
    .check = check,
    .unpack = unpack_frame,
};
