/* zlib, for payloads. */
#ifndef ARGUS_TRACE_PACK_H
#define ARGUS_TRACE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "trace/bytes.h"

/* Keeps zlib's state from chunk to chunk. A zeroed struct is ready. */
struct packer {
    z_stream stream;
    bool ready;
};

void packer_deinit(struct packer *packer);

/* Appends the compressed form of `data` to `ret`, or `data` itself when that is not longer.
 * False without memory; `ret_compressed` tells which. */
bool packer_pack(struct packer *packer, const uint8_t *data, size_t length, struct bytes *ret,
                 bool *ret_compressed);

/* Unpacks a zlib stream that must fill exactly `length` bytes. NULL, or why not (a static string).
 */
const char *unpack(const uint8_t *stored, size_t stored_bytes, uint8_t *to, size_t length);

#endif
