/* SipHash-2-4 by Aumasson and Bernstein ("SipHash: a fast short-input PRF", 2012): a keyed hash
 * whose key cannot be found from its results. No library that Argus links has one. */
#include "fleet/pseudonym.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t rotate(uint64_t word, int bits)
{
    return word << bits | word >> (64 - bits);
}

static void mix(uint64_t *v, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1], v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1], v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

/* Little-endian, at most 8 bytes. */
static uint64_t word_at(const unsigned char *bytes, size_t count)
{
    uint64_t word = 0;
    for (size_t i = 0; i < count && i < 8; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

static uint64_t siphash(const uint64_t key[2], const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    uint64_t v[4] = {0x736f6d6570736575 ^ key[0], 0x646f72616e646f6d ^ key[1],
                     0x6c7967656e657261 ^ key[0], 0x7465646279746573 ^ key[1]};
    for (size_t at = 0; at <= length; at += 8) {
        uint64_t word = word_at(bytes + at, length - at);
        if (length - at < 8)
            word |= (uint64_t)length << 56;
        v[3] ^= word;
        mix(v, 2);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

const char *pseudonym(const char *salt, const char *kind, const char *text, size_t length,
                      char *buffer, size_t bytes)
{
    uint64_t key[2] = {0, 0};
    sscanf(salt, "%16" SCNx64 "%16" SCNx64, &key[0], &key[1]);
    snprintf(buffer, bytes, "%s-%012" PRIx64, kind, siphash(key, text, length) >> 16);
    return buffer;
}

bool is_pseudonym(const char *text, size_t length, const char *kind)
{
    size_t prefix = strlen(kind);
    return length == prefix + 1 + PSEUDONYM_DIGITS && strncmp(text, kind, prefix) == 0 &&
           text[prefix] == '-' && strspn(text + prefix + 1, "0123456789abcdef") >= PSEUDONYM_DIGITS;
}
