#include "trace/chunk_image.h"

#include <string.h>
#include <zlib.h>

static void seal(struct layout_chunk *header)
{
    memcpy(header->magic, LAYOUT_CHUNK_MAGIC, sizeof(header->magic));
    header->header_crc =
        (uint32_t)crc32(0, (const void *)header, offsetof(struct layout_chunk, header_crc));
}

struct layout_chunk chunk_padding(uint64_t bytes)
{
    struct layout_chunk header = {
        .kind = ARGUS_CHUNK_PAD,
        .stored_bytes = (uint32_t)(bytes - sizeof(header)),
        .cpu = ARGUS_CPU_MIXED,
    };
    seal(&header);
    return header;
}

/* Appends the payload as it is stored. */
static bool put_payload(struct packer *packer, enum argus_chunk_kind kind,
                        const struct bytes *payload, struct bytes *image,
                        enum argus_codec *ret_codec)
{
    *ret_codec = ARGUS_CODEC_NONE;
    if (kind != ARGUS_CHUNK_ENCRYPTED) /* which is packed already, and cannot be packed again */
        return packer_pack(packer, payload->data, payload->length, image, ret_codec);
    bytes_put(image, payload->data, payload->length);
    return !image->failed;
}

bool chunk_image_pack(struct packer *packer, const struct chunk_head *head,
                      const struct bytes *payload, struct bytes *image)
{
    static const uint8_t zeros[sizeof(struct layout_chunk)];
    enum argus_codec codec;
    bytes_clear(image);
    bytes_put(image, zeros, sizeof(struct layout_chunk));
    if (!put_payload(packer, head->kind, payload, image, &codec))
        return false;
    uint32_t stored_bytes = (uint32_t)(image->length - sizeof(struct layout_chunk));
    bytes_put(image, zeros, layout_chunk_extent(stored_bytes) - image->length);
    if (image->failed)
        return false;
    const uint8_t *stored = image->data + sizeof(struct layout_chunk);
    struct layout_chunk header = {
        .kind = (uint16_t)head->kind,
        .codec = (uint16_t)codec,
        .stored_bytes = stored_bytes,
        .unpacked_bytes = (uint32_t)payload->length,
        .first_ticks = head->first_ticks,
        .last_ticks = head->last_ticks,
        .count = head->count,
        .cpu = head->cpu,
        .lost = head->lost,
        .payload_crc = (uint32_t)crc32(0, stored, stored_bytes),
    };
    memcpy(image->data, &header, sizeof(header));
    if (is_of_snapshots(head->kind)) { /* see snapshot_write.c */
        header = chunk_padding(sizeof(header));
        bytes_put(image, &header, sizeof(header));
    }
    return !image->failed;
}

void chunk_image_number(struct bytes *image, uint64_t sequence)
{
    struct layout_chunk header;
    memcpy(&header, image->data, sizeof(header));
    header.sequence = sequence;
    seal(&header);
    memcpy(image->data, &header, sizeof(header));
}
