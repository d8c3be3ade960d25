/* Codecs: how payloads are compressed (section "Chunks" of the format's text).
 *
 * zstd at level 1 compresses record columns 5 to 7 times as fast as zlib at level 1, decompresses
 * them 4 to 5 times as fast, and needs as many bytes (`ninja bench_codec`). Every build can read
 * and write zlib.
 *
 * To add a codec: a number in enum argus_codec, a row in pack.c, a file pack_NAME.c.
 */
#ifndef ARGUS_TRACE_PACK_H
#define ARGUS_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"
#include "trace/bytes.h"

/* The operations of one codec. */
struct pack_codec {
    /* Compresses `data` into at most `room` bytes. Returns the compressed size, 0 if `room` is too
     * small, or PACK_NO_MEMORY. `state` is memory that the codec keeps between calls: NULL at
     * first, freed by forget(). `fast`: if the codec can be faster with more bytes. */
    size_t (*pack)(void **state, bool fast, const uint8_t *data, size_t length, uint8_t *to,
                   size_t room);
    void (*forget)(void *state);
    /* Whether the bytes can be a payload of `length` bytes, as far as that is known before
     * decompressing. NULL, or the reason why not. May be NULL. */
    const char *(*check)(const uint8_t *stored, size_t stored_bytes, size_t length);
    /* Decompresses to exactly `length` bytes. NULL, or the reason why not. */
    const char *(*unpack)(const uint8_t *stored, size_t stored_bytes, uint8_t *to, size_t length);
};

#define PACK_NO_MEMORY SIZE_MAX

/* A payload that claims a larger uncompressed size is rejected: a small file must not claim much
 * memory. */
static inline bool pack_is_possible(uint64_t stored_bytes, uint64_t length)
{
    return length <= stored_bytes * 1040 + 64;
}

extern const struct pack_codec pack_zlib;
extern const struct pack_codec pack_zstd; /* only in builds with libzstd */

/* The codecs' memory, kept between chunks. A zeroed struct is ready, and compresses with the
 * build's best codec. */
struct packer {
    enum argus_codec codec; /* ARGUS_CODEC_NONE: the build's best */
    bool fast;              /* at the cost of more bytes */
    void *state[ARGUS_CODECS];
};

void packer_deinit(struct packer *packer);

/* Appends the compressed form of `data` to `ret`, or `data` itself if that is not longer. False
 * without memory; `ret_codec` is the codec used. */
bool packer_pack(struct packer *packer, const uint8_t *data, size_t length, struct bytes *ret,
                 enum argus_codec *ret_codec);

/* Why this build cannot read the codec with this number (a static string), NULL if it can. */
const char *pack_fault(uint32_t codec);

/* Both require a codec without a fault, and return NULL or the reason for a failure (a static
 * string). unpack_check() compares the payload's own statement of its size with `length`, to be
 * called before `length` bytes are allocated. */
const char *unpack_check(uint32_t codec, const uint8_t *stored, size_t stored_bytes, size_t length);
const char *unpack(uint32_t codec, const uint8_t *stored, size_t stored_bytes, uint8_t *to,
                   size_t length);

#endif
