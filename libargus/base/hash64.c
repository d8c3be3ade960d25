#include "base/hash64.h"

#include <string.h>

#define MULTIPLIER 0x9e3779b97f4a7c15u
enum { LANES = 4, WORD = 8, STEP = LANES * WORD };

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * MULTIPLIER;
    return hash ^ hash >> 29;
}

uint64_t hash64(uint64_t seed, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    uint64_t lanes[LANES], words[LANES];
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = seed + i * MULTIPLIER;
    size_t left = bytes;
    for (; left >= STEP; left -= STEP, at += STEP) {
        memcpy(words, at, STEP);
        for (size_t i = 0; i < LANES; i++)
            lanes[i] = mix(lanes[i], words[i]);
    }
    memset(words, 0, sizeof(words));
    if (left)
        memcpy(words, at, left);
    uint64_t hash = mix(seed, bytes);
    for (size_t i = 0; i < LANES; i++)
        hash = mix(hash, mix(lanes[i], words[i]));
    return mix(hash, bytes);
}
