/* The steps and constants of FIPS 180-4. Only the generator uses it, for some pages of a library.
 */
#include "sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 64 };

static const uint32_t round_words[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* The message schedule: 6.2.2, step 1. */
static void make_schedule(const uint8_t *block, uint32_t ret[ROUNDS])
{
    for (unsigned i = 0; i < 16; i++)
        ret[i] = big_endian(block + 4 * i);
    for (unsigned i = 16; i < ROUNDS; i++) {
        uint32_t near = ret[i - 2], far = ret[i - 15];
        ret[i] = ret[i - 16] + (rotated(far, 7) ^ rotated(far, 18) ^ far >> 3) + ret[i - 7] +
                 (rotated(near, 17) ^ rotated(near, 19) ^ near >> 10);
    }
}

/* Steps 2 to 4. `v` are a to h. */
static void add_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t schedule[ROUNDS], v[8];
    make_schedule(block, schedule);
    memcpy(v, state, sizeof(v));
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t first = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
                         ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_words[i] + schedule[i];
        uint32_t second = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) +
                          ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof(*v));
        v[4] += first;
        v[0] = first + second;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
}

/* What follows the last whole block, the bit 1, zeros, and the length in bits: 5.1.1. */
static void add_end(uint32_t state[8], const uint8_t *rest, size_t rest_bytes, size_t bytes)
{
    uint8_t end[2 * BLOCK_BYTES] = {0};
    size_t length = rest_bytes + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    uint64_t bits = (uint64_t)bytes * 8;
    if (rest_bytes)
        memcpy(end, rest, rest_bytes);
    end[rest_bytes] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        end[length - 1 - i] = (uint8_t)(bits >> 8 * i);
    for (size_t at = 0; at < length; at += BLOCK_BYTES)
        add_block(state, end + at);
}

void sha256(const uint8_t *data, size_t bytes, uint8_t ret[SHA256_BYTES])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t at = 0;
    for (; bytes - at >= BLOCK_BYTES; at += BLOCK_BYTES)
        add_block(state, data + at);
    add_end(state, data + at, bytes - at, bytes);
    for (unsigned i = 0; i < SHA256_BYTES; i++)
        ret[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
