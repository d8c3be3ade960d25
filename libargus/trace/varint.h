/* Varints (unsigned LEB128) and zigzag, as the format's text defines them.
 *
 * Reading is by position in a buffer that has VARINT_SLACK zero bytes behind its last byte: a
 * varint may then be read anywhere inside without a bounds check, and the caller compares the
 * position with its limit afterwards. A varint that is too long sets the position to VARINT_BAD,
 * which is beyond every limit.
 */
#ifndef ARGUS_TRACE_VARINT_H
#define ARGUS_TRACE_VARINT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VARINT_MOST_BYTES = 10, VARINT_SLACK = 16 };
#define VARINT_BAD (SIZE_MAX / 2)

static inline uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ -(difference >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ -(value & 1);
}

/* Writes `value` at `to`, which has room for VARINT_MOST_BYTES; returns the address behind it. */
static inline uint8_t *varint_write(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)value | 0x80;
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/* Packs the eight 7-bit groups of `word` together. */
static inline uint64_t varint_squeeze(uint64_t word)
{
    word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
    word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
    return (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
}

/* Values of 2^56 and more, which take nine or ten bytes. */
static inline uint64_t varint_read_long(const uint8_t *base, size_t *at, uint64_t low)
{
    uint64_t value = low | (uint64_t)(base[*at + 8] & 0x7f) << 56;
    if (base[*at + 8] < 0x80) {
        *at += 9;
        return value;
    }
    uint8_t last = base[*at + 9];
    *at = last <= 1 ? *at + VARINT_MOST_BYTES : VARINT_BAD;
    return value | (uint64_t)last << 63;
}

/* Reads the varint at base[*at] and moves `*at` behind it. */
static inline uint64_t varint_read(const uint8_t *base, size_t *at)
{
    uint8_t first = base[*at];
    if (first < 0x80) {
        *at += 1;
        return first;
    }
    uint64_t word;
    memcpy(&word, base + *at, sizeof(word));
    uint64_t stops = ~word & 0x8080808080808080u; /* the high bit of each byte that ends a varint */
    if (!stops)
        return varint_read_long(base, at, varint_squeeze(word));
    *at += ((size_t)__builtin_ctzll(stops) + 1) / 8;
    return varint_squeeze(word & (stops ^ (stops - 1)));
}

#endif
