/* A chunk as it is written to a file: header, packed payload, alignment. */
#ifndef ARGUS_TRACE_CHUNK_IMAGE_H
#define ARGUS_TRACE_CHUNK_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/trace.h"
#include "trace/bytes.h"
#include "trace/layout.h"
#include "trace/pack.h"

/* The fields of a chunk's header besides its sizes. */
struct chunk_head {
    enum argus_chunk_kind kind;
    uint32_t count, cpu;
    uint64_t lost, first_ticks, last_ticks;
};

/* Sets `image` to the chunk, but for its sequence number; false without memory. */
bool chunk_image_pack(struct packer *packer, const struct chunk_head *head,
                      const struct bytes *payload, struct bytes *image);
/* Gives the chunk its number, after which it can be written. */
void chunk_image_number(struct bytes *image, uint64_t sequence);

/* The header of a padding chunk of `bytes` bytes in total. */
struct layout_chunk chunk_padding(uint64_t bytes);

#endif
