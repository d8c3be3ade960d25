#include "perfetto_packed.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>
#ifdef WITH_ZSTD
#include <zstd.h>
#endif

enum { MOST_BYTES = 64 << 20 }; /* Perfetto compresses at most some hundred KB at a time */

/* The unpackers return why the bytes cannot be unpacked; NULL: they were. */

static const char *unpack_zlib(const ProtobufCBinaryData *from, uint8_t *to, size_t *ret_length)
{
    uLongf length = MOST_BYTES;
    int status = uncompress(to, &length, from->data, from->len);
    *ret_length = length;
    return status == Z_OK ? NULL : "they are damaged (zlib)";
}

static const char *unpack_zstd(const ProtobufCBinaryData *from, uint8_t *to, size_t *ret_length)
{
#ifdef WITH_ZSTD
    *ret_length = ZSTD_decompress(to, MOST_BYTES, from->data, from->len);
    return ZSTD_isError(*ret_length) ? "they are damaged (zstd)" : NULL;
#else
    (void)from, (void)to, (void)ret_length;
    return "this build lacks libzstd";
#endif
}

struct argus_error *perfetto_unpack(const PerfettoPart__TracePacket *packet, uint8_t **ret,
                                    size_t *ret_length)
{
    bool is_zstd = packet->has_zstd_compressed_packets;
    *ret = NULL;
    if (!is_zstd && !packet->has_compressed_packets)
        return NULL;
    uint8_t *plain = malloc(MOST_BYTES);
    if (!plain)
        return argus_error_memory();
    const char *failure = is_zstd ? unpack_zstd(&packet->zstd_compressed_packets, plain, ret_length)
                                  : unpack_zlib(&packet->compressed_packets, plain, ret_length);
    if (!failure) {
        *ret = plain;
        return NULL;
    }
    free(plain);
    return argus_error_create(ARGUS_ERROR_FORMAT, "compressed packets cannot be unpacked: %s",
                              failure);
}
