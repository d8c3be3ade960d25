/* Codecs: how payloads are packed (section "Chunks" of the format's text).
 *
 * zstd at level 1 packs record columns 5 to 7 times as fast as zlib at level 1, unpacks them 4 to 5 times as fast, and takes
 * as many bytes (`ninja bench_codec`). zlib is what every build can read and write.
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

/* What one codec can do. */
struct pack_codec {
    /* Packs `data` into at most `room` bytes; returns how many, 0 when it needs more, PACK_NO_MEMORY. `state` is the codec's
     * memory from call to call: NULL at first, freed by forget(). */
    size_t (*pack)(void **state, const uint8_t *data, size_t length, uint8_t *to, size_t room);
    void (*forget)(void *state);
    /* Whether the bytes can be a payload of `length` bytes, as far as can be told before unpacking. NULL, or why not; may be
     * NULL. */
    const char *(*check)(const uint8_t *stored, size_t stored_bytes, size_t length);
    /* Fills exactly `length` bytes. NULL, or why not. */
    const char *(*unpack)(const uint8_t *stored, size_t stored_bytes, uint8_t *to, size_t length);
};

#define PACK_NO_MEMORY SIZE_MAX

/* Of what is longer unpacked, a reader believes nothing: a small file must not claim much memory. */
static inline bool pack_is_possible(uint64_t stored_bytes, uint64_t length)
{
    return length <= stored_bytes * 1040 + 64;
}

extern const struct pack_codec pack_zlib;
extern const struct pack_codec pack_zstd; /* defined where the build has libzstd */

/* Keeps the codecs' memory from chunk to chunk. A zeroed struct is ready, and packs with the build's best codec. */
struct packer {
    enum argus_codec codec; /* ARGUS_CODEC_NONE: the build's best */
    void *state[ARGUS_CODECS];
};

void packer_deinit(struct packer *packer);

/* Appends the packed form of `data` to `ret`, or `data` itself when that is not longer. False
 * without memory; `ret_codec` tells which. */
bool packer_pack(struct packer *packer, const uint8_t *data, size_t length, struct bytes *ret,
                 enum argus_codec *ret_codec);

/* Why this build cannot read the codec with this number (a static string), NULL if it can. */
const char *pack_fault(uint32_t codec);

/* Both for a codec without a fault; NULL, or why not (a static string). What the payload says of its own size is checked by
 * the first one, so that `length` bytes are asked for only then. */
const char *unpack_check(uint32_t codec, const uint8_t *stored, size_t stored_bytes, size_t length);
const char *unpack(uint32_t codec, const uint8_t *stored, size_t stored_bytes, uint8_t *to,
                   size_t length);

#endif
