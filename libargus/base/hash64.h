/* A 64-bit hash of bytes, to detect that a file has changed; about as fast as memory is read.
 *
 * It is not cryptographic: two files with the same hash can be made on purpose. (xxhash is as fast,
 * but would be another package to build with; zlib's crc32() is eight times slower.)
 */
#ifndef ARGUS_BASE_HASH64_H
#define ARGUS_BASE_HASH64_H

#include <stddef.h>
#include <stdint.h>

/* The hash of `bytes` bytes that follow the data whose hash is `seed`. */
uint64_t hash64(uint64_t seed, const void *data, size_t bytes);

#endif
