#include "seal_trace.h"

#include <string.h>
#include <zlib.h>

#include "trace/layout.h"

static uint32_t crc_of(const void *data, size_t length)
{
    return (uint32_t)crc32(0, data, (unsigned)length);
}

/* Corrects the checksums of the chunk at `at`, if it lies inside the data. Returns the start of the
 * next chunk. */
static size_t seal_chunk(uint8_t *data, size_t size, size_t at)
{
    struct layout_chunk chunk;
    memcpy(&chunk, data + at, sizeof(chunk));
    if (memcmp(chunk.magic, LAYOUT_CHUNK_MAGIC, sizeof(chunk.magic)) != 0)
        return at + LAYOUT_ALIGN;
    size_t payload = at + sizeof(chunk);
    if (chunk.stored_bytes <= size - payload)
        chunk.payload_crc = crc_of(data + payload, chunk.stored_bytes);
    chunk.header_crc = crc_of(&chunk, offsetof(struct layout_chunk, header_crc));
    memcpy(data + at, &chunk, sizeof(chunk));
    return chunk.stored_bytes <= size - payload ? at + layout_chunk_extent(chunk.stored_bytes)
                                                : at + LAYOUT_ALIGN;
}

void seal_trace(uint8_t *data, size_t size)
{
    if (size < sizeof(struct layout_header))
        return;
    uint32_t crc = crc_of(data, offsetof(struct layout_header, crc));
    memcpy(data + offsetof(struct layout_header, crc), &crc, sizeof(crc));
    for (size_t at = LAYOUT_AREA_START; at + sizeof(struct layout_chunk) <= size;)
        at = seal_chunk(data, size, at);
}
