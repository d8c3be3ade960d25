/* A 64-bit hash of bytes, for finding out that a file is not what it was: about as fast as memory is read.
 *
 * It protects from accidents, not from people: whoever wants two files with one hash can make them. (xxhash does the same
 * as fast, but is one more package that a build would need, for these few lines; zlib's crc32() is eight times slower.)
 */
#ifndef ARGUS_BASE_HASH64_H
#define ARGUS_BASE_HASH64_H

#include <stddef.h>
#include <stdint.h>

/* The hash of `bytes` bytes, which go on with what `seed` is the hash of. */
uint64_t hash64(uint64_t seed, const void *data, size_t bytes);

#endif
