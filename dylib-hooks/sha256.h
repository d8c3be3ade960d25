/* SHA-256 (FIPS 180-4), of bytes in memory. */
#ifndef ARGUS_HOOKS_SHA256_H
#define ARGUS_HOOKS_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256(const uint8_t *data, size_t bytes, uint8_t ret[SHA256_BYTES]);

#endif
